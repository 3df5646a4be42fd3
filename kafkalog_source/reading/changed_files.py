"""Ranges whose file has changed since the read was planned: their offsets are looked up again.

A broker rolls, compacts and deletes segments while they are read. A plan names offsets, so that a task can find them
again by itself: in the segment with which compaction replaced others, or in the last one after its preallocated end
was truncated. Records that compaction removed are missing, as they would be for a consumer.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir import list_partition_again
from kafkalog_source.partition.moved_files import until_files_stay
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.partition.segment_range import segment_range
from kafkalog_source.partition.splits import Origin, TransactionHistory, TransactionsAhead
from kafkalog_source.reading.planned_file import another_log, gone
from kafkalog_source.segment.opening import open_seeker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.errors import DataLossError, KafkaLogError
    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.splits import SplitRange


@dataclass(frozen=True, slots=True)
class FoundAgain:
    """The offsets of a range as they are on disk now.

    Attributes
    ----------
    ranges : tuple of SplitRange
    losses : tuple of DataLossError
        For offsets that are no longer on disk.
    bytes_read : int
        Bytes read for the lookup.
    """

    ranges: tuple[SplitRange, ...] = ()
    losses: tuple[DataLossError, ...] = ()
    bytes_read: int = 0


def look_up_again(each: SplitRange, reached: int | None, error: KafkaLogError, options: ReadOptions) -> FoundAgain:
    """Find the offsets of `each` from `reached` on in the directory as it is now.

    Parameters
    ----------
    each : SplitRange
    reached : int or None
        Offsets below it have been read; None if it is unknown which.
    error : KafkaLogError
        The error that made the lookup necessary.
    options : ReadOptions

    Raises
    ------
    KafkaLogError
        `error`, if it cannot be determined which offsets are left to read.
    """
    origin, end = each.origin, _planned_end(each)
    if origin is None or end is None or reached is None or options.mode == "RECOVER":
        raise error
    low = max(each.low, each.span.least, reached)
    if low >= end:
        return FoundAgain()
    return until_files_stay(lambda: _look_up(each, origin, low, end), ())


def _planned_end(each: SplitRange) -> int | None:
    """The offset at which the range ends; None if it ends with the log, whose end was not looked up."""
    if each.span.base_07 is not None:
        # Offsets of Kafka 0.7 are positions, which are meaningless in another file.
        return None
    end = min(each.high, each.span.bound)
    if end < MAX_OFFSET:
        return end
    return None if each.origin is None else each.origin.end


def _look_up(each: SplitRange, origin: Origin, low: int, end: int) -> FoundAgain:
    log = _listed(origin.path)
    if log is None:
        return FoundAgain(losses=(gone(each, low, end),))
    if log.inode != origin.inode:
        return FoundAgain(losses=(another_log(each, origin.path, low, end),))
    offsets, losses = PartitionOffsets(log), []
    first = log.segments[0].base_offset
    if low < first:
        losses.append(gone(each, low, min(first, end)))
    if end > first and not offsets.is_within_end(end):
        losses.append(gone(each, max(low, offsets.end), end))
    ranges = tuple(_ranges(each, offsets, max(low, first), end))
    return FoundAgain(ranges, tuple(losses), offsets.bytes_read)


def _listed(path: str) -> PartitionLog | None:
    """The partition, or None if it no longer exists or has no segment."""
    if not os.path.lexists(path):
        return None
    log = list_partition_again(path)
    return log if log.segments else None


def _ranges(each: SplitRange, offsets: PartitionOffsets, low: int, end: int) -> Iterator[SplitRange]:
    """The ranges of the segments that hold offsets in [low, end) now."""
    log, known = offsets.log, each.transactions
    history = known if isinstance(known, TransactionHistory) else None
    origin = Origin(log.path, log.inode)
    for number, place in enumerate(offsets.places()):
        if end <= place.least or place.bound <= low:
            continue
        found = segment_range(log, number, place, (low, end), history, origin)
        if isinstance(known, TransactionsAhead) and found.transactions is not None:
            # Keeps the planned end of the log: other tasks may not have seen markers that were written later.
            found = replace(found, transactions=replace(known, base_offset=place.least, bound=place.bound))
        if low > place.least:
            with open_seeker(place) as seeker:
                start = min(seeker.start_of(low), found.file_size)
                offsets.bytes_read += seeker.bytes_read
            found = replace(found, span=replace(found.span, start=start))
        yield found
