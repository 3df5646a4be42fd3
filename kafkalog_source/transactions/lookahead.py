"""Transactions found out by a task, when it meets the first batch of one.

A batch belongs to the next marker of its producer, so the headers from that
batch on tell, until every transaction of the range has ended. Where nothing is
transactional nothing is read twice.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_source._core.outcomes import TransactionStates
from kafkalog_source.errors import DataLossError, KafkaLogError
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir import list_logs
from kafkalog_source.partition.moved_files import check_inode, has_changed, until_files_stay
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.partition.recovery import as_cut
from kafkalog_source.partition.splits import TransactionHistory, TransactionsAhead
from kafkalog_source.segment.opening import open_seeker
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.transaction_headers import HeaderPass, make_tracker
from kafkalog_source.transactions.history import PartitionHistory, from_side_files
from kafkalog_source.transactions.lost_markers import PassedDamage, largest_checked, notice_gap

if TYPE_CHECKING:
    from collections.abc import Generator

    from kafkalog_source._core.memory import Scratch
    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.splits import SplitRange
    from kafkalog_source.segment.seek import SegmentPlace

_END = object()
_MOST_LISTINGS = 5
"""How often later segments are listed anew while they come and go."""


def states_of(history: TransactionHistory) -> TransactionStates:
    """What is looked up batch by batch."""
    return TransactionStates(history.aborted, history.open, history.undecided)


class TransactionFinder:
    """Finds the transactions of one range after another; each reading thread has its own.

    Attributes
    ----------
    bytes_read : int
        Of later segments and side files; of the range's own segment the source counts.
    warnings : list of str
        Damage that may have held the end of a transaction.
    """

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self._directory: str | None = None
        self._log: PartitionLog | None = None
        self._known: PartitionHistory | None = None
        self.bytes_read = 0
        self.warnings: list[str] = []

    def from_side_files(self, path: str, ahead: TransactionsAhead) -> TransactionHistory | None:
        """The transactions of the segment `path`, if its side files and those of later segments tell all."""
        if ahead.is_single_file or not ahead.indexed:
            return None
        log = self.listed(path, ahead)
        numbers = [number for number, each in enumerate(log.segments) if each.path == path]
        if not numbers:
            return None
        if self._known is None:
            self._known = from_side_files(PartitionOffsets(log), self.options)
        return self._known.of_segment(numbers[0])

    def forget(self) -> None:
        """List the partition anew when it is asked for next."""
        self._log = self._known = None

    def listed(self, path: str, ahead: TransactionsAhead) -> PartitionLog:
        """The partition that the segment `path` lies in, as far as it reached when the read was planned.

        It is listed again and not carried along, because a split of each segment that named all later ones would make
        the plan grow with the square of their number.
        """
        directory = os.path.dirname(path)
        if self._log is None or self._directory != directory:
            # Links were judged when the read was planned, against a root that is not known here.
            listing = list_logs([directory], wanted=lambda *_: True, follow_symlinks=True)
            self._directory, self._known = directory, None
            self._log = _as_planned(listing.partitions[0], ahead)
        return self._log


class Lookahead:
    """What became of the transactions of one range, found out window by window as its reading asks.

    The batches of the window that is asked about are followed where they lie in memory. Headers are read ahead only
    from there to the markers of what is still open, if that has not been done for an earlier window.

    Parameters
    ----------
    finder : TransactionFinder
    source : LocalFile
        The range's segment.
    each : SplitRange
    """

    def __init__(self, finder: TransactionFinder, source: LocalFile, each: SplitRange) -> None:
        assert isinstance(each.transactions, TransactionsAhead)
        self._finder = finder
        self._source = source
        self._each = each
        self._ahead = each.transactions
        self._below = min(each.high, each.span.bound)
        self._tracker = make_tracker(below=self._below, verify_checksums=finder.options.verify_checksums)
        self._passed = PassedDamage(finder.options, self._tracker, finder.warnings, each.low, each.high)
        self._pass: HeaderPass | None = None
        self._is_behind = False  # the range's segment
        self._steps = self._all_steps()
        self._aborted: list[tuple[int, int, int]] = []
        self._undecided: list[tuple[int, int, int]] = []

    def find(
        self, window: Scratch, position: int, start: int, stop: int, above: int, last: int
    ) -> tuple[TransactionStates, int]:
        """The states of the batches of a window at least, and the offset below which they hold; see `Decoder`."""
        if self._pass is None:
            history = until_files_stay(self._from_side_files, ())
            if history is not None:
                return states_of(history.within(self._each.span.least, self._below)), MAX_OFFSET
            least, size = self._each.span.least, self._each.file_size
            self._pass = self._pass_over(self._source, least, self._ahead.bound, size, self._txn_index())
        if not self._is_behind:
            self._pass.take(window, position, start, stop)
        known, begun = self._look_as_far_as(last)
        self._aborted = [each for each in self._aborted if each[2] > above] + self._tracker.take_aborted()
        self._undecided = [each for each in self._undecided if each[2] > above] + self._tracker.take_undecided()
        return TransactionStates(self._aborted, begun, self._undecided), known

    def _from_side_files(self) -> TransactionHistory | None:
        try:
            return self._finder.from_side_files(self._each.path, self._ahead)
        except KafkaLogError:
            self._finder.forget()
            raise

    def close(self) -> None:
        """Close what is open of later segments."""
        self._steps.close()

    def _look_as_far_as(self, last: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Below which offset all is known, which is above `last`; and what is open if the log ends before that."""
        while self._tracker.known_below <= last:
            if next(self._steps, _END) is _END:
                return MAX_OFFSET, self._tracker.open
        return self._tracker.known_below, ()

    def _all_steps(self) -> Generator[None, None, None]:
        """Go through the headers of the range's segment and of those after it."""
        assert self._pass is not None
        yield from self._pass.steps()
        self._is_behind = True
        if self._ahead.base_offset == self._ahead.last_base_offset or self._ahead.is_single_file:
            return
        for _ in range(_MOST_LISTINGS):
            try:
                yield from self._later_steps()
                return
            except KafkaLogError as error:
                if not has_changed(error):
                    raise
                self._finder.forget()
                changed = error
        # Not the error itself: that would have the rows of this range looked up again, which have not changed.
        raise DataLossError(
            "segments came and went while markers of transactions were looked for in them",
            file=self._each.path,
            found=str(changed),
            remedy="A broker is at work on the partition: read again, or read a snapshot of the directory",
        ) from changed

    def _later_steps(self) -> Generator[None, None, None]:
        """Go through the headers of the segments after the range's own, from the last offset on that was followed."""
        finder, tracker = self._finder, self._tracker
        log = finder.listed(self._each.path, self._ahead)
        for segment, place in zip(log.segments, PartitionOffsets(log).places(), strict=True):
            reached = max(self._ahead.bound, tracker.last_offset + 1)
            if place.bound <= reached:
                continue
            if tracker.is_settled:
                return
            finder.bytes_read += notice_gap(log, place.least, tracker, finder.options, finder.warnings)
            with LocalFile(segment.path) as source:
                check_inode(source, segment.inode)
                try:
                    least = max(place.least, reached)
                    passed = self._pass_over(source, least, place.bound, segment.size, segment.txn_index)
                    passed.position = self._position_of(reached, place) if reached > place.least else 0
                    yield from passed.steps()
                finally:
                    finder.bytes_read += source.bytes_read

    def _position_of(self, offset: int, place: SegmentPlace) -> int:
        """Where the first batch begins with offsets from `offset` on: compaction put it into this segment."""
        with open_seeker(place) as seeker:
            # What is damaged is reported by the pass over the headers.
            header = next(seeker.headers_from(offset, lambda _: None), None)
            self._finder.bytes_read += seeker.bytes_read
            return seeker.source.size if header is None else header.position

    def _txn_index(self) -> str | None:
        """That of the range's segment."""
        beside = f"{os.path.splitext(self._each.path)[0]}.txnindex"
        return beside if self._ahead.indexed and not self._ahead.is_single_file else None

    def _pass_over(self, source: LocalFile, least: int, bound: int, end: int, txn_index: str | None) -> HeaderPass:
        # What lies ahead of the range up to the offsets that are wanted, other ranges read.
        largest = largest_checked(self._finder.options, is_read=bound <= self._each.high)
        return HeaderPass(
            source,
            self._tracker,
            least=least,
            bound=bound,
            end=end,
            is_last=bound == MAX_OFFSET,
            on_damage=self._passed.found_by_headers if largest is None else self._passed.found,
            txn_index=txn_index,
            largest_batch=largest,
        )


def _as_planned(log: PartitionLog, ahead: TransactionsAhead) -> PartitionLog:
    """The partition without what came later than the plan.

    The last segment of the plan may be shorter now: a preallocated end was cut off. It may be gone: compaction put what
    is left of it into one before it, all of which counts then.
    """
    segments = [each for each in log.segments if each.base_offset <= ahead.last_base_offset]
    if not segments:
        raise DataLossError(
            "the partition no longer reaches as far as when the read was planned",
            file=log.path,
            found=f"{log.segments[0].base_offset} as its first offset" if log.segments else "no segment",
            expected=f"a segment that begins at or below offset {ahead.last_base_offset}",
            remedy="Retention or something else removed it meanwhile: read again, or read a snapshot of the directory",
        )
    if segments[-1].base_offset == ahead.last_base_offset:
        size = min(segments[-1].size, ahead.last_size)
        if ahead.is_cut:
            return as_cut(replace(log, segments=tuple(segments)), len(segments) - 1, size)
        segments[-1] = replace(segments[-1], size=size)
    return replace(log, segments=tuple(segments))
