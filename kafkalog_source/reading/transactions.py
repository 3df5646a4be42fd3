"""The transactions of one partition, out of its side files where they will do and by passes over headers elsewhere.

Side files are believed as far as a broker would believe them, and no further:
a ``.snapshot`` only at an offset where a segment begins or the log ends, and the
``.txnindex`` of the last segment only if a snapshot proves that the log was
closed there, because a copy of a live log may be older than the log beside it.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError, LogDirError
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.reading.doubts import PassedDamage, largest_checked, notice_gap
from kafkalog_source.reading.splits import TransactionHistory
from kafkalog_source.segment.bounds import next_offset
from kafkalog_source.segment.checking import is_damaged
from kafkalog_source.segment.opening import open_seeker
from kafkalog_source.segment.producer_snapshot import read_producer_snapshot
from kafkalog_source.segment.rows import Span
from kafkalog_source.segment.source import FileChangedError, LocalFile, is_gone
from kafkalog_source.segment.transactions import HeaderPass, make_tracker
from kafkalog_source.segment.txn_index import read_txn_index

if TYPE_CHECKING:
    from kafkalog_source._core.transactions import TransactionTracker
    from kafkalog_source.logdir import SegmentFile
    from kafkalog_source.reading.options import ReadOptions
    from kafkalog_source.reading.partition_offsets import PartitionOffsets
    from kafkalog_source.segment.producer_snapshot import OpenTransactions
    from kafkalog_source.segment.seek import SegmentPlace
    from kafkalog_source.segment.txn_index import AbortedTransaction


_WORTH_BELIEVING = 1 << 20
"""A smaller segment is checked at once: that costs less than to find out whether its rows are read."""


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
class _Way:
    """From an `offset` in segment number `start`, where the transactions `begun` are open, to the offset `end`."""

    start: int
    offset: int
    begun: OpenTransactions
    end: int


class PartitionTransactions:
    """Looks up the transactions of one partition; what was read once is kept.

    Parameters
    ----------
    offsets : PartitionOffsets
        The partition. Of a lone segment neither side files nor neighbours are consulted.
    options : ReadOptions
    known : KnownTransactions, optional
        Nothing below its offset is asked for.

    Attributes
    ----------
    reached : KnownTransactions or None
        What is open where the log ends, once that was looked up; None if something is in doubt.
    warnings : list of str
        Side files that were of no use.
    bytes_read : int
    """

    def __init__(self, offsets: PartitionOffsets, options: ReadOptions, known: KnownTransactions | None = None) -> None:
        self._known = known
        self._offsets = offsets
        self._log = offsets.log
        self._options = options
        self._places = offsets.places()
        self._indexes: dict[int, tuple[AbortedTransaction, ...] | None] = {}
        self._snapshots: dict[int, OpenTransactions | None] = {}
        self._lacking: dict[int, bool] = {}
        self._tail: _Tail | None = None
        self.reached: KnownTransactions | None = None
        self.warnings: list[str] = []
        self.bytes_read = 0

    def last_stable_offset(self, high: int, low: int | None = None) -> int:
        """The first offset of the oldest open transaction, or `high`, above which nothing is wanted, if that is lower.

        What a high watermark hides counts as not written: a transaction that is ended above it is open.

        Parameters
        ----------
        high : int
        low : int, optional
            The rows in [low, last stable offset) are read after this; if not given, none need be.

        Raises
        ------
        CorruptBatchError, DataLossError
            What became of the transactions of these rows is lost, and the mode ends at damage.
        """
        end = self._visible_end()
        start, offset, begun = self._remembered(end) or self._newest_snapshot(end)
        if high <= offset and all(first >= high for _, first in begun):
            self.reached = KnownTransactions(offset, begun)
            return high
        tracker = self._tracker_at(_Way(start, offset, begun, end), high if low is None else low, high)
        if not (tracker.undecided or tracker.in_doubt):
            self.reached = KnownTransactions(max(offset, tracker.last_offset + 1), tracker.open)
        self._tail = _Tail(start, TransactionHistory(tracker.aborted, tracker.open, tracker.undecided))
        return _stable(tracker, high)

    def _tracker_at(self, way: _Way, low: int, high: int) -> TransactionTracker:
        """A tracker at the end of the log, which has believed no header that nobody checks.

        Headers of segments whose rows are all read are believed at first. If what they say is that some of them are
        not read after all, these are checked.
        """
        warnings = len(self.warnings)
        tracker = self._follow(way, low, high, high)
        stable = _stable(tracker, high)
        unread = [
            number
            for number in range(way.start, len(self._places))
            if self._largest_checked(number, low, high) is None
            and self._largest_checked(number, low, stable) is not None
        ]
        if any(self._is_damaged(number, way) for number in unread):
            del self.warnings[warnings:]
            return self._follow(way, low, high, low)
        return tracker

    def _largest_checked(self, number: int, low: int, high: int) -> int | None:
        """The largest batch of a pass over a segment that compares checksums; None if reading [low, high) does it."""
        place = self._places[number]
        is_read = low <= place.least and place.bound <= high and self._log.segments[number].size >= _WORTH_BELIEVING
        return largest_checked(self._options, is_read=is_read)

    def _is_damaged(self, number: int, way: _Way) -> bool:
        segment, place = self._log.segments[number], self._places[number]
        if place.least >= way.end:
            return False
        position = self._position_of(way.offset, place) if number == way.start else 0
        is_last = number == len(self._places) - 1
        span = Span(position, segment.size, place.least, place.bound, way.end, True, is_last)
        with self._open(segment) as source:
            found = is_damaged(source, span, self._options.max_decompressed_batch_bytes)
            self.bytes_read += source.bytes_read
        return found

    def _remembered(self, end: int) -> tuple[int, int, OpenTransactions] | None:
        """The same as of the newest snapshot, out of what is known."""
        known = self._known
        if known is None or known.offset > end:
            return None
        for number, place in enumerate(self._places):
            if place.least <= known.offset < place.bound:
                return number, known.offset, known.open
        return None

    def _visible_end(self) -> int:
        high_watermark = self._log.high_watermark
        return MAX_OFFSET if self._options.read_up_to != "highWatermark" or high_watermark is None else high_watermark

    def of_segment(self, number: int) -> TransactionHistory | None:
        """The transactions with batches in a segment, as far as they are not committed.

        None if side files and passes made so far do not tell, so that the segment's own headers have to.
        """
        bound = self._places[number].bound
        found: list[tuple[int, int, int]] = []
        for at in range(number, len(self._places)):
            if at > number and self._may_lack_segment(at):
                return None
            if self._tail is not None and at >= self._tail.start:
                return self._with_tail(found, self._places[number].least, bound)
            if at > number and self._ends_before(at, bound):
                return TransactionHistory(tuple(found))
            entries = self._index(at)
            if entries is None:
                return None
            found += [entry[:3] for entry in entries if entry.first_offset < bound]
            if any(entry.ends_all_below(bound) for entry in entries):
                return TransactionHistory(tuple(found))
        return self._with_tail(found, self._places[number].least, bound) if self._tail is not None else None

    def _may_lack_segment(self, number: int) -> bool:
        """Whether offsets are missing before a segment, and with them markers that no index here names.

        It is asked only where the read of such a gap is no error.
        """
        if self._options.fail_on_data_loss or self._log.cleaned:
            return False
        if number not in self._lacking:
            before, place = self._log.segments[number - 1], self._places[number - 1]
            try:
                end = next_offset(before.path, before.offset_index, place.least, place.bound)
            except KafkaLogError:
                end = None
            self._lacking[number] = end is None or end < place.bound
        return self._lacking[number]

    def _with_tail(self, found: list[tuple[int, int, int]], least: int, bound: int) -> TransactionHistory:
        assert self._tail is not None
        later = self._tail.history.within(least, bound)
        return TransactionHistory((*found, *later.aborted), later.open, later.undecided)

    def _ends_before(self, number: int, bound: int) -> bool:
        """Whether every transaction that began below `bound` is known to have ended before segment `number`."""
        begun = self._snapshot(self._log.segments[number].snapshot, self._places[number].least)
        return begun is not None and all(first >= bound for _, first in begun)

    def _newest_snapshot(self, end: int) -> tuple[int, int, OpenTransactions]:
        """Number of a segment, its base offset and what was open there; the log's start if there is no snapshot.

        Behind an old one the cleaner may have removed the markers of what was open, unless it was nothing.
        """
        if self._log.lone:
            return 0, self._places[0].least, ()
        begun = self._closing_snapshot()
        if begun is not None and self._offsets.latest <= end:
            return len(self._places), self._offsets.latest, begun
        for number in reversed(range(len(self._places))):
            least = self._places[number].least
            begun = self._snapshot(self._log.segments[number].snapshot, least) if least <= end else None
            if begun is not None and (not begun or number == len(self._places) - 1):
                return number, least, begun
        return 0, self._places[0].least, ()

    def _closing_snapshot(self) -> OpenTransactions | None:
        """The one that a clean stop leaves at the offset where the log ends; None if there is none."""
        if self._log.segments[-1].offset_index is None:
            # Without an index the end is found by walking all headers, which is what a snapshot is to save.
            return None
        end = self._offsets.latest
        path = os.path.join(os.path.dirname(self._log.segments[-1].path), f"{end:020d}.snapshot")
        return self._snapshot(path if _is_regular(path) else None, end)

    def _snapshot(self, path: str | None, offset: int) -> OpenTransactions | None:
        if offset not in self._snapshots:
            begun, warning = (None, None) if path is None else read_producer_snapshot(path, offset)
            self._snapshots[offset] = begun
            self._note(warning)
        return self._snapshots[offset]

    def _index(self, number: int) -> tuple[AbortedTransaction, ...] | None:
        """The entries of a segment's transaction index; None if there is none that can be relied on."""
        if number not in self._indexes:
            self._indexes[number] = self._read_index(number)
        return self._indexes[number]

    def _read_index(self, number: int) -> tuple[AbortedTransaction, ...] | None:
        path, place = self._log.segments[number].txn_index, self._places[number]
        if path is None or self._log.lone:
            return None
        bound = place.bound
        if number == len(self._places) - 1:
            begun = self._closing_snapshot()
            if begun is None:
                return None
            bound = self._offsets.latest
            self._tail = self._tail or _Tail(len(self._places), TransactionHistory((), begun))
        entries, warning = read_txn_index(path, place.least, bound)
        self._note(warning)
        return entries

    def _note(self, warning: str | None) -> None:
        if warning is not None:
            self.warnings.append(warning)

    def _follow(self, way: _Way, low: int, high: int, read_below: int) -> TransactionTracker:
        """Take a tracker to the log's end; the rows in [low, high) are wanted, and those in [low, read_below) read."""
        tracker = make_tracker(way.begun, stop=way.end, verify_checksums=self._options.verify_checksums)
        passed = PassedDamage(self._options, tracker, self.warnings, low, high)
        for number in range(way.start, len(self._places)):
            segment, place = self._log.segments[number], self._places[number]
            if place.least >= way.end:
                break
            if number > way.start:
                self.bytes_read += notice_gap(self._log, place.least, tracker, self._options, self.warnings)
            largest = self._largest_checked(number, low, read_below)
            with self._open(segment) as source:
                HeaderPass(
                    source,
                    tracker,
                    least=place.least,
                    bound=place.bound,
                    end=segment.size,
                    is_last=number == len(self._places) - 1,
                    on_damage=passed.found_by_headers if largest is None else passed.found,
                    txn_index=None if self._log.lone else segment.txn_index,
                    largest_batch=largest,
                ).run(self._position_of(way.offset, place) if number == way.start else 0)
                self.bytes_read += source.bytes_read
        passed.check_last_stable_offset()
        return tracker

    def _position_of(self, offset: int, place: SegmentPlace) -> int:
        """Where a batch begins with all from `offset` on at or behind it."""
        if offset <= place.least:
            return 0
        with open_seeker(place) as seeker:
            position = seeker.start_of(offset)
            self.bytes_read += seeker.bytes_read
        return position

    def _open(self, segment: SegmentFile) -> LocalFile:
        """The segment as it was listed; a broker that is about to delete it renames it first."""
        source = _open_same(segment.path, segment) or _open_same(f"{segment.path}.deleted", segment)
        if source is None:
            # What plans the read lists the partition again.
            raise FileChangedError(
                "the segment is gone or replaced since it was listed",
                file=segment.path,
                remedy="Retention or compaction removed it meanwhile: read again, or read a snapshot of the directory",
            )
        return source


def _stable(tracker: TransactionTracker, high: int) -> int:
    return min([high, *(first for _, first in tracker.open)])


def _open_same(path: str, segment: SegmentFile) -> LocalFile | None:
    try:
        source = LocalFile(path)
    except LogDirError as error:
        if is_gone(error):
            return None
        raise
    if source.inode == segment.inode and source.size >= segment.size:
        return source
    source.close()
    return None


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
