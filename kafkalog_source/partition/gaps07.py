"""Gaps in a Kafka 0.7 partition: its segments have to be contiguous, since offsets are byte positions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, OptionError
from kafkalog_source.partition.gaps import Gap, missing_region

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions


def check_07(log: PartitionLog, options: ReadOptions) -> None:
    """Refuse options that make no sense for a Kafka 0.7 log; accept any later version."""
    if log.segments[0].is_07 and options.max_records_per_partition is not None:
        raise OptionError(
            "maxRecordsPerPartition counts offsets, but the offsets of Kafka 0.7 are byte positions",
            found=log.path,
            remedy="Leave the option out, or set maxPartitionBytes",
        )


def gaps_07(log: PartitionLog, low: int, high: int) -> Iterator[Gap]:
    """Find the gaps of a Kafka 0.7 log in the offsets [low, high); a later version has none here.

    A 0.7 broker does not open a log with such a gap (``Log.validateSegments``). A segment that overlaps the next one
    is detected when it is read.
    """
    for each, following in pairwise(log.segments):
        end = each.base_offset + each.size
        if each.is_07 and end < following.base_offset and low < following.base_offset and end < high:
            error = DataLossError(
                "part of this log is not on disk: the segment ends before the next one starts",
                file=each.path,
                found=f"an end at offset {end}",
                expected=f"{following.base_offset}, where the next segment starts",
                remedy="Restore the missing bytes, or set failOnDataLoss=false to read what is on disk",
            )
            region = missing_region(each.path, each.size, end, following.path, following.base_offset)
            yield Gap(region, error, error.without_remedy())
