"""Find where a damaged region ends.

A damaged length must cost only its own batch, and record content that looks like
a batch must not be taken for one. `Evidence` ranks the evidence for the end of a
bad batch. The best is the batch's own checksum: if only the length is damaged, the
checksum is correct for one of the positions where another batch begins.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from kafkalog_source.batch.checksum import checksum_rule
from kafkalog_source.format import (
    CODEC_MASK,
    LOG_OVERHEAD,
    MAGIC_OFFSET,
    V0_MIN_LENGTH,
    V1_MIN_LENGTH,
    V2_ATTRIBUTES_OFFSET,
    V2_MIN_LENGTH,
)
from kafkalog_source.segment.damage.tail import FEWEST_ZEROS, begins_cut, end_of_data, is_zero_to_end, next_sound_entry
from kafkalog_source.segment.entries import LARGEST_CHECKED, is_sound, read_header, sound_entry_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.segment.entries import EntryHeader
    from kafkalog_source.segment.source import LocalFile

_LONGEST_CHAIN = 64
"""Limit on the headers with a wrong checksum that are followed before a valid batch has to come."""
_MOST_ENDS = 8
"""Limit on the positions that are tried as the end of a batch before the first of them is taken."""
_MOST_INNER = 1024
"""Limit on further positions if these are messages that may be stored uncompressed inside a compressed set."""
_LONGEST_TRIED = LARGEST_CHECKED
_MOST_ZEROS_TRIED = 1024
"""Limit on the ends tried among zeros: only its checksum separates a batch's own zeros from those after it."""
_PIECE_SIZE = 1 << 20
_TO_ATTRIBUTES = MAGIC_OFFSET + 2
_LEAST_LENGTHS = {0: V0_MIN_LENGTH, 1: V1_MIN_LENGTH, 2: V2_MIN_LENGTH}
_MOST_READ, _MOST_TIMES_READ = 4 << 30, 16
"""Read budget, in bytes plus a multiple of the file's size: crafted headers must not keep a search busy for hours."""


class Evidence(Enum):
    """The evidence that a bad batch ends at a position, best first."""

    OWN_CHECKSUM = "own checksum"
    """The batch's checksum is correct if the batch ends there."""
    GOOD_LEAD = "good lead"
    """Its length leads there, and the headers from there on lead to a batch with a correct checksum."""
    BORDER = "border"
    """Its length leads there, and the data ends there or where the headers from there on lead."""
    NEXT_BATCH = "next batch"
    """The next batch with a correct checksum begins there."""
    NOTHING = "nothing"
    """No further batch is found, so everything up to the end of the range is damaged."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of a damaged region, where reading continues.

    Attributes
    ----------
    position : int
    evidence : Evidence
    holds_batch : bool
        Whether the region seems to contain a valid batch, which may be one of the log or the content of a record.
    """

    position: int
    evidence: Evidence
    holds_batch: bool = False

    @property
    def is_proved(self) -> bool:
        """Whether the batch's own checksum proves that it ends there."""
        return self.evidence is Evidence.OWN_CHECKSUM


class Budget:
    """Limit on the bytes that may be read to find the ends of damaged regions.

    Parameters
    ----------
    source : LocalFile

    Attributes
    ----------
    most_read : int
        The search ends when `source.bytes_read` reaches this.
    """

    def __init__(self, source: LocalFile) -> None:
        self._source = source
        self.most_read = source.bytes_read + _MOST_READ + _MOST_TIMES_READ * source.size

    @property
    def is_spent(self) -> bool:
        """Whether no more may be read."""
        return self._source.bytes_read >= self.most_read


class _Lead(Enum):
    """Where a chain of headers leads: to a batch with a correct checksum, to the end of the data, or nowhere."""

    GOOD = 1
    BORDER = 2
    NOWHERE = 3


@dataclass(frozen=True, slots=True)
class _Bad:
    """A bad batch: its checksum trail, its header if readable, its end by that header, and the offset before it."""

    trail: _Trail
    header: EntryHeader | None
    claimed: int | None
    above: int


class Regions:
    """Finds the ends of damaged regions in one range of a segment.

    Parameters
    ----------
    source : LocalFile
    limit : int
        The position where the range ends.
    bound : int
        All offsets in the range are below this.
    to_file_end : bool
        Whether the range ends at the end of the file rather than at the start of another batch.

    Attributes
    ----------
    budget : Budget
        Shared by all searches in the range.
    """

    def __init__(self, source: LocalFile, limit: int, bound: int, to_file_end: bool) -> None:
        self._source = source
        self._limit = limit
        self._bound = bound
        self._to_file_end = to_file_end
        self._leads: dict[int, _Lead] = {}
        self._barren = (source.size, -1)
        self.budget = Budget(source)

    def end_of(self, position: int, above: int) -> End:
        """Return the end of the bad batch at `position`; all offsets before it are at most `above`.

        Its length field is followed first, since that is cheapest. If it leads nowhere, the next batches are searched
        for, and the bad batch's own checksum is tried at the start of each.
        """
        header = read_header(self._source, position)
        claimed = None if header is None else position + header.size
        if claimed is not None and claimed > self._limit:
            claimed = None
        bad = _Bad(_Trail(self._source, position), header, claimed, above)
        return self._by_length(bad) or self._by_search(bad)

    def _by_length(self, bad: _Bad) -> End | None:
        """The end that the length field gives, or that the batch's checksum proves instead; None if neither."""
        if bad.header is None or bad.claimed is None:
            return None
        if is_sound(self._source, bad.header):
            return End(bad.claimed, Evidence.OWN_CHECKSUM)
        shorter = next(self._proved_ends(bad, bad.trail.start + 1, bad.claimed), None)
        if shorter is not None:
            return End(shorter, Evidence.OWN_CHECKSUM)
        lead = self._lead_of(bad.claimed, bad.above)
        if lead is _Lead.NOWHERE:
            return None
        if lead is _Lead.GOOD:
            return End(bad.claimed, Evidence.GOOD_LEAD)
        # Only headers led to the border, so a later end that the batch's own checksum proves is preferred.
        longer = next(self._proved_ends(bad, bad.claimed, self._limit), None)
        return End(bad.claimed, Evidence.BORDER) if longer is None else End(longer, Evidence.OWN_CHECKSUM)

    def _by_search(self, bad: _Bad) -> End:
        """The end if the length leads nowhere: proved by the checksum, a border at the length, or the next batch."""
        first: int | None = None
        least = bad.trail.start + 1 if bad.claimed is None else bad.claimed
        for place in self._sound_places(bad.trail.start, bad.trail.start + 1, self._limit, bad.above):
            if first is None:
                first = place
            # Ends before the one that the length gives were tried already.
            if place >= least and bad.trail.ends_at(place):
                return End(place, Evidence.OWN_CHECKSUM)
        proved = self._end_before_zeros(bad.trail) if first is None else None
        if proved is not None:
            return End(proved, Evidence.OWN_CHECKSUM)
        border = self._border_of(bad, first)
        if border is not None:
            return border
        if bad.trail.ends_at(self._limit):
            return End(self._limit, Evidence.OWN_CHECKSUM)
        return End(self._limit, Evidence.NOTHING) if first is None else End(first, Evidence.NEXT_BATCH)

    def _border_of(self, bad: _Bad, first: int | None) -> End | None:
        """The end that the length gives, if it is a border; `first` is the position of the next valid batch."""
        if bad.claimed is None or not self._is_border(bad.claimed, bad.above if first is None else None):
            return None
        if first is None or first >= bad.claimed:
            return End(bad.claimed, Evidence.BORDER)
        if self._is_log_before_zeros(first, bad.claimed, bad.above):
            return End(first, Evidence.NEXT_BATCH)
        return End(bad.claimed, Evidence.BORDER, holds_batch=True)

    def _end_before_zeros(self, trail: _Trail) -> int | None:
        """The end that its own checksum proves for a batch followed only by zeros."""
        if not self._to_file_end:
            return None
        start = end_of_data(self._source, trail.start + V0_MIN_LENGTH, self._limit)
        ends = range(start, min(start + _MOST_ZEROS_TRIED, self._limit))
        return next((end for end in ends if trail.ends_at(end)), None)

    def _is_log_before_zeros(self, first: int, claimed: int, above: int) -> bool:
        """Whether valid batches from `first` on end where zeros begin, with the end given by a length among the zeros.

        If the bad batch ends where the zeros begin, those batches may be the content of one of its records.
        """
        if any(self._source.read(claimed - FEWEST_ZEROS, FEWEST_ZEROS)):
            return False
        for _ in range(_LONGEST_CHAIN):
            header = sound_entry_at(self._source, first, above + 1, self._bound)
            if header is None:
                return is_zero_to_end(self._source, first)
            first, above = header.position + header.size, header.last_offset
        return True

    def _proved_ends(self, bad: _Bad, start: int, end: int) -> Iterator[int]:
        places = self._sound_places(bad.trail.start, start, end, bad.above)
        return (place for place in places if bad.trail.ends_at(place))

    def _sound_places(self, position: int, start: int, end: int, above: int) -> Iterator[int]:
        """Yield the first positions in [start, end) where a batch with a correct checksum and fitting offsets begins.

        More are yielded if a compressed set seems to begin at `position`, since it may store messages uncompressed.
        """
        left, inner = _MOST_ENDS, _MOST_INNER if self._legacy_codec(position) else 0
        while left:
            barren_from, barren_above = self._barren
            if start >= barren_from and above >= barren_above:
                return
            place = next_sound_entry(self._source, start, self._limit, above, self._bound, end, self.budget.most_read)
            if place is None:
                if end == self._limit:
                    self._barren = (start, above)
                return
            yield place
            if inner and self._legacy_codec(place) == 0:
                inner -= 1
            else:
                left -= 1
            start = place + 1

    def _legacy_codec(self, position: int) -> int | None:
        """The codec of a v0 or v1 entry, 0 for a plain message; None for any other bytes."""
        head = self._source.read(position, _TO_ATTRIBUTES)
        return head[-1] & CODEC_MASK if len(head) == _TO_ATTRIBUTES and head[MAGIC_OFFSET] < 2 else None

    def _lead_of(self, position: int, above: int) -> _Lead:
        """Follow headers from `position` on, and return where they lead."""
        chain: list[int] = []
        lead = _Lead.NOWHERE
        while len(chain) < _LONGEST_CHAIN and position not in self._leads:
            chain.append(position)
            size = self._claimed_size(position, above)
            if size is None:
                # One header may lead to the end of the file by chance; two in a row hardly do.
                may_end = len(chain) > 1 or not self._to_file_end
                if may_end and position <= self._limit and self._is_border(position, above):
                    lead = _Lead.BORDER
                break
            header = read_header(self._source, position)
            if header is not None and is_sound(self._source, header):
                lead = _Lead.GOOD
                break
            position += size
            if position - chain[0] > _LONGEST_TRIED:
                break
        else:
            return self._leads.get(position, _Lead.NOWHERE)
        if lead is not _Lead.NOWHERE:
            self._leads = dict.fromkeys(chain, lead)
        return lead

    def _claimed_size(self, position: int, above: int) -> int | None:
        """The size given by a header at `position` if its offset fits; its other fields are not checked."""
        head = self._source.read(position, MAGIC_OFFSET + 1) if position < self._limit else b""
        if len(head) <= MAGIC_OFFSET or head[MAGIC_OFFSET] > 2:
            return None
        offset, length = struct.unpack_from(">qi", head)
        fits = V0_MIN_LENGTH <= length <= self._source.size - position - LOG_OVERHEAD
        return LOG_OVERHEAD + length if fits and above < offset < self._bound else None

    def _is_border(self, position: int, above: int | None) -> bool:
        """Whether the data ends at `position`: the range ends, only zeros follow, or a torn batch begins.

        A torn batch counts only if `above` is given. If a valid batch follows, any torn batch comes after that one.
        """
        if position == self._limit or not self._to_file_end:
            return position == self._limit
        if is_zero_to_end(self._source, position):
            return True
        return above is not None and begins_cut(self._source, position, above)


class _Trail:
    """Tries the checksum of a batch with an untrusted length at increasing ends, reading each byte once.

    Attributes
    ----------
    start : int
        The position where the batch begins.
    """

    def __init__(self, source: LocalFile, position: int) -> None:
        self._source = source
        self.start = position
        self._checksum = 0
        head = source.read(position, V2_ATTRIBUTES_OFFSET)
        magic = head[MAGIC_OFFSET] if len(head) == V2_ATTRIBUTES_OFFSET else -1
        self._rule = checksum_rule(magic)
        self._least = position + LOG_OVERHEAD + _LEAST_LENGTHS.get(magic, 0)
        self._reached = position + self._rule.covered_from
        self._wanted = self._rule.stored(head) if magic in _LEAST_LENGTHS else None

    def ends_at(self, end: int) -> bool:
        """Whether the checksum is correct if the batch ends at `end`."""
        if self._wanted is None or end < self._least or end - self.start > _LONGEST_TRIED:
            return False
        while self._reached < end:
            piece = self._source.read(self._reached, min(_PIECE_SIZE, end - self._reached))
            if not piece:
                return False
            self._checksum = self._rule.update(piece, self._checksum)
            self._reached += len(piece)
        return self._checksum == self._wanted
