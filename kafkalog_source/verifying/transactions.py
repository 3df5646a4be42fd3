"""Checks ``.txnindex``: compares its aborted transactions with the batches and markers."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from kafkalog_source.errors import counted
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file
from kafkalog_source.segment.side_files.txn_index import parse_txn_index
from kafkalog_source.segment.transaction_headers import HeaderPass, make_tracker
from kafkalog_source.verifying.findings import Finding, Severity
from kafkalog_source.verifying.piece import open_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.verifying.segment import SegmentCheck

_ATTEMPTS = 3
_PAUSE_SECONDS = 0.1
_LEFT_OUT = "the transaction index lacks aborted transactions, whose records a broker would serve as committed"
_BEGIN_ELSEWHERE = "the transaction index has aborted transactions whose first offset is not that of their batches"
_NOT_ABORTED = "the transaction index has transactions that no abort marker ends"

Aborted = tuple[int, int, int]
"""Producer id, first offset and the marker's offset."""
End = tuple[int, int]
"""Producer id and the marker's offset, which identify a transaction even if some of its batches are gone."""


def check_transactions(log: PartitionLog, segments: Sequence[SegmentCheck], compacted: bool) -> list[Finding]:
    """Compare the transaction indexes of a partition with its batches.

    If batches are damaged or missing, the indexes are only parsed, since markers may be lost.

    Parameters
    ----------
    log : PartitionLog
    segments : sequence of SegmentCheck
        After `SegmentCheck.judge`.
    compacted : bool
        Whether the log cleaner may have removed batches of aborted transactions.
    """
    indexed = any(segment.txn_index is not None for segment in log.segments)
    if not indexed and not any(check.transactional for segment in segments for check in segment.checks):
        return []
    if _lacks_markers(segments, compacted):
        return [finding for segment in segments for finding in _read(segment)[1]]
    batches = _Batches(segments, compacted)
    findings: list[Finding] = []
    for attempt in range(_ATTEMPTS):
        # A running broker appends the marker before the index entry, so that a difference may disappear.
        time.sleep(attempt * _PAUSE_SECONDS)
        findings = batches.compare([_read(each) for each in segments])
        if not findings:
            break
    return findings


def _lacks_markers(segments: Sequence[SegmentCheck], compacted: bool) -> bool:
    """Whether markers may be lost, in damage or in a missing segment."""
    if any(segment.damage or len(segment.checks) < len(segment.pieces) for segment in segments):
        return True
    return not compacted and any(
        each.next_offset != following.segment.base_offset for each, following in pairwise(segments)
    )


class _Batches:
    """The aborted transactions according to the batches and markers of a partition.

    Of a transaction that began in a segment which retention or deleteRecords has removed since, only its last batches
    or its marker are on disk, and only the index has its first offset. So the pass over the batches starts with such
    index entries as open transactions: the next marker of each producer has to be an abort marker.
    """

    def __init__(self, segments: Sequence[SegmentCheck], compacted: bool) -> None:
        self._segments = segments
        self._compacted = compacted
        self._start = segments[0].segment.base_offset
        self._begun: tuple[tuple[int, int], ...] | None = None
        self._aborted: list[Aborted] = []
        self._end = 0

    def compare(self, indexes: Sequence[tuple[list[Aborted], list[Finding]]]) -> list[Finding]:
        """Compare the indexes of the segments, as they were read just now, with the batches."""
        begun = self._begun_before([entry for entries, _ in indexes for entry in entries])
        if begun != self._begun:
            self._begun = begun
            self._aborted, self._end = _aborted(self._segments, begun)
        findings: list[Finding] = []
        for each, (entries, wrong) in zip(self._segments, indexes, strict=True):
            findings += wrong or self._compare_segment(each, entries)
        return findings

    def _begun_before(self, entries: Sequence[Aborted]) -> tuple[tuple[int, int], ...]:
        """Producer id and first offset of each producer's first transaction that began before the first segment.

        By the indexes. Empty for a compacted log, in which the marker of such a transaction may have been removed.
        """
        if self._compacted:
            return ()
        before: dict[int, int] = {}
        for producer_id, first, _ in entries:
            if first < self._start:
                before.setdefault(producer_id, first)
        return tuple(sorted(before.items()))

    def _compare_segment(self, each: SegmentCheck, entries: Sequence[Aborted]) -> list[Finding]:
        least, bound = each.segment.base_offset, each.bound if each.bound < MAX_OFFSET else self._end
        noted: dict[End, int] = {(producer_id, last): first for producer_id, first, last in entries if last < self._end}
        actual: dict[End, int] = {
            (producer_id, last): first for producer_id, first, last in self._aborted if least <= last < bound
        }
        findings = []
        if missing := _in_order(actual.keys() - noted):
            expected = "an entry for every abort marker in the segment"
            findings.append(_finding(each, _LEFT_OUT, missing, actual[missing[0]], expected))
        common = _in_order(actual.keys() & noted)
        if wrong := [key for key in common if not self._may_begin(noted[key], actual[key])]:
            expected = f"first offset {actual[wrong[0]]}"
            finding = _finding(each, _BEGIN_ELSEWHERE, wrong, noted[wrong[0]], expected)
            findings.append(replace(finding, first_offset=min(noted[wrong[0]], actual[wrong[0]])))
        if (false := _in_order(noted.keys() - actual)) and not self._compacted:
            expected = "transactions that an abort marker ends"
            findings.append(_finding(each, _NOT_ABORTED, false, noted[false[0]], expected))
        return findings

    def _may_begin(self, noted: int, actual: int) -> bool:
        """Whether a transaction may have begun at the offset in the index, given where its batches begin.

        In a compacted log its first batches may have been removed.
        """
        if self._compacted:
            return noted <= actual
        # An actual first offset below the first segment comes from another entry of the index, which is to blame.
        return noted == actual or actual < self._start


def _in_order(keys: Iterable[End]) -> list[End]:
    return sorted(keys, key=lambda key: key[1])


def _aborted(segments: Sequence[SegmentCheck], begun: Iterable[tuple[int, int]]) -> tuple[list[Aborted], int]:
    """The aborted transactions by the batches, given those open before them, and the offset after the last batch."""
    tracker = make_tracker(begun)
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


def _finding(each: SegmentCheck, problem: str, ends: Sequence[End], first: int, expected: str) -> Finding:
    """The finding for some transactions, the first of which begins at offset `first`."""
    producer_id, last = ends[0]
    return Finding(
        Severity.MISLEADING,
        each.segment.txn_index or each.segment.path.replace(".log", ".txnindex"),
        problem,
        found=f"{counted(len(ends), 'transaction')}, the first of producer {producer_id} with first offset {first}",
        expected=expected,
        first_offset=first,
        last_offset=last,
    )
