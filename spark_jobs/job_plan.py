"""What a read covers, known before any record is read and without Spark: topics, files, sizes, splits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kafkalog_source import scan
from kafkalog_source.reading.options import parse_options

if TYPE_CHECKING:
    from kafkalog_source.reading.splits import SplitRange

__all__ = ["ReadPlan", "TopicPlan", "plan_of"]


@dataclass(frozen=True)
class TopicPlan:
    """What is to be read of one topic.

    Attributes
    ----------
    topic : str or None
        None for a segment outside any ``topic-partition`` directory.
    partitions, segments : int
        Those with something to read: an empty segment has nothing.
    bytes : int
        Of those segments, without what lies outside a range of offsets or times.
    """

    topic: str | None
    partitions: int
    segments: int
    bytes: int


@dataclass(frozen=True)
class ReadPlan:
    """All that a read covers.

    Attributes
    ----------
    topics : tuple of TopicPlan
        In the order they are read.
    splits : int
        Units of work, each one task of Spark.
    warnings : tuple of str
        What the reader has to say of what it found.
    skipped : tuple of str
        Paths that were left out, each with the reason.
    """

    topics: tuple[TopicPlan, ...]
    splits: int
    warnings: tuple[str, ...]
    skipped: tuple[str, ...]

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
        """Give the plan as plain values, for JSON."""
        totals = {"partitions": self.partitions, "segments": self.segments, "bytes": self.bytes}
        return {
            "topics": [asdict(topic) for topic in self.topics],
            **totals,
            "splits": self.splits,
            "warnings": list(self.warnings),
            "skipped": list(self.skipped),
        }


def plan_of(paths: Sequence[str], options: Mapping[str, str]) -> ReadPlan:
    """Plan a read as Spark will, from its paths and options.

    Parameters
    ----------
    paths : sequence of str
        As given to ``load()``.
    options : mapping
        The reader's options.

    Returns
    -------
    ReadPlan
        What is there to read.
    """
    # scan() has parameters of its own besides the options; this refuses their names first.
    parse_options(options, list(paths))
    keywords: dict[str, Any] = dict(options)
    read = scan(list(paths), **keywords)
    splits = read.splits()
    report = read.report()
    return ReadPlan(
        topics=_by_topic(each for split in splits for each in split.ranges),
        splits=len(splits),
        warnings=tuple(report["warnings"]),
        skipped=tuple(f"{each['path']}: {each['reason']}" for each in report["skipped"]),
    )


def _by_topic(ranges: Iterable[SplitRange]) -> tuple[TopicPlan, ...]:
    groups: dict[str | None, list[SplitRange]] = defaultdict(list)
    for each in ranges:
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
