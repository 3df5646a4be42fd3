"""``.txnindex``: what was aborted according to the index, and according to the batches and markers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kafkalog_source.segment.side_file import SideFileError, read_side_file
from kafkalog_source.segment.transactions import HeaderPass, make_tracker
from kafkalog_source.segment.txn_index import parse_txn_index
from kafkalog_source.verifying.findings import Finding, Severity
from kafkalog_source.verifying.piece import open_listed
from kafkalog_source.verifying.segment import MAX_OFFSET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source.logdir import PartitionLog, SegmentFile
    from kafkalog_source.verifying.segment import SegmentCheck

_ATTEMPTS = 3
_PAUSE_SECONDS = 0.1

Aborted = tuple[int, int, int]
"""Producer id, first offset and the marker's."""


def check_transactions(log: PartitionLog, segments: Sequence[SegmentCheck], compacted: bool) -> list[Finding]:
    """Compare the transaction indexes of a partition with its batches; damaged ones allow only to read the indexes.

    Parameters
    ----------
    log : PartitionLog
    segments : sequence of SegmentCheck
        Judged.
    compacted : bool
        Whether batches of aborted transactions may have been cleaned away.
    """
    indexed = any(segment.txn_index is not None for segment in log.segments)
    if not indexed and not any(check.transactional for segment in segments for check in segment.checks):
        return []
    if any(segment.damage or len(segment.checks) < len(segment.pieces) for segment in segments):
        return [finding for segment in segments for finding in _read(segment)[1]]
    aborted, end = _aborted(segments)
    findings: list[Finding] = []
    for attempt in range(_ATTEMPTS):
        # A broker writes the marker first and the index after it.
        time.sleep(attempt * _PAUSE_SECONDS)
        findings = _compare(log, segments, aborted, end, compacted)
        if not findings:
            break
    return findings


def _aborted(segments: Sequence[SegmentCheck]) -> tuple[list[Aborted], int]:
    """What the batches say was aborted, and the offset at which they end."""
    tracker = make_tracker()
    for each in segments:
        with open_listed(each.segment) as source:
            HeaderPass(
                source,
                tracker,
                least=each.segment.base_offset,
                bound=each.bound,
                end=each.pieces[-1].span.end,
                is_last=each is segments[-1],
                on_damage=lambda _: None,
            ).run()
    return list(tracker.aborted), tracker.last_offset + 1


def _read(each: SegmentCheck) -> tuple[list[Aborted], list[Finding]]:
    path = each.segment.txn_index
    if path is None:
        return [], []
    try:
        entries = parse_txn_index(read_side_file(path), each.segment.base_offset, each.bound)
    except SideFileError as error:
        return [], [Finding(Severity.MISLEADING, path, f"the transaction index is damaged: {error}")]
    return [(entry.producer_id, entry.first_offset, entry.last_offset) for entry in entries], []


def _compare(
    log: PartitionLog, segments: Sequence[SegmentCheck], aborted: Sequence[Aborted], end: int, compacted: bool
) -> list[Finding]:
    findings: list[Finding] = []
    for each in segments:
        entries, wrong = _read(each)
        findings += wrong
        if wrong:
            continue
        least, bound = each.segment.base_offset, each.bound if each.bound < MAX_OFFSET else end
        known = {entry for entry in entries if entry[2] < end}
        actual = {entry for entry in aborted if least <= entry[2] < bound}
        findings += _missing(each.segment, sorted(actual - known, key=lambda entry: entry[2]))
        if not compacted:
            start = log.segments[0].base_offset
            false = [entry for entry in known - actual if entry[1] >= start]
            findings += _false(each.segment, sorted(false, key=lambda entry: entry[2]))
    return findings


def _missing(segment: SegmentFile, entries: Sequence[Aborted]) -> list[Finding]:
    if not entries:
        return []
    producer_id, first, last = entries[0]
    where = segment.txn_index or segment.path.replace(".log", ".txnindex")
    return [
        Finding(
            Severity.MISLEADING,
            where,
            "the transaction index leaves out aborted transactions, whose records a broker would serve as committed",
            found=f"{len(entries)} left out, the first of producer {producer_id}",
            expected="an entry for every abort marker in the segment",
            first_offset=first,
            last_offset=last,
        )
    ]


def _false(segment: SegmentFile, entries: Sequence[Aborted]) -> list[Finding]:
    if not entries or segment.txn_index is None:
        return []
    producer_id, first, last = entries[0]
    return [
        Finding(
            Severity.MISLEADING,
            segment.txn_index,
            "the transaction index names transactions as aborted that the batches do not",
            found=f"{len(entries)} such, the first of producer {producer_id}",
            expected="transactions that an abort marker ends",
            first_offset=first,
            last_offset=last,
        )
    ]
