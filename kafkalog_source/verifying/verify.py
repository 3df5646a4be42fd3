"""`verify`: the partitions that some paths hold, checked by several threads."""

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
    """What was checked and found.

    Attributes
    ----------
    partitions : list of PartitionResult
    findings : list of Finding
        Those that are no partition's: of log dirs, and of what could not even be listed.
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
        """Those of log dirs and those of partitions."""
        return [*self.findings, *(finding for each in self.partitions for finding in each.findings)]

    @property
    def is_sound(self) -> bool:
        """Whether there is nothing but notes."""
        return all(finding.severity is Severity.NOTE for finding in self.all_findings)

    @property
    def is_complete(self) -> bool:
        """Whether every file could be checked that the paths hold."""
        return not any(finding.is_denied for finding in self.all_findings)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
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
    """Check every batch and every file beside the segments.

    Parameters
    ----------
    paths : sequence of str
        Log dirs, partition directories, segments, or globs of these.
    wanted : callable, optional
        Asked with topic and partition about what lies in a log dir.
    follow_symlinks : bool, optional
    largest_batch : int, optional
        Most bytes that a batch may have, on disk and decompressed.
    threads : int, optional
        By default as many as there are cores.
    progress : Progress, optional
        Told how far it has come.

    Returns
    -------
    Verification

    Raises
    ------
    LogDirError, UnsupportedFormatError
        A path itself is missing, unreadable or holds nothing to check. What is wrong within it is a finding.
    """
    verification = Verification()
    bad: dict[str, Finding] = {}
    listing = list_logs(
        paths, wanted=wanted, follow_symlinks=follow_symlinks, on_bad=lambda error: _note_bad(bad, error)
    )
    crew = _Crew(follow_symlinks, largest_batch, threads or os.cpu_count() or 1, progress or Progress())
    said = _check_log_dirs(listing, follow_symlinks, crew.checker, verification)
    verification.partitions = crew.run(listing.partitions)
    for result in verification.partitions:
        result.findings += _check_said(result, said)
    seen = {finding.file for finding in verification.findings}
    verification.findings += [finding for finding in bad.values() if finding.file not in seen]
    _note_foreign(listing, verification)
    verification.skipped = [(each.path, each.reason) for each in listing.skipped]
    # A checkpoint that the listing warns of is a finding here.
    verification.warnings = [
        warning for warning in listing.warnings if not any(printable(file) in warning for file in seen)
    ]
    return verification


def _note_bad(bad: dict[str, Finding], error: KafkaLogError) -> None:
    bad.setdefault(str(error), of_error(error, Severity.DAMAGE, ""))


def _note_foreign(listing: Listing, verification: Verification) -> None:
    """Name the files that are not Kafka's, with the partition in whose directory they lie."""
    results = {result.log.path: result for result in verification.partitions}
    told = {log.packed.first for log in listing.partitions if log.packed is not None}
    for each in listing.skipped:
        if each.is_foreign and each.path not in told:
            result = results.get(each.path) or results.get(os.path.dirname(each.path))
            findings = verification.findings if result is None else result.findings
            findings.append(Finding(Severity.NOTE, each.path, each.reason))


def _check_log_dirs(
    listing: Listing, follow_symlinks: bool, checker: SpanChecker, verification: Verification
) -> dict[str, dict[str, Offsets]]:
    """Check the log dirs that the partitions lie in; gives what their checkpoints say."""
    said = {}
    for path in dict.fromkeys(os.path.dirname(log.path) for log in listing.partitions if not log.is_single_file):
        root = Root(os.path.realpath(path), follow_symlinks)
        try:
            findings, said[path] = check_log_dir_files(path, root, checker)
        except KafkaLogError as error:
            findings = [of_error(error, Severity.MISLEADING, path)]
        verification.findings += findings
    return said


def _check_said(result: PartitionResult, said: dict[str, dict[str, Offsets]]) -> list[Finding]:
    """Compare what a log dir's checkpoints say of a partition with where its log ends."""
    log, end = result.log, result.end_offset
    if log.is_single_file or end is None or log.topic is None or log.partition is None:
        return []
    log_dir = os.path.dirname(log.path)
    findings = []
    for name, offsets in sorted(said.get(log_dir, {}).items()):
        offset = offsets.get((log.topic, log.partition))
        if offset is not None and offset > end and name != "cleaner-offset-checkpoint":
            findings.append(
                Finding(
                    Severity.MISLEADING,
                    os.path.join(log_dir, name),
                    f"the checkpoint names an offset behind the end of {log.topic}-{log.partition}"
                    + (": a broker would delete all its segments" if name == _LOG_START else ""),
                    found=f"offset {offset}",
                    expected=f"{end} at most",
                )
            )
    return findings


class _Crew:
    """Threads that check pieces, each with memory of its own."""

    def __init__(self, follow_symlinks: bool, largest_batch: int, threads: int, progress: Progress) -> None:
        self._follow_symlinks = follow_symlinks
        self._threads = threads
        self._progress = progress
        self._own = ThreadChecker(largest_batch)
        self._stopped = False

    @property
    def checker(self) -> SpanChecker:
        """The one of the thread that asks."""
        return self._own.checker

    def run(self, logs: Sequence[PartitionLog]) -> list[PartitionResult]:
        """Check partitions; the results have their order."""
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
            results[number] = self._settled(check, check.finish(self.checker))

    def _settled(self, check: PartitionCheck, result: PartitionResult) -> PartitionResult:
        """Check a partition again, from a new listing, as long as a broker moves its files meanwhile."""
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
        problem = "files come and go while they are being checked: verify a snapshot of the disk"
        result.findings.append(Finding(Severity.NOTE, check.log.path, problem))
        return result
