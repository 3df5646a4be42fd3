"""``kafkalog verify``: check log directories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from kafkalog_source.cli.inspecting import inspecting_options
from kafkalog_source.cli.progress import progress_bar
from kafkalog_source.cli.text import complain, json_line, one_line, painted, table
from kafkalog_source.cli.verdict import verdict_lines
from kafkalog_source.errors import BAD_DATA, DONE, NOT_RUN, counted
from kafkalog_source.verifying import Finding, Severity, Verification, verify
from kafkalog_source.verifying.progress import Progress
from kafkalog_source.verifying.verdict import losses_found

if TYPE_CHECKING:
    from kafkalog_source.verifying.partition import PartitionResult

__all__ = ["run"]

_HEADS = ("TOPIC", "PARTITION", "SEGMENTS", "BYTES", "BATCHES", "RECORDS")
_COUNTED = {
    Severity.DAMAGE: "DAMAGE",
    Severity.MISLEADING: "MISLEADING",
    Severity.UNCHECKED: "UNCHECKED",
    Severity.NOTE: "NOTES",
}

_COLOURS = {
    Severity.DAMAGE: "red",
    Severity.MISLEADING: "yellow",
    Severity.UNCHECKED: "yellow",
    Severity.NOTE: "cyan",
}


def run(out: TextIO, paths: Sequence[str], given: Mapping[str, Any], *, as_json: bool, threads: int | None) -> int:
    """Write the table with its findings or the JSON object, and return the exit status."""
    options = inspecting_options(given, paths, "verify")
    progress = Progress()
    with progress_bar("verifying", lambda: (progress.done, progress.total)):
        found = verify(
            options.paths,
            wanted=options.inspects,
            follow_symlinks=options.follow_symlinks,
            largest_batch=options.max_decompressed_batch_bytes,
            threads=threads,
            progress=progress,
        )
    for warning in found.warnings:
        complain(f"warning: {warning}")
    losses = losses_found(found)
    if as_json:
        out.write(json_line({**found.to_dict(), "lost": [each.to_dict() for each in losses]}) + "\n")
    else:
        out.writelines(line + "\n" for line in (*_lines(out, found), *verdict_lines(found, losses, paths, given)))
    if not found.is_complete:
        return NOT_RUN
    return DONE if found.is_sound else BAD_DATA


def _lines(out: TextIO, found: Verification) -> Iterator[str]:
    findings = found.all_findings
    # The column UNCHECKED is omitted where it would hold only zeros, as in most log dirs.
    shown = [each for each in Severity if each is not Severity.UNCHECKED or _has_unchecked(findings)]
    heads = [*_HEADS, *(_COUNTED[each] for each in shown)]
    yield from table(heads, [_cells(each, shown) for each in found.partitions], frozenset(heads[1:]))
    yield from (painted(one_line(str(finding)), _COLOURS[finding.severity], out) for finding in findings)
    yield _summary(found, findings)


def _has_unchecked(findings: Sequence[Finding]) -> bool:
    return any(finding.severity is Severity.UNCHECKED for finding in findings)


def _cells(result: PartitionResult, shown: Sequence[Severity]) -> tuple[object, ...]:
    log = result.log
    return (
        log.topic if log.topic is not None else "-",
        log.partition if log.partition is not None else "-",
        len(log.segments),
        sum(segment.size for segment in log.segments),
        result.batches,
        result.records,
        *(result.count(severity) for severity in shown),
    )


def _summary(found: Verification, findings: Sequence[Finding]) -> str:
    counts = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    words = ", ".join(_counted(count, severity) for severity, count in counts.items() if count)
    verdict = "sound" if found.is_sound else "not sound"
    if not found.is_sound and not counts[Severity.DAMAGE] and not counts[Severity.MISLEADING]:
        verdict = "not fully checked"
    if not found.is_complete:
        denied = sum(finding.is_denied for finding in findings)
        verdict = f"not fully checked, permission denied for {counted(denied, 'file')}"
    totals = (
        counted(len(found.partitions), "partition"),
        counted(sum(len(each.log.segments) for each in found.partitions), "segment"),
        counted(sum(each.batches for each in found.partitions), "batch"),
        counted(sum(each.records for each in found.partitions), "record"),
    )
    return f"{verdict}: {', '.join(totals)}" + (f"; findings: {words}" if words else "")


def _counted(count: int, severity: Severity) -> str:
    """Format a number of findings; of the severities only a note has a plural."""
    return counted(count, "note") if severity is Severity.NOTE else f"{count} {severity.value}"
