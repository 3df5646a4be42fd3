"""``.txnindex``: what was aborted according to the index, and according to the batches and markers."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.side_files.side_file import SideFileError, read_side_file
from kafkalog_source.segment.side_files.txn_index import parse_txn_index
from kafkalog_source.segment.transaction_headers import HeaderPass, make_tracker
from kafkalog_source.verifying.findings import Finding, Severity
from kafkalog_source.verifying.piece import open_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kafkalog_source.logdir import PartitionLog, SegmentFile
    from kafkalog_source.verifying.segment import SegmentCheck

_ATTEMPTS = 3
_PAUSE_SECONDS = 0.1

Aborted = tuple[int, int, int]
"""Producer id, first offset and the marker's."""
End = tuple[int, int]
"""Producer id and the marker's offset: one transaction of a partition, whatever is left of its batches."""


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
    if _lacks_markers(segments, compacted):
        return [finding for segment in segments for finding in _read(segment)[1]]
    batches = _Batches(segments, compacted)
    findings: list[Finding] = []
    for attempt in range(_ATTEMPTS):
        # A broker writes the marker first and the index after it.
        time.sleep(attempt * _PAUSE_SECONDS)
        findings = batches.compare([_read(each) for each in segments])
        if not findings:
            break
    return findings


def _lacks_markers(segments: Sequence[SegmentCheck], compacted: bool) -> bool:
    """Whether damage, or segments that are missing, may have held markers, which tell what batches belong together."""
    if any(segment.damage or len(segment.checks) < len(segment.pieces) for segment in segments):
        return True
    return not compacted and any(
        each.next_offset != following.segment.base_offset for each, following in pairwise(segments)
    )


class _Batches:
    """What the batches of a partition say was aborted.

    Of a transaction that began in a segment that retention or deleteRecords took away since, the rest of the batches
    is on disk, or the marker alone; where it began only the index knows. So its entries are what the pass over the
    batches starts with: an abort marker has to end each of them, and nothing before it.
    """

    def __init__(self, segments: Sequence[SegmentCheck], compacted: bool) -> None:
        self._segments = segments
        self._compacted = compacted
        self._start = segments[0].segment.base_offset
        self._begun: tuple[tuple[int, int], ...] | None = None
        self._aborted: list[Aborted] = []
        self._end = 0

    def compare(self, indexes: Sequence[tuple[list[Aborted], list[Finding]]]) -> list[Finding]:
        """What is wrong with the indexes of the segments, which were read just now."""
        begun = self._begun_before([entry for entries, _ in indexes for entry in entries])
        if begun != self._begun:
            self._begun = begun
            self._aborted, self._end = _aborted(self._segments, begun)
        findings: list[Finding] = []
        for each, (entries, wrong) in zip(self._segments, indexes, strict=True):
            findings += wrong or self._compare_segment(each, entries)
        return findings

    def _begun_before(self, entries: Sequence[Aborted]) -> tuple[tuple[int, int], ...]:
        """Producer id and first offset of what the indexes say began before the first segment; each producer's first.

        Compaction removes markers too, so that what began there need not end.
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
        findings = _missing(each.segment, [(key[0], actual[key], key[1]) for key in _in_order(actual.keys() - noted)])
        common = _in_order(actual.keys() & noted)
        wrong = [(key[0], noted[key], key[1]) for key in common if not self._may_begin(noted[key], actual[key])]
        findings += _misplaced(each.segment, wrong, {key: actual[key] for key in common})
        if not self._compacted:
            findings += _false(each.segment, [(key[0], noted[key], key[1]) for key in _in_order(noted.keys() - actual)])
        return findings

    def _may_begin(self, noted: int, actual: int) -> bool:
        """Whether a transaction may have begun where the index says; its first batches may be cleaned away."""
        if self._compacted:
            return noted <= actual
        # What another entry lets begin before the first segment is that entry's fault.
        return noted == actual or actual < self._start


def _in_order(keys: Iterable[End]) -> list[End]:
    return sorted(keys, key=lambda key: key[1])


def _aborted(segments: Sequence[SegmentCheck], begun: Iterable[tuple[int, int]]) -> tuple[list[Aborted], int]:
    """What the batches say was aborted, given what was open before them, and the offset at which they end."""
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


def _misplaced(segment: SegmentFile, entries: Sequence[Aborted], actual: Mapping[End, int]) -> list[Finding]:
    if not entries or segment.txn_index is None:
        return []
    producer_id, first, last = entries[0]
    return [
        Finding(
            Severity.MISLEADING,
            segment.txn_index,
            "the transaction index lets aborted transactions begin elsewhere than their batches do",
            found=f"{len(entries)} such, the first of producer {producer_id} with first offset {first}",
            expected=f"first offset {actual[producer_id, last]}",
            first_offset=min(first, actual[producer_id, last]),
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
