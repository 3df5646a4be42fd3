"""What became of all transactions of one partition, by its side files or by a pass over its headers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.partition.splits import TransactionHistory
from kafkalog_source.segment.bounds import next_offset
from kafkalog_source.transactions.header_pass import LogPass, stable_offset
from kafkalog_source.transactions.side_files import SideFiles, Start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.offsets import PartitionOffsets
    from kafkalog_source.segment.seek import SegmentPlace
    from kafkalog_source.segment.side_files.producer_snapshot import OpenTransactions

__all__ = ["Followed", "KnownTransactions", "PartitionHistory", "from_headers", "from_side_files"]


@dataclass(frozen=True, slots=True)
class KnownTransactions:
    """What a stream remembers of a partition that it has followed before.

    Attributes
    ----------
    offset : int
        All batches below it have been seen.
    open : tuple of (int, int)
        Producer id and first offset of what was open there.
    """

    offset: int
    open: OpenTransactions


@dataclass(frozen=True, slots=True)
class _Tail:
    """All transactions that were open where segment number `start` begins or that began later."""

    start: int
    history: TransactionHistory


@dataclass(frozen=True, slots=True)
class PartitionHistory:
    """What became of the transactions of one partition. What it answers depends on no earlier question.

    Attributes
    ----------
    warnings : list of str
        Side files that were of no use, and what was passed over.
    bytes_read : int
        Bytes of segments that were read to follow headers.
    """

    _log: PartitionLog
    _places: Sequence[SegmentPlace]
    _fails_at_gaps: bool
    _files: SideFiles
    _tail: _Tail | None = None
    _pass: LogPass | None = None
    _lacking: dict[int, bool] = field(default_factory=dict)

    @property
    def warnings(self) -> list[str]:  # noqa: D102
        return [*self._files.warnings, *(() if self._pass is None else self._pass.warnings)]

    @property
    def bytes_read(self) -> int:  # noqa: D102
        return 0 if self._pass is None else self._pass.bytes_read

    def of_segment(self, number: int) -> TransactionHistory | None:
        """The transactions with batches in a segment, as far as they are not committed.

        None if neither side files nor the pass over headers tell, so that the segment's own headers have to.
        """
        places = self._places
        least, bound = places[number].least, places[number].bound
        found: list[tuple[int, int, int]] = []
        for at in range(number, len(places)):
            if at > number and self._may_lack_segment(at):
                return None
            if self._tail is not None and at >= self._tail.start:
                return _joined(found, self._tail.history.within(least, bound))
            if at > number and self._ends_before(at, bound):
                return TransactionHistory(tuple(found))
            entries = self._files.index(at)
            if entries is None:
                return None
            found += [entry[:3] for entry in entries if entry.first_offset < bound]
            if any(entry.ends_all_below(bound) for entry in entries):
                return TransactionHistory(tuple(found))
        tail = TransactionHistory((), self._files.open_at_end() or ()) if self._tail is None else self._tail.history
        return _joined(found, tail.within(least, bound))

    def _ends_before(self, number: int, bound: int) -> bool:
        """Whether every transaction that began below `bound` is known to have ended before segment `number`."""
        begun = self._files.open_before(number)
        return begun is not None and all(first >= bound for _, first in begun)

    def _may_lack_segment(self, number: int) -> bool:
        """Whether offsets are missing before a segment, and with them markers that no index here names.

        It is asked only where the read of such a gap is no error.
        """
        log = self._log
        if self._fails_at_gaps or log.cleaned:
            return False
        if number not in self._lacking:
            before, place = log.segments[number - 1], self._places[number]
            try:
                end = next_offset(before.path, before.offset_index, before.base_offset, place.least)
            except KafkaLogError:
                end = None
            self._lacking[number] = end is None or end < place.least
        return self._lacking[number]


def _joined(found: list[tuple[int, int, int]], later: TransactionHistory) -> TransactionHistory:
    return TransactionHistory((*found, *later.aborted), later.open, later.undecided)


@dataclass(frozen=True, slots=True)
class Followed:
    """What a pass to the log's end found out.

    Attributes
    ----------
    history : PartitionHistory
    last_stable_offset : int
        The first offset of the oldest open transaction, or the offset up to which rows are wanted, if that is lower.
    reached : KnownTransactions or None
        What is open where the log ends; None if something is in doubt.
    """

    history: PartitionHistory
    last_stable_offset: int
    reached: KnownTransactions | None


def from_side_files(offsets: PartitionOffsets, options: ReadOptions) -> PartitionHistory:
    """The history as far as side files tell it; no segment is read."""
    return _history(offsets, options, SideFiles(offsets))


def _history(offsets: PartitionOffsets, options: ReadOptions, files: SideFiles) -> PartitionHistory:
    return PartitionHistory(offsets.log, offsets.places(), options.fail_on_data_loss, files)


def from_headers(
    offsets: PartitionOffsets,
    options: ReadOptions,
    high: int,
    low: int | None = None,
    known: KnownTransactions | None = None,
) -> Followed:
    """The history, and the last stable offset, by a pass from the newest producer snapshot that helps to the log's end.

    What a high watermark hides counts as not written: a transaction that is ended above it is open.

    Parameters
    ----------
    offsets : PartitionOffsets
    options : ReadOptions
    high : int
        Nothing from here on is wanted.
    low : int, optional
        The rows in [low, last stable offset) are read after this; if not given, none need be.
    known : KnownTransactions, optional
        What is remembered of an earlier pass. Nothing below its offset is asked for.

    Raises
    ------
    CorruptBatchError, DataLossError
        What became of the transactions of these rows is lost, and the mode ends at damage.
    """
    files, end = SideFiles(offsets), _visible_end(offsets, options)
    start = _remembered(offsets, known, end) or files.newest_start(end)
    found = _history(offsets, options, files)
    if high <= start.offset and all(first >= high for _, first in start.begun):
        return Followed(found, high, KnownTransactions(start.offset, start.begun))
    passed = LogPass(offsets, options, start, end)
    tracker = passed.run(high if low is None else low, high)
    reached = None
    if not (tracker.undecided or tracker.in_doubt):
        reached = KnownTransactions(max(start.offset, tracker.last_offset + 1), tracker.open)
    tail = _Tail(start.number, TransactionHistory(tracker.aborted, tracker.open, tracker.undecided))
    return Followed(replace(found, _tail=tail, _pass=passed), stable_offset(tracker, high), reached)


def _visible_end(offsets: PartitionOffsets, options: ReadOptions) -> int:
    high_watermark = offsets.log.high_watermark
    return MAX_OFFSET if options.read_up_to != "highWatermark" or high_watermark is None else high_watermark


def _remembered(offsets: PartitionOffsets, known: KnownTransactions | None, end: int) -> Start | None:
    """Where an earlier pass ended, if that serves."""
    if known is None or known.offset > end:
        return None
    for number, place in enumerate(offsets.places()):
        if place.least <= known.offset < place.bound:
            return Start(number, known.offset, known.open)
    return None
