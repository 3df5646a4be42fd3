"""What a read covers, known before any record is read and without Spark: topics, files, sizes, splits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kafkalog_source.arrow.schema import DEFAULT_COLUMNS
from kafkalog_source.logdir import PartitionLog, list_logs
from kafkalog_source.reading.options import parse_options
from kafkalog_source.reading.scan import plan_read

__all__ = ["ReadPlan", "TopicPlan", "plan_of"]


@dataclass(frozen=True)
class TopicPlan:
    """What one topic has on disk.

    Attributes
    ----------
    topic : str or None
        None for a segment outside any ``topic-partition`` directory.
    partitions, segments : int
        How many were found and chosen.
    bytes : int
        Size of those segments, also where a range of offsets or times leaves some of them unread.
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
        By name.
    splits : int
        Units of work, each one task of Spark.
    warnings : tuple of str
        What the plan has to say, such as what was left out.
    """

    topics: tuple[TopicPlan, ...]
    splits: int
    warnings: tuple[str, ...]

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
    parsed = parse_options(options, paths)
    plan = plan_read(parsed, DEFAULT_COLUMNS)
    listing = list_logs(parsed.paths, wanted=parsed.wants, follow_symlinks=parsed.follow_symlinks)
    return ReadPlan(_by_topic(listing.partitions), len(plan.splits), tuple(plan.warnings))


def _by_topic(partitions: Sequence[PartitionLog]) -> tuple[TopicPlan, ...]:
    groups: dict[str | None, list[PartitionLog]] = defaultdict(list)
    for partition in partitions:
        groups[partition.topic].append(partition)
    return tuple(
        TopicPlan(
            topic=topic,
            partitions=len(logs),
            segments=sum(len(log.segments) for log in logs),
            bytes=sum(segment.size for log in logs for segment in log.segments),
        )
        for topic, logs in groups.items()
    )
