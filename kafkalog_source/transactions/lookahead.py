"""Outcomes of transactions, resolved by a task at the first transactional batch that it needs one for.

A batch belongs to the next marker of its producer, so headers are followed from that
batch on until every transaction of the range has ended. Where nothing is transactional,
nothing is read twice.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_source._core.outcomes import TransactionStates
from kafkalog_source.errors import DataLossError, KafkaLogError
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir import list_partition_again
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
    """The history as the core looks it up, batch by batch."""
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
        """The transactions of the segment `path`; None if its side files and those of later segments do not suffice."""
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
        """List the partition again when it is needed next."""
        self._log = self._known = None

    def listed(self, path: str, ahead: TransactionsAhead) -> PartitionLog:
        """The partition that the segment `path` lies in, as far as it reached when the read was planned.

        It is listed again and not carried along, because a split of each segment that named all later ones would make
        the plan grow with the square of their number.
        """
        directory = os.path.dirname(path)
        if self._log is None or self._directory != directory:
            self._directory, self._known = directory, None
            self._log = _as_planned(list_partition_again(directory), ahead)
        return self._log


class Lookahead:
    """What became of the transactions of one range, resolved window by window as it is read.

    `advance_to` alone moves it on. What `states` and `known_below` answer depends only on how far it has come.

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
        self._noted: TransactionHistory | None = None
        self._pass: HeaderPass | None = None
        self._is_past_range = False
        self._is_at_end = False
        self._steps = self._all_steps()
        self._aborted: list[tuple[int, int, int]] = []
        self._undecided: list[tuple[int, int, int]] = []

    def find(
        self, window: Scratch, position: int, start: int, stop: int, above: int, last: int
    ) -> tuple[TransactionStates, int]:
        """The states of the batches of a window at least, and the offset below which they hold; see `Decoder`."""
        self._begin()
        if self._pass is not None and not self._is_past_range:
            # The window's batches are followed where they lie in memory, so that they are not read again.
            self._pass.take(window, position, start, stop)
        self.advance_to(last, above)
        return self.states, self.known_below

    def advance_to(self, last: int, above: int) -> None:
        """Read headers until it is known what became of every batch up to offset `last`, or the log ends.

        What ended at or below offset `above` is forgotten: only batches above it are asked about from here on.
        """
        self._begin()
        while self.known_below <= last < MAX_OFFSET:
            self._is_at_end = next(self._steps, _END) is _END
        self._aborted = [each for each in (*self._aborted, *self._tracker.take_aborted()) if each[2] > above]
        self._undecided = [each for each in (*self._undecided, *self._tracker.take_undecided()) if each[2] > above]

    @property
    def known_below(self) -> int:
        """It is known what became of every batch below this offset."""
        return MAX_OFFSET if self._noted is not None or self._is_at_end else self._tracker.known_below

    @property
    def states(self) -> TransactionStates:
        """The states of the batches below `known_below` and above what is forgotten."""
        if self._noted is not None:
            return states_of(self._noted)
        return TransactionStates(self._aborted, self._tracker.open if self._is_at_end else (), self._undecided)

    def close(self) -> None:
        """Close what is open of later segments."""
        self._steps.close()

    def _begin(self) -> None:
        """Look into the side files; where they do not tell, headers are followed from the range's segment on."""
        if self._noted is not None or self._pass is not None:
            return
        history = until_files_stay(self._from_side_files, ())
        if history is not None:
            self._noted = history.within(self._each.span.least, self._below)
            return
        least, size = self._each.span.least, self._each.file_size
        self._pass = self._pass_over(self._source, least, self._ahead.bound, size, self._txn_index())

    def _from_side_files(self) -> TransactionHistory | None:
        try:
            return self._finder.from_side_files(self._each.path, self._ahead)
        except KafkaLogError:
            self._finder.forget()
            raise

    def _all_steps(self) -> Generator[None, None, None]:
        """Go through the headers of the range's segment and of those after it."""
        assert self._pass is not None
        yield from self._pass.steps()
        self._is_past_range = True
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
        # Not the error itself: it would make the reader look this range up again, which has not changed.
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
        # Segments after this range, up to the last wanted offset, are read as rows by other ranges.
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
