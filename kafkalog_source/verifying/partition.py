"""Checks one partition: its segments, and the gaps and files between them."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError, printable
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir.absent import remote_part
from kafkalog_source.logdir.access import Root
from kafkalog_source.verifying.findings import Finding, Severity, of_error
from kafkalog_source.verifying.piece import MovedError
from kafkalog_source.verifying.segment import SegmentCheck
from kafkalog_source.verifying.small_files import check_partition_files
from kafkalog_source.verifying.transactions import check_transactions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.segment.checks.span_checker import SpanChecker
    from kafkalog_source.verifying.piece import Piece
    from kafkalog_source.verifying.progress import Progress


@dataclass(slots=True)
class PartitionResult:
    """The result of checking one partition.

    Attributes
    ----------
    log : PartitionLog
    batches, records : int
        Valid batches and their records, including control records.
    end_offset : int or None
        The offset after the last one; None if damage makes it unknown.
    findings : list of Finding
    """

    log: PartitionLog
    batches: int = 0
    records: int = 0
    end_offset: int | None = None
    findings: list[Finding] = field(default_factory=list)

    def count(self, severity: Severity) -> int:
        """The number of findings of a severity."""
        return sum(finding.severity is severity for finding in self.findings)


class PartitionCheck:
    """Checks one partition, piece by piece.

    Parameters
    ----------
    log : PartitionLog
    follow_symlinks : bool
    cut : bool
        Whether to cut large segments into pieces for several threads.

    Attributes
    ----------
    has_moved : bool
        Whether a broker has replaced or removed files since they were listed.
    """

    def __init__(self, log: PartitionLog, follow_symlinks: bool, cut: bool) -> None:
        self.log = log
        self.has_moved = False
        self._root = Root(os.path.realpath(log.path), follow_symlinks)
        self._errors: list[Finding] = []
        last = log.segments[-1] if log.segments else None
        bounds = [segment.base_offset for segment in log.segments[1:]] + [MAX_OFFSET]
        self._segments = [
            SegmentCheck(segment, bound, segment is last, cut)
            for segment, bound in zip(log.segments, bounds, strict=False)
        ]
        self._left = sum(len(segment.pieces) for segment in self._segments)
        self._lock = threading.Lock()

    def pieces(self) -> Iterator[tuple[SegmentCheck, Piece]]:
        """The pieces, which may be checked in any order and by any thread."""
        return ((segment, piece) for segment in self._segments for piece in segment.pieces)

    def run(self, segment: SegmentCheck, piece: Piece, checker: SpanChecker, progress: Progress) -> bool:
        """Check a piece; True if it was the last one, after which `finish` is to be called."""
        try:
            if not self.has_moved:
                segment.run(piece, checker, progress)
        except MovedError:
            self.has_moved = True
        except KafkaLogError as error:
            self._errors.append(of_error(error, Severity.DAMAGE, segment.segment.path))
        with self._lock:
            self._left -= 1
            return self._left == 0

    def finish(self, checker: SpanChecker) -> PartitionResult:
        """Combine the results of the pieces and check the partition as a whole."""
        findings = [finding for segment in self._segments for finding in segment.judge()] + self._errors
        result = PartitionResult(self.log, findings=findings)
        result.batches = sum(piece.batches for _, piece in self.pieces())
        result.records = sum(piece.records for _, piece in self.pieces())
        if self._segments:
            last = self._segments[-1]
            whole = last.checks and not last.damage
            result.end_offset = last.next_offset if whole else None
        if not self.log.is_single_file:
            self._check_whole(findings, checker)
        return result

    def _check_whole(self, findings: list[Finding], checker: SpanChecker) -> None:
        """Add the findings that do not concern a single segment."""
        compacted = self.log.cleaned or any(self._has_gaps(segment) for segment in self._segments)
        findings += self._gaps(compacted)
        findings += self._absent()
        bases = {segment.base_offset for segment in self.log.segments}
        try:
            findings += check_transactions(self.log, self._segments, compacted)
            findings += check_partition_files(self.log.path, self._root, bases, checker)
        except MovedError:
            self.has_moved = True
        except KafkaLogError as error:
            findings.append(of_error(error, Severity.DAMAGE, self.log.path))
        for segment in self.log.segments:
            if segment.offset_index is None and not segment.is_07:
                problem = "has no offset index: a broker rebuilds it on startup"
                findings.append(Finding(Severity.NOTE, segment.path, problem))

    def _absent(self) -> Iterator[Finding]:
        """The findings for records of the partition that are not available to be checked."""
        log, remote = self.log, remote_part(self.log)
        if remote is not None:
            severity = Severity.UNCHECKED if remote.is_expected else Severity.NOTE
            yield Finding(
                severity,
                log.path,
                f"{remote.text}: they cannot be checked",
                found=f"{os.path.basename(log.segments[0].path)} as the first segment",
                first_offset=remote.first_offset,
                last_offset=remote.last_offset,
            )
        if log.packed is not None:
            count = "" if log.packed.count == 1 else f", as are {log.packed.count - 1} more segments"
            problem = f"is compressed{count}: it cannot be checked until it is unpacked ({log.packed.unpacker})"
            yield Finding(Severity.UNCHECKED, log.packed.first, problem)
        elif not log.segments:
            yield Finding(
                Severity.DAMAGE,
                log.path,
                "holds no segment that can be read",
                expected="files such as 00000000000000000000.log; a broker keeps at least one in each partition",
                is_absent=True,
            )

    def _has_gaps(self, segment: SegmentCheck) -> bool:
        return not segment.damage and any(check.has_gaps for check in segment.checks)

    def _gaps(self, compacted: bool) -> Iterator[Finding]:
        """The findings for offsets that are missing between two segments."""
        for each, following in pairwise(self._segments):
            end = each.next_offset
            if each.segment.is_07:
                end = each.segment.base_offset + each.segment.size
            if end is None or not each.checks or end >= following.segment.base_offset:
                continue
            yield Finding(
                Severity.NOTE if compacted else Severity.DAMAGE,
                each.segment.path,
                f"offsets are missing before the next segment: {_reason(each, compacted)}",
                each.segment.size,
                found=f"{printable(os.path.basename(following.segment.path))} as the next segment",
                expected=f"one that begins at offset {end}",
                first_offset=end,
                last_offset=following.segment.base_offset - 1,
                is_absent=True,
            )


def _reason(each: SegmentCheck, compacted: bool) -> str:
    """Why offsets are missing after a segment."""
    if each.segment.size == 0:
        return "this one is empty"
    return "compaction removed them, or a segment is missing" if compacted else "a segment is missing"
