"""The positions of a stream: the offset of the next record in each partition, in the format of Spark's Kafka source.

A checkpoint holds ``{"orders": {"0": 23, "1": 0}}`` and never positions in files, since compaction moves bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkalog_source.errors import OptionError
from kafkalog_source.options.offsets_json import parse_partition_offsets

__all__ = ["Positions", "from_json", "to_json"]

Positions = dict[tuple[str, int], int]
"""The offset of the next record, by topic and partition."""


def to_json(positions: Mapping[tuple[str, int], int]) -> dict[str, dict[str, int]]:
    """Convert positions to the form that Spark stores, sorted: Spark compares them as JSON text."""
    topics: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(positions.items()):
        topics.setdefault(topic, {})[str(partition)] = offset
    return topics


def from_json(value: object) -> Positions:
    """Parse what `to_json` returned.

    Raises
    ------
    OptionError
        If it has another form, as in a checkpoint of another source.
    """
    try:
        topics = parse_partition_offsets("checkpoint", value)
    except OptionError as error:
        raise OptionError(
            "the checkpoint holds no offsets of Kafka partitions",
            found=error.found,
            expected=error.expected,
            remedy="Give this query a checkpointLocation of its own",
        ) from None
    return {(topic, partition): offset for topic, each in topics.items() for partition, offset in each.items()}
