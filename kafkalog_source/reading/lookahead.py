"""Transactions found out by a task, when it meets the first batch of one.

A batch belongs to the next marker of its producer, so the headers from that
batch on tell, until every transaction of the range has ended. Where nothing is
transactional nothing is read twice.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_source._core.transactions import TransactionStates
from kafkalog_source.errors import DataLossError
from kafkalog_source.logdir import list_logs
from kafkalog_source.reading.partition_offsets import MAX_OFFSET, PartitionOffsets
from kafkalog_source.reading.splits import TransactionHistory, TransactionsAhead
from kafkalog_source.reading.transactions import PartitionTransactions, passes_over_damage
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.transactions import HeaderPass, make_tracker

if TYPE_CHECKING:
    from kafkalog_source._core.transactions import TransactionTracker
    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.reading.options import ReadOptions
    from kafkalog_source.reading.splits import SplitRange


class TransactionFinder:
    """Finds the transactions of one range after another; each reading thread has its own.

    Attributes
    ----------
    bytes_read : int
        Of later segments and side files; of the range's own segment the source counts.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._on_damage = passes_over_damage(options)
        self._directory: str | None = None
        self._log: PartitionLog | None = None
        self._known: PartitionTransactions | None = None
        self.bytes_read = 0

    def find(self, source: LocalFile, each: SplitRange, position: int) -> TransactionStates:
        """The states of all transactional batches of the range from `position` on, where the first of them is."""
        ahead = each.transactions
        assert isinstance(ahead, TransactionsAhead)
        below = min(each.high, each.span.bound)
        history = self._from_side_files(each.path, ahead)
        if history is None:
            history = self._from_headers(source, each, ahead, position, below)
        history = history.within(each.span.least, below)
        return TransactionStates(history.aborted, history.open)

    def _from_side_files(self, path: str, ahead: TransactionsAhead) -> TransactionHistory | None:
        if ahead.lone or not ahead.indexed:
            return None
        log = self._listed(path, ahead)
        numbers = [number for number, each in enumerate(log.segments) if each.path == path]
        if not numbers:
            return None
        if self._known is None:
            self._known = PartitionTransactions(PartitionOffsets(log), self._options)
        return self._known.of_segment(numbers[0])

    def _from_headers(
        self, source: LocalFile, each: SplitRange, ahead: TransactionsAhead, position: int, below: int
    ) -> TransactionHistory:
        tracker = make_tracker(below=below, verify_checksums=self._options.verify_checksums)
        is_last = ahead.base_offset == ahead.last_base_offset
        HeaderPass(
            source,
            tracker,
            least=each.span.least,
            bound=ahead.bound,
            end=each.file_size,
            is_last=is_last,
            on_damage=self._on_damage,
        ).run(position)
        if not (is_last or ahead.lone or tracker.is_settled):
            self._follow(tracker, self._listed(each.path, ahead), ahead.base_offset)
        return TransactionHistory(tracker.aborted, tracker.open)

    def _follow(self, tracker: TransactionTracker, log: PartitionLog, behind: int) -> None:
        """Take the tracker through the segments that begin above offset `behind`, as far as it needs."""
        for segment, place in zip(log.segments, PartitionOffsets(log).places(), strict=True):
            if place.least <= behind:
                continue
            with LocalFile(segment.path) as source:
                HeaderPass(
                    source,
                    tracker,
                    least=place.least,
                    bound=place.bound,
                    end=segment.size,
                    is_last=place.bound == MAX_OFFSET,
                    on_damage=self._on_damage,
                ).run()
                self.bytes_read += source.bytes_read
            if tracker.is_settled:
                return

    def _listed(self, path: str, ahead: TransactionsAhead) -> PartitionLog:
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


def _as_planned(log: PartitionLog, ahead: TransactionsAhead) -> PartitionLog:
    segments = [each for each in log.segments if each.base_offset <= ahead.last_base_offset]
    if not segments or segments[-1].base_offset != ahead.last_base_offset or segments[-1].size < ahead.last_size:
        raise DataLossError(
            "the partition no longer reaches as far as when the read was planned",
            file=log.path,
            expected=f"a segment of base offset {ahead.last_base_offset} with {ahead.last_size} bytes",
            remedy="Something cut or replaced it meanwhile: read again, or read a snapshot of the directory",
        )
    segments[-1] = replace(segments[-1], size=ahead.last_size)
    return replace(log, segments=tuple(segments))
