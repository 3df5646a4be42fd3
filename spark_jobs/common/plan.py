"""What a read covers, known before any record is read and without Spark: topics, files, sizes, splits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kafkalog_source import Split, backlog, scan
from kafkalog_source.errors import printable
from spark_jobs.common.summary import print_json, size_text, table_text

__all__ = ["ReadPlan", "TopicPlan", "plan_of", "plan_since", "print_notes", "print_plan"]

# With more topics, records are not counted by topic: each count is one more aggregate.
_MOST_COUNTED_APART = 100


@dataclass(frozen=True)
class TopicPlan:
    """What a read covers of one topic.

    Attributes
    ----------
    topic : str or None
        None for a segment outside of any ``topic-partition`` directory.
    partitions, segments : int
        Those with something to read; empty segments do not count.
    bytes : int
        Size of what is read of these segments.
    """

    topic: str | None
    partitions: int
    segments: int
    bytes: int


@dataclass(frozen=True)
class ReadPlan:
    """What a read covers.

    Attributes
    ----------
    topics : tuple of TopicPlan
        In the order they are read.
    splits : int
        Units of work, each one task of Spark.
    warnings : tuple of str
        Warnings of the reader.
    skipped : tuple of str
        Paths that were skipped, each with the reason.
    times : dict
        The times that bound the read, by option, in UTC.
    """

    topics: tuple[TopicPlan, ...]
    splits: int
    warnings: tuple[str, ...]
    skipped: tuple[str, ...]
    times: dict[str, str] = field(default_factory=dict)

    @property
    def topics_counted_apart(self) -> tuple[str | None, ...]:
        """The topics whose records are counted separately; none if there are too many."""
        return tuple(topic.topic for topic in self.topics) if len(self.topics) <= _MOST_COUNTED_APART else ()

    @property
    def partitions(self) -> int:
        """Partitions of all topics."""
        return sum(topic.partitions for topic in self.topics)

    @property
    def segments(self) -> int:
        """Segments of all topics."""
        return sum(topic.segments for topic in self.topics)

    @property
    def bytes(self) -> int:
        """Size of the segments of all topics."""
        return sum(topic.bytes for topic in self.topics)

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, for JSON."""
        totals = {"partitions": self.partitions, "segments": self.segments, "bytes": self.bytes}
        return {
            "topics": [asdict(topic) for topic in self.topics],
            **totals,
            "splits": self.splits,
            "warnings": list(self.warnings),
            "skipped": list(self.skipped),
            "times": self.times,
        }


def plan_of(paths: Sequence[str], options: Mapping[str, str]) -> ReadPlan:
    """Plan a read from its paths and options, as Spark will.

    Parameters
    ----------
    paths : sequence of str
        As given to ``load()``.
    options : mapping
        The reader's options.

    Returns
    -------
    ReadPlan
        What the read covers.
    """
    keywords: dict[str, Any] = dict(options)
    read = scan(list(paths), **keywords)
    splits = read.splits()
    report = read.report()
    return ReadPlan(
        topics=_by_topic(splits),
        splits=len(splits),
        warnings=tuple(report["warnings"]),
        skipped=tuple(f"{each['path']}: {each['reason']}" for each in report["skipped"]),
        times=report["times"],
    )


def plan_since(paths: Sequence[str], options: Mapping[str, str], start: object | None) -> ReadPlan:
    """Plan what a stream has still to read.

    Parameters
    ----------
    paths : sequence of str
        As for `plan_of`.
    options : mapping
        The reader's options.
    start : object, optional
        Current offsets of the stream, as in a checkpoint. None if it has not started.

    Returns
    -------
    ReadPlan
        What is new.
    """
    keywords: dict[str, Any] = dict(options)
    new = backlog(list(paths), start, **keywords)
    return ReadPlan(
        topics=_by_topic(new.splits), splits=len(new.splits), warnings=new.warnings, skipped=(), times=new.times
    )


def _by_topic(splits: Sequence[Split]) -> tuple[TopicPlan, ...]:
    groups = defaultdict(list)
    for each in (each for split in splits for each in split.ranges):
        groups[each.topic].append(each)
    return tuple(
        TopicPlan(
            topic=topic,
            partitions=len({each.partition for each in found}),
            segments=len({each.path for each in found}),
            bytes=sum(each.size for each in found),
        )
        for topic, found in groups.items()
    )


def print_plan(paths: Sequence[str], plan: ReadPlan, outcome: str, *, as_json: bool) -> None:
    """Print the result of ``--dry-run``.

    Parameters
    ----------
    paths : sequence of str
        The input.
    plan : ReadPlan
        What a run would read of it.
    outcome : str
        What a run would do with it, as the last line.
    as_json : bool
        Whether to print only one JSON object, with ``input`` and ``plan``.
    """
    if as_json:
        print_json({"input": list(paths), "plan": plan.as_dict()})
        return
    rows = [
        (printable(topic.topic or "(no topic)"), topic.partitions, topic.segments, size_text(topic.bytes))
        for topic in plan.topics
    ]
    total = ("total", plan.partitions, plan.segments, size_text(plan.bytes))
    print(table_text(("topic", "partitions", "segments", "size"), [*rows, total]))
    print_notes(plan)
    print(f"Splits: {plan.splits} (Spark tasks)")
    print(outcome)


def print_notes(plan: ReadPlan) -> None:
    """Print the times that bound the read, the reader's warnings and the paths that it skipped."""
    for option, time in plan.times.items():
        print(f"{option}: {time}")
    for warning in plan.warnings:
        print(f"Note: {printable(warning)}")
    for path in plan.skipped:
        print(f"Left out: {printable(path)}")
