"""What of a Kafka 0.7 partition is not on disk: its segments have to abut, since offsets are positions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions


def check_07(log: PartitionLog, low: int, high: int, options: ReadOptions) -> Iterator[str]:
    """Refuse what cannot be read of the offsets [low, high) as asked; a log of a later version has nothing to refuse.

    A broker of 0.7 would not have opened a log with such a gap (``Log.validateSegments``). A segment that reaches into
    the next one's range is found when it is read.

    Yields
    ------
    str
        Warnings: gaps, with failOnDataLoss=false.
    """
    if log.segments[0].is_07 and options.max_records_per_partition is not None:
        raise OptionError(
            "maxRecordsPerPartition counts offsets, and those of Kafka 0.7 are byte positions",
            found=log.path,
            remedy="Leave the option out, or set maxPartitionBytes",
        )
    for each, following in pairwise(log.segments):
        end = each.base_offset + each.size
        if each.is_07 and end < following.base_offset and low < following.base_offset and end < high:
            error = DataLossError(
                "a part of this log is not on disk: the segment ends before the next one starts",
                file=each.path,
                found=f"an end at offset {end}",
                expected=f"{following.base_offset}, where the next segment starts",
                remedy="Restore the missing bytes, or set failOnDataLoss=false to read what is there",
            )
            if options.fail_on_data_loss:
                raise error
            yield str(error)
