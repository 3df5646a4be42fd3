"""The outcomes of all transactions of one partition, from its side files or from a pass over its headers."""

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
    """The open transactions at an offset, which a stream keeps from one pass for the next.

    Attributes
    ----------
    offset : int
        All batches below it have been followed.
    open : tuple of (int, int)
        Producer id and first offset of the transactions that are open there.
    """

    offset: int
    open: OpenTransactions


@dataclass(frozen=True, slots=True)
class _Tail:
    """All transactions that were open at the start of segment number `start` or began later."""

    start: int
    history: TransactionHistory


@dataclass(frozen=True, slots=True)
class PartitionHistory:
    """The outcomes of the transactions of one partition. No answer depends on earlier calls.

    Attributes
    ----------
    warnings : list of str
        Side files that could not be used, and damage that was skipped.
    bytes_read : int
        Bytes of segments read in the pass over headers.
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
        """The transactions with batches in a segment that are not committed.

        None if neither side files nor the pass over headers determine them, so that headers have to be read from this
        segment on.
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
        """Whether offsets before a segment may be missing, and with them markers that are in no index.

        Always False if reading such a gap is an error.
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
    """The result of a pass to the end of the log.

    Attributes
    ----------
    history : PartitionHistory
    last_stable_offset : int
        The first offset of the oldest open transaction, or the offset up to which rows are wanted, if that is lower.
    reached : KnownTransactions or None
        The open transactions at the end of the log; None if a lost marker leaves them uncertain.
    """

    history: PartitionHistory
    last_stable_offset: int
    reached: KnownTransactions | None


def from_side_files(offsets: PartitionOffsets, options: ReadOptions) -> PartitionHistory:
    """The history from side files alone; no segment is read."""
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
    """Follow headers from the newest usable producer snapshot to the end of the log.

    With readUpTo=highWatermark, records above it are treated as not written: a transaction that ends above it is open.

    Parameters
    ----------
    offsets : PartitionOffsets
    options : ReadOptions
    high : int
        Offsets from here on are not wanted.
    low : int, optional
        The rows in [low, last stable offset) are going to be read; by default none are.
    known : KnownTransactions, optional
        From an earlier pass. Outcomes below its offset are not needed.

    Raises
    ------
    CorruptBatchError, DataLossError
        If the outcomes of the transactions of these rows are lost, and the mode does not tolerate damage.
    """
    files, end = SideFiles(offsets), _visible_end(offsets, options)
    start = _known_start(offsets, known, end) or files.newest_start(end)
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


def _known_start(offsets: PartitionOffsets, known: KnownTransactions | None, end: int) -> Start | None:
    """The start that an earlier pass allows; None if there is none, or it is above `end` or not on disk."""
    if known is None or known.offset > end:
        return None
    for number, place in enumerate(offsets.places()):
        if place.least <= known.offset < place.bound:
            return Start(number, known.offset, known.open)
    return None
