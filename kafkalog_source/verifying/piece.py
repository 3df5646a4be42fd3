"""Checks the batches of a part of a segment, and the index entries that refer to them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafkalog_source._core.indexes import IndexCheck
from kafkalog_source.errors import KafkaLogError, LogDirError
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.verifying.findings import Finding, Severity, of_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source._core.memory import Scratch
    from kafkalog_source._core.walk import Entries
    from kafkalog_source.logdir import SegmentFile
    from kafkalog_source.segment.checks.span_checker import SpanChecker, Taker
    from kafkalog_source.segment.damage.description import Damage
    from kafkalog_source.segment.span import Span
    from kafkalog_source.verifying.indexes import IndexFile
    from kafkalog_source.verifying.progress import Progress


class MovedError(Exception):
    """A file was replaced or removed after it was listed, as when a broker compacts or deletes."""


@dataclass(slots=True)
class Piece:
    """A part of a segment that one thread checks, and the results.

    Attributes
    ----------
    segment : SegmentFile
    span : Span
    pointed, timed : range
        The numbers of the entries of the offset index and the time index that refer to it.
    check : IndexCheck or None
        None if it could not be read.
    damage : list of Damage
    findings : list of Finding
    batches, records : int
    next_offset : int or None
        The offset after its last one, None if it ends with damage.
    """

    segment: SegmentFile
    span: Span
    pointed: range = range(0)
    timed: range = range(0)
    check: IndexCheck | None = None
    damage: list[Damage] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    batches: int = 0
    records: int = 0
    next_offset: int | None = None

    def run(
        self,
        checker: SpanChecker,
        source: LocalFile,
        offset_index: IndexFile | None,
        time_index: IndexFile | None,
        progress: Progress,
    ) -> None:
        """Check the piece and store the results."""
        check = _check(offset_index, self.pointed, time_index, self.timed)
        counter = _Counter(progress, self.span)
        takers: list[Taker] = [counter] if self.span.base_07 is not None else [check, counter]
        try:
            checked = checker.check(source, self.span, takers, self.damage.append)
        except KafkaLogError as error:
            self.findings.append(of_error(error, Severity.DAMAGE, source.path))
            return
        finally:
            counter.finish()
        self.check = check
        self.batches, self.records, self.next_offset = checked.batches, checked.records, checked.next_offset


def _check(offset_index: IndexFile | None, pointed: range, time_index: IndexFile | None, timed: range) -> IndexCheck:
    offsets: Sequence[int] = () if offset_index is None else offset_index.keys[pointed.start : pointed.stop]
    positions: Sequence[int] = () if offset_index is None else offset_index.values[pointed.start : pointed.stop]
    times: Sequence[int] = () if time_index is None else time_index.values[timed.start : timed.stop]
    return IndexCheck(offsets, positions, times)


class _Counter:
    """Reports the progress of reading."""

    def __init__(self, progress: Progress, span: Span) -> None:
        self._progress = progress
        self._reported = span.start
        self._end = span.end

    def take(self, window: Scratch, window_position: int, entries: Entries, start: int, stop: int) -> None:
        self._report(window_position + entries.walked)

    def finish(self) -> None:
        self._report(self._end)

    def _report(self, position: int) -> None:
        self._progress.add(position - self._reported)
        self._reported = position


def open_listed(segment: SegmentFile) -> LocalFile:
    """Open a segment and check that it is the file that was listed.

    Raises
    ------
    MovedError
        If it was replaced or removed.
    LogDirError
        If it cannot be opened.
    """
    try:
        source = LocalFile(segment.path)
    except LogDirError as error:
        if isinstance(error.__cause__, FileNotFoundError) and not os.path.lexists(segment.path):
            raise MovedError from error
        raise
    if source.inode != segment.inode:
        source.close()
        raise MovedError
    return source
