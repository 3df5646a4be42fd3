"""`verify`: checks the partitions in some paths with several threads."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kafkalog_source.codecs import DEFAULT_LIMIT
from kafkalog_source.errors import KafkaLogError, printable
from kafkalog_source.logdir import list_logs
from kafkalog_source.logdir.access import Root
from kafkalog_source.segment.checks.span_checker import ThreadChecker
from kafkalog_source.verifying.findings import Finding, Severity, of_error
from kafkalog_source.verifying.partition import PartitionCheck, PartitionResult
from kafkalog_source.verifying.progress import Progress
from kafkalog_source.verifying.small_files import check_log_dir_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kafkalog_source.logdir import Listing, PartitionLog
    from kafkalog_source.segment.checks.span_checker import SpanChecker
    from kafkalog_source.verifying.piece import Piece
    from kafkalog_source.verifying.segment import SegmentCheck
    from kafkalog_source.verifying.small_files import Offsets

_ATTEMPTS = 3
_LOG_START = "log-start-offset-checkpoint"


@dataclass(slots=True)
class Verification:
    """The result of `verify`.

    Attributes
    ----------
    partitions : list of PartitionResult
    findings : list of Finding
        Findings outside partitions: in log dirs, and for files that could not be listed.
    skipped : list of (str, str)
        Paths that were left out, and why.
    warnings : list of str
    """

    partitions: list[PartitionResult] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def all_findings(self) -> list[Finding]:
        """The findings of log dirs and of all partitions."""
        return [*self.findings, *(finding for each in self.partitions for finding in each.findings)]

    @property
    def is_sound(self) -> bool:
        """Whether all findings are notes."""
        return all(finding.severity is Severity.NOTE for finding in self.all_findings)

    @property
    def is_complete(self) -> bool:
        """Whether every file in the paths could be checked."""
        return not any(finding.is_denied for finding in self.all_findings)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values."""
        return {
            "sound": self.is_sound,
            "complete": self.is_complete,
            "partitions": [_plain(each) for each in self.partitions],
            "findings": [finding.to_dict() for finding in self.findings],
            "skipped": [{"path": path, "reason": reason} for path, reason in self.skipped],
            "warnings": list(self.warnings),
        }


def _plain(result: PartitionResult) -> dict[str, Any]:
    return {
        "topic": result.log.topic,
        "partition": result.log.partition,
        "path": result.log.path,
        "segments": len(result.log.segments),
        "bytes": sum(segment.size for segment in result.log.segments),
        "batches": result.batches,
        "records": result.records,
        "endOffset": result.end_offset,
        "findings": [finding.to_dict() for finding in result.findings],
    }


def verify(
    paths: Sequence[str],
    *,
    wanted: Callable[[str, int], bool] = lambda topic, partition: True,
    follow_symlinks: bool = False,
    largest_batch: int = DEFAULT_LIMIT,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Check every batch, and every other file that a broker keeps.

    Parameters
    ----------
    paths : sequence of str
        Log dirs, partition directories, segments, or globs of these.
    wanted : callable, optional
        Called with topic and partition for each partition directory in a log dir.
    follow_symlinks : bool, optional
    largest_batch : int, optional
        Maximum size of a batch in bytes, both on disk and decompressed.
    threads : int, optional
        By default the number of cores.
    progress : Progress, optional
        Receives the number of bytes checked.

    Returns
    -------
    Verification

    Raises
    ------
    LogDirError, UnsupportedFormatError
        If a path itself is missing, unreadable or holds nothing to check. Problems inside it are findings.
    """
    verification = Verification()
    bad: dict[str, Finding] = {}
    listing = list_logs(
        paths, wanted=wanted, follow_symlinks=follow_symlinks, on_bad=lambda error: _note_bad(bad, error)
    )
    pool = _CheckPool(follow_symlinks, largest_batch, threads or os.cpu_count() or 1, progress or Progress())
    checkpoints = _check_log_dirs(listing, follow_symlinks, pool.checker, verification)
    verification.partitions = pool.run(listing.partitions)
    for result in verification.partitions:
        result.findings += _check_checkpoints(result, checkpoints)
    seen = {finding.file for finding in verification.findings}
    verification.findings += [finding for finding in bad.values() if finding.file not in seen]
    _note_foreign(listing, verification)
    verification.skipped = [(each.path, each.reason) for each in listing.skipped]
    # A damaged checkpoint is a finding here, so that the warning of the listing is left out.
    verification.warnings = [
        warning for warning in listing.warnings if not any(printable(file) in warning for file in seen)
    ]
    return verification


def _note_bad(bad: dict[str, Finding], error: KafkaLogError) -> None:
    bad.setdefault(str(error), of_error(error, Severity.DAMAGE, ""))


def _note_foreign(listing: Listing, verification: Verification) -> None:
    """Add a note for each file that is not Kafka's, to the partition in whose directory it is."""
    results = {result.log.path: result for result in verification.partitions}
    reported = {log.packed.first for log in listing.partitions if log.packed is not None}
    for each in listing.skipped:
        if each.is_foreign and each.path not in reported:
            result = results.get(each.path) or results.get(os.path.dirname(each.path))
            findings = verification.findings if result is None else result.findings
            findings.append(Finding(Severity.NOTE, each.path, each.reason))


def _check_log_dirs(
    listing: Listing, follow_symlinks: bool, checker: SpanChecker, verification: Verification
) -> dict[str, dict[str, Offsets]]:
    """Check the log dirs of the partitions; return the offsets in their checkpoints, by log dir and file name."""
    checkpoints = {}
    for path in dict.fromkeys(os.path.dirname(log.path) for log in listing.partitions if not log.is_single_file):
        root = Root(os.path.realpath(path), follow_symlinks)
        try:
            findings, checkpoints[path] = check_log_dir_files(path, root, checker)
        except KafkaLogError as error:
            findings = [of_error(error, Severity.MISLEADING, path)]
        verification.findings += findings
    return checkpoints


def _check_checkpoints(result: PartitionResult, checkpoints: dict[str, dict[str, Offsets]]) -> list[Finding]:
    """Compare a partition's offsets in the checkpoints of its log dir with the end of its log."""
    log, end = result.log, result.end_offset
    if log.is_single_file or end is None or log.topic is None or log.partition is None:
        return []
    log_dir = os.path.dirname(log.path)
    findings = []
    for name, offsets in sorted(checkpoints.get(log_dir, {}).items()):
        offset = offsets.get((log.topic, log.partition))
        if offset is not None and offset > end and name != "cleaner-offset-checkpoint":
            findings.append(
                Finding(
                    Severity.MISLEADING,
                    os.path.join(log_dir, name),
                    f"the checkpoint names an offset after the end of {log.topic}-{log.partition}"
                    + (": a broker would delete all its segments" if name == _LOG_START else ""),
                    found=f"offset {offset}",
                    expected=f"at most {end}",
                )
            )
    return findings


class _CheckPool:
    """A pool of threads that check pieces, each with its own buffers."""

    def __init__(self, follow_symlinks: bool, largest_batch: int, threads: int, progress: Progress) -> None:
        self._follow_symlinks = follow_symlinks
        self._threads = threads
        self._progress = progress
        self._own = ThreadChecker(largest_batch)
        self._stopped = False

    @property
    def checker(self) -> SpanChecker:
        """The checker of the calling thread."""
        return self._own.checker

    def run(self, logs: Sequence[PartitionLog]) -> list[PartitionResult]:
        """Check partitions; the results are in the same order."""
        self._progress.expect(sum(segment.size for log in logs for segment in log.segments))
        results: dict[int, PartitionResult] = {}
        with ThreadPoolExecutor(self._threads) as pool:
            futures = []
            try:
                for number, log in enumerate(logs):
                    check = PartitionCheck(log, self._follow_symlinks, self._threads > 1)
                    pieces = list(check.pieces())
                    if not pieces:
                        results[number] = check.finish(self.checker)
                    futures += [pool.submit(self._work, check, *each, number, results) for each in pieces]
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                self._stopped = True
                pool.shutdown(cancel_futures=True)
            for future in futures:
                future.result()
        return [results[number] for number in range(len(logs))]

    def _work(
        self,
        check: PartitionCheck,
        segment: SegmentCheck,
        piece: Piece,
        number: int,
        results: dict[int, PartitionResult],
    ) -> None:
        if check.run(segment, piece, self.checker, self._progress):
            results[number] = self._check_again(check, check.finish(self.checker))

    def _check_again(self, check: PartitionCheck, result: PartitionResult) -> PartitionResult:
        """Repeat the check of a partition from a new listing while a broker moves its files."""
        for _ in range(_ATTEMPTS):
            if not check.has_moved:
                return result
            try:
                listing = list_logs([check.log.path], wanted=lambda *_: True, follow_symlinks=self._follow_symlinks)
            except KafkaLogError as error:
                result.findings = [of_error(error, Severity.NOTE, check.log.path)]
                return result
            check = PartitionCheck(listing.partitions[0], self._follow_symlinks, False)
            for segment, piece in check.pieces():
                check.run(segment, piece, self.checker, Progress())
            result = check.finish(self.checker)
        problem = f"files were replaced or removed in each of {_ATTEMPTS} checks: verify a snapshot of the disk"
        result.findings.append(Finding(Severity.NOTE, check.log.path, problem))
        return result
