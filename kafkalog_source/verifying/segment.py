"""Checks one segment: cut into pieces for several threads, whose results are then combined."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.seek import Seeker, SegmentPlace
from kafkalog_source.segment.span import Span
from kafkalog_source.verifying.findings import Finding, of_damage
from kafkalog_source.verifying.indexes import (
    IndexFile,
    Regions,
    judge_offsets,
    judge_times,
    read_offset_index,
    read_time_index,
)
from kafkalog_source.verifying.piece import Piece, open_listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_source._core.indexes import IndexCheck
    from kafkalog_source.logdir import SegmentFile
    from kafkalog_source.segment.checks.span_checker import SpanChecker
    from kafkalog_source.segment.damage.description import Damage
    from kafkalog_source.verifying.progress import Progress

PIECE_SIZE = 32 << 20
"""Approximate size of the pieces of large segments, in bytes."""


class SegmentCheck:
    """Checks one segment.

    Parameters
    ----------
    segment : SegmentFile
    bound : int
        Its offsets are below this one.
    is_last : bool
        Whether it is the last segment of its partition, or given by its own path.
    cut : bool
        Whether to cut it into pieces for several threads if it is large.

    Attributes
    ----------
    pieces : list of Piece
    damage : list of Damage
        Of all pieces, after `judge`.
    """

    def __init__(self, segment: SegmentFile, bound: int, is_last: bool, cut: bool) -> None:
        self.segment = segment
        self.bound = bound
        self.damage: list[Damage] = []
        self._is_last = is_last
        self._offset_index: IndexFile | None = None
        self._time_index: IndexFile | None = None
        span = Span(
            0,
            segment.size,
            segment.base_offset,
            bound,
            MAX_OFFSET,
            to_file_end=True,
            torn_is_benign=is_last,
            base_07=segment.base_offset if segment.is_07 else None,
        )
        self.pieces = [Piece(segment, span)]
        if cut and segment.size > 2 * PIECE_SIZE and not segment.is_07:
            self._read_indexes()
            self.pieces = self._cut(span)

    def run(self, piece: Piece, checker: SpanChecker, progress: Progress) -> None:
        """Check one of the pieces.

        Raises
        ------
        MovedError
            If the file was replaced or removed.
        LogDirError
            If it cannot be opened.
        """
        if len(self.pieces) == 1:
            # Indexes are read before the segment: in a live log, whatever they refer to has been written by then.
            self._read_indexes()
            piece.pointed, piece.timed = range(_count(self._offset_index)), range(_count(self._time_index))
        with open_listed(self.segment) as source:
            if piece.span.to_file_end:
                progress.expect(source.size - piece.span.end)
                piece.span = replace(piece.span, end=source.size)
            piece.run(checker, source, self._offset_index, self._time_index, progress)

    def _read_indexes(self) -> None:
        segment = self.segment
        if segment.offset_index is not None:
            self._offset_index = read_offset_index(segment.offset_index, segment.base_offset)
        if segment.time_index is not None:
            self._time_index = read_time_index(segment.time_index, segment.base_offset)

    def _cut(self, whole: Span) -> list[Piece]:
        """Cut at batch boundaries that the index names and valid checksums confirm."""
        segment = self.segment
        place = SegmentPlace(segment.path, segment.base_offset, self.bound, segment.offset_index)
        pieces, span = [], whole
        with Seeker(place) as seeker:
            for cut in seeker.cuts(0, segment.size, PIECE_SIZE):
                # At a v0 or v1 wrapper, whose first offset is unknown, the segment is not cut.
                if cut.least != cut.below:
                    continue
                pieces.append(self._piece(replace(span, end=cut.position, bound=cut.below, to_file_end=False)))
                span = replace(span, start=cut.position, least=cut.least)
        return [*pieces, self._piece(span)]

    def _piece(self, span: Span) -> Piece:
        pointed: Sequence[int] = () if self._offset_index is None else self._offset_index.values
        timed: Sequence[int] = () if self._time_index is None else self._time_index.values
        first = (bisect_left(pointed, span.start), bisect_left(timed, span.least)) if span.start else (0, 0)
        last = (len(pointed), len(timed))
        if not span.to_file_end:
            last = (bisect_left(pointed, span.end), bisect_left(timed, span.bound))
        return Piece(self.segment, span, range(first[0], last[0]), range(first[1], last[1]))

    @property
    def next_offset(self) -> int | None:
        """The offset after the last one; None if the segment ends with damage."""
        return self.pieces[-1].next_offset

    @property
    def checks(self) -> list[IndexCheck]:
        """The index checks of the pieces that could be read."""
        return [piece.check for piece in self.pieces if piece.check is not None]

    def judge(self) -> list[Finding]:
        """Combine the findings of the pieces, and add those of the indexes."""
        findings = [finding for piece in self.pieces for finding in piece.findings]
        self.damage = [each for piece in self.pieces for each in piece.damage]
        findings += map(of_damage, self.damage)
        if len(self.checks) < len(self.pieces):
            return findings
        if self._offset_index is not None:
            findings += self._offset_index.findings
            astray = [piece.pointed[number] for piece, check in self._pairs() for number in check.astray]
            too_low = [piece.pointed[number] for piece, check in self._pairs() for number in check.too_low]
            findings += judge_offsets(self._offset_index, astray, too_low, Regions(self.damage))
        if self._time_index is not None:
            findings += self._time_index.findings
            known = None if self.damage else self.next_offset
            untimed = any(check.untimed for check in self.checks)
            findings += judge_times(self._time_index, self._times(), known, untimed)
        return findings

    def _pairs(self) -> Iterator[tuple[Piece, IndexCheck]]:
        return zip(self.pieces, self.checks, strict=True)

    def _times(self) -> list[tuple[int, int]]:
        """The largest timestamps at each entry of the time index, over all batches up to it."""
        so_far = -1
        found: list[tuple[int, int]] = []
        for piece, check in self._pairs():
            found += [(max(so_far, before), max(so_far, reached)) for before, reached in check.times]
            so_far = max(so_far, check.max_timestamp)
            # Further entries of this piece have offsets after its last batch, which compaction removed.
            if piece is not self.pieces[-1]:
                found += [(so_far, so_far)] * (piece.timed.stop - len(found))
        return found


def _count(index: IndexFile | None) -> int:
    return 0 if index is None else len(index)
