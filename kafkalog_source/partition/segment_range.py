"""The range that reads all wanted offsets of one segment, before it is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.partition.gaps import continuation_of
from kafkalog_source.partition.splits import SplitRange, TransactionsAhead
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from kafkalog_source.logdir import PartitionLog, SegmentFile
    from kafkalog_source.partition.splits import Origin, TransactionHistory
    from kafkalog_source.segment.seek import SegmentPlace


def segment_range(
    log: PartitionLog,
    number: int,
    place: SegmentPlace,
    wanted: tuple[int, int],
    history: TransactionHistory | None,
    origin: Origin | None,
) -> SplitRange:
    """The range over the whole of segment `number` that reads the `wanted` offsets [low, high).

    Parameters
    ----------
    log : PartitionLog
    number : int
    place : SegmentPlace
        Of that segment.
    wanted : (int, int)
    history : TransactionHistory or None
        The outcomes of the transactions in the segment, None if unknown.
    origin : Origin or None
    """
    low, high = wanted
    segment = log.segments[number]
    base_07 = segment.base_offset if segment.is_07 else None
    is_last = segment is log.segments[-1]
    return SplitRange(
        segment.path,
        log.topic,
        log.partition,
        Span(0, segment.size, place.least, place.bound, high, True, is_last, base_07),
        low,
        high,
        segment.size,
        segment.inode,
        _ahead(log, segment, place) if history is None else history.within(max(low, place.least), high),
        continuation_of(log, number, high),
        origin=origin,
    )


def _ahead(log: PartitionLog, segment: SegmentFile, place: SegmentPlace) -> TransactionsAhead | None:
    if segment.is_07:
        return None
    last = log.segments[-1]
    indexed = segment.txn_index is not None
    return TransactionsAhead(
        place.least, place.bound, indexed, last.base_offset, last.size, log.is_single_file, log.is_cut
    )
