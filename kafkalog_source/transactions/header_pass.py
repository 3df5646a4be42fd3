"""A pass over the headers of a partition, from an offset with known open transactions to the log's end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.segment.checks.header_check import is_damaged
from kafkalog_source.segment.opening import open_seeker
from kafkalog_source.segment.source import FileChangedError, LocalFile, open_if_there
from kafkalog_source.segment.span import Span
from kafkalog_source.segment.transaction_headers import HeaderPass, make_tracker
from kafkalog_source.transactions.lost_markers import PassedDamage, largest_checked, notice_gap

if TYPE_CHECKING:
    from kafkalog_source._core.transactions import TransactionTracker
    from kafkalog_source.logdir import SegmentFile
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.offsets import PartitionOffsets
    from kafkalog_source.segment.seek import SegmentPlace
    from kafkalog_source.transactions.side_files import Start

__all__ = ["LogPass", "stable_offset"]

_WORTH_BELIEVING = 1 << 20
"""Headers of smaller segments are not trusted: comparing their checksums at once costs little."""


class LogPass:
    """Follows the transactions of a partition by its headers.

    Parameters
    ----------
    offsets : PartitionOffsets
    options : ReadOptions
    start : Start
        Where the pass begins, and what is open there.
    end : int
        The offset at which it ends.

    Attributes
    ----------
    warnings : list of str
        Damage and gaps that were passed over.
    bytes_read : int
    """

    def __init__(self, offsets: PartitionOffsets, options: ReadOptions, start: Start, end: int) -> None:
        self._log = offsets.log
        self._places = offsets.places()
        self._options = options
        self._start = start
        self._end = end
        self.warnings: list[str] = []
        self.bytes_read = 0

    def run(self, low: int, high: int) -> TransactionTracker:
        """A tracker at the end of the log; every header that it has followed is checked here or when rows are read.

        The rows in [low, high) are wanted, as far as they lie below the last stable offset that this finds. Headers of
        segments whose rows will all be read are trusted at first. If the last stable offset turns out to leave some of
        these rows out, the checksums of their segments are compared.
        """
        warnings = len(self.warnings)
        tracker = self._follow(low, high, high)
        stable = stable_offset(tracker, high)
        unread = [
            number
            for number in range(self._start.number, len(self._places))
            if self._largest_checked(number, low, high) is None
            and self._largest_checked(number, low, stable) is not None
        ]
        if any(self._is_damaged(number) for number in unread):
            del self.warnings[warnings:]
            return self._follow(low, high, low)
        return tracker

    def _largest_checked(self, number: int, low: int, high: int) -> int | None:
        """The largest batch of a pass over a segment that compares checksums; None if reading [low, high) does it."""
        place = self._places[number]
        is_read = low <= place.least and place.bound <= high and self._log.segments[number].size >= _WORTH_BELIEVING
        return largest_checked(self._options, is_read=is_read)

    def _is_damaged(self, number: int) -> bool:
        segment, place = self._log.segments[number], self._places[number]
        if place.least >= self._end:
            return False
        position = self._position_of(self._start.offset, place) if number == self._start.number else 0
        is_last = number == len(self._places) - 1
        span = Span(position, segment.size, place.least, place.bound, self._end, True, is_last)
        with self._open(segment) as source:
            found = is_damaged(source, span, self._options.max_decompressed_batch_bytes)
            self.bytes_read += source.bytes_read
        return found

    def _follow(self, low: int, high: int, read_below: int) -> TransactionTracker:
        """Take a tracker to the log's end; the rows in [low, high) are wanted, and those in [low, read_below) read."""
        tracker = make_tracker(self._start.begun, stop=self._end, verify_checksums=self._options.verify_checksums)
        passed = PassedDamage(self._options, tracker, self.warnings, low, high)
        for number in range(self._start.number, len(self._places)):
            segment, place = self._log.segments[number], self._places[number]
            if place.least >= self._end:
                break
            if number > self._start.number:
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
                    txn_index=None if self._log.is_single_file else segment.txn_index,
                    largest_batch=largest,
                ).run(self._position_of(self._start.offset, place) if number == self._start.number else 0)
                self.bytes_read += source.bytes_read
        passed.check_last_stable_offset()
        return tracker

    def _position_of(self, offset: int, place: SegmentPlace) -> int:
        """The position of a batch such that all offsets from `offset` on lie at or after it."""
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


def stable_offset(tracker: TransactionTracker, high: int) -> int:
    """The first offset of the oldest transaction that is open, or `high` if that is lower."""
    return min([high, *(first for _, first in tracker.open)])


def _open_same(path: str, segment: SegmentFile) -> LocalFile | None:
    source = open_if_there(path)
    if source is None:
        return None
    if source.inode == segment.inode and source.size >= segment.size:
        return source
    source.close()
    return None
