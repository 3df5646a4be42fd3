"""How far a bad region reaches.

A damaged length must cost one batch and not those behind it, and what a record
holds must not be taken for a batch of the log. `Evidence` ranks what tells where a
bad batch ends. The best is its own checksum: when only the length is damaged, it
is right up to one of the places where another batch begins.
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
"""Batches with a wrong checksum that a length may lead over before it has to lead to a good one."""
_MOST_ENDS = 8
"""Places that are tried as a batch's end before the first of them is taken."""
_MOST_INNER = 1024
"""Messages that are passed over besides where they may lie inside of a compressed set, in plain bytes."""
_LONGEST_TRIED = LARGEST_CHECKED
_MOST_ZEROS_TRIED = 1024
"""A batch may end with zeros of its own, which nothing tells from those behind it but its checksum."""
_PIECE_SIZE = 1 << 20
_TO_ATTRIBUTES = MAGIC_OFFSET + 2
_LEAST_LENGTHS = {0: V0_MIN_LENGTH, 1: V1_MIN_LENGTH, 2: V2_MIN_LENGTH}
_MOST_READ, _MOST_TIMES_READ = 4 << 30, 16
"""What is read in all, in bytes and times the file's size: bytes made to look like headers must not take hours."""


class Evidence(Enum):
    """What tells that a bad batch ends at a place; the better comes first."""

    OWN_CHECKSUM = "own checksum"
    """The batch's checksum is right if it ends there."""
    GOOD_LEAD = "good lead"
    """Its length leads there, and the headers from there on to a batch whose checksum is right."""
    BORDER = "border"
    """Its length leads there, and everything ends there or where the headers from there on lead to."""
    NEXT_BATCH = "next batch"
    """A batch begins there whose checksum is right, and none before it."""
    NOTHING = "nothing"
    """No batch is found any more, so that everything to the range's end is bad."""


@dataclass(frozen=True, slots=True)
class End:
    """Where reading goes on behind something bad.

    Attributes
    ----------
    position : int
    evidence : Evidence
    holds_batch : bool
        Whether what lies before it seems to hold a good batch, which may be one of the log or what a record holds.
    """

    position: int
    evidence: Evidence
    holds_batch: bool = False

    @property
    def is_proved(self) -> bool:
        """Whether a checksum proves that a batch ends there."""
        return self.evidence is Evidence.OWN_CHECKSUM


class Budget:
    """How much of a file may be read to find out how far damage reaches: more than it is worth must not take hours.

    Parameters
    ----------
    source : LocalFile

    Attributes
    ----------
    most_read : int
        The search ends when so many bytes were read of the file in all.
    """

    def __init__(self, source: LocalFile) -> None:
        self._source = source
        self.most_read = source.bytes_read + _MOST_READ + _MOST_TIMES_READ * source.size

    @property
    def is_spent(self) -> bool:
        """Whether no more may be read."""
        return self._source.bytes_read >= self.most_read


class _Lead(Enum):
    """What the headers behind a length lead to: a batch whose checksum is right, where all ends, or neither."""

    GOOD = 1
    BORDER = 2
    NOWHERE = 3


@dataclass(frozen=True, slots=True)
class _Bad:
    """Something bad: its trail, the header there if one can be, where that claims to end, and the offset before it."""

    trail: _Trail
    header: EntryHeader | None
    claimed: int | None
    above: int


class Regions:
    """Finds out how far what is bad reaches, in one range of a segment.

    Parameters
    ----------
    source : LocalFile
    limit : int
        Where the range ends.
    bound : int
        Offsets in it lie below this one.
    to_file_end : bool
        Whether it ends where the file does, and not where another batch begins.

    Attributes
    ----------
    budget : Budget
        For all of the range.
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
        """Where reading goes on behind the bad bytes at `position`; all offsets before them are at most `above`.

        Where the length there leads is looked at first, since it costs least. If that is nowhere, batches are searched
        for, of which one may begin where the bad one ends by its own checksum.
        """
        header = read_header(self._source, position)
        claimed = None if header is None else position + header.size
        if claimed is not None and claimed > self._limit:
            claimed = None
        bad = _Bad(_Trail(self._source, position), header, claimed, above)
        return self._by_length(bad) or self._by_search(bad)

    def _by_length(self, bad: _Bad) -> End | None:
        """The end if the length leads to it or past it: by the batch's own checksum, a good lead or a border."""
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
        # Headers alone led to the border, so that the batch's own checksum is asked before it is believed.
        longer = next(self._proved_ends(bad, bad.claimed, self._limit), None)
        return End(bad.claimed, Evidence.BORDER) if longer is None else End(longer, Evidence.OWN_CHECKSUM)

    def _by_search(self, bad: _Bad) -> End:
        """The end if the length leads nowhere: by the batch's own checksum, a border right there, or the next batch."""
        first: int | None = None
        least = bad.trail.start + 1 if bad.claimed is None else bad.claimed
        for place in self._sound_places(bad.trail.start, bad.trail.start + 1, self._limit, bad.above):
            if first is None:
                first = place
            # Before the place that the length claims no end was proved.
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
        """The end at the place that the length claims, if that is a border; `first` is where a good batch begins."""
        if bad.claimed is None or not self._is_border(bad.claimed, bad.above if first is None else None):
            return None
        if first is None or first >= bad.claimed:
            return End(bad.claimed, Evidence.BORDER)
        if self._is_log_before_zeros(first, bad.claimed, bad.above):
            return End(first, Evidence.NEXT_BATCH)
        return End(bad.claimed, Evidence.BORDER, holds_batch=True)

    def _end_before_zeros(self, trail: _Trail) -> int | None:
        """The end that its checksum proves of a batch behind which nothing but zeros follow."""
        if not self._to_file_end:
            return None
        start = end_of_data(self._source, trail.start + V0_MIN_LENGTH, self._limit)
        ends = range(start, min(start + _MOST_ZEROS_TRIED, self._limit))
        return next((end for end in ends if trail.ends_at(end)), None)

    def _is_log_before_zeros(self, first: int, claimed: int, above: int) -> bool:
        """Whether good batches from `first` on end where zeros begin, among which a length claims that a batch ends.

        In a batch that ends where the zeros begin they may be what one of its records holds.
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
        """The first places in [start, end) where a batch begins whose checksum is right and whose offsets fit.

        They are more if a compressed set seems to begin at `position`, of which plain messages may be a part.
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
        """The codec that an entry of format v0 or v1 names, 0 for a plain message; None for any other."""
        head = self._source.read(position, _TO_ATTRIBUTES)
        return head[-1] & CODEC_MASK if len(head) == _TO_ATTRIBUTES and head[MAGIC_OFFSET] < 2 else None

    def _lead_of(self, position: int, above: int) -> _Lead:
        """What headers from `position` on lead to."""
        chain: list[int] = []
        lead = _Lead.NOWHERE
        while len(chain) < _LONGEST_CHAIN and position not in self._leads:
            chain.append(position)
            size = self._claimed_size(position, above)
            if size is None:
                # That a header leads to the file's end may be chance. That two do, one after the other, is less so.
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
        """The size that a header at `position` claims, if its offset fits; whatever else it says may be wrong."""
        head = self._source.read(position, MAGIC_OFFSET + 1) if position < self._limit else b""
        if len(head) <= MAGIC_OFFSET or head[MAGIC_OFFSET] > 2:
            return None
        offset, length = struct.unpack_from(">qi", head)
        fits = V0_MIN_LENGTH <= length <= self._source.size - position - LOG_OVERHEAD
        return LOG_OVERHEAD + length if fits and above < offset < self._bound else None

    def _is_border(self, position: int, above: int | None) -> bool:
        """Whether the file ends at `position`, or nothing follows but zeros, or a batch that the file's end cuts.

        The last only if `above` is given: where a good batch follows, the end of the file cuts another one.
        """
        if position == self._limit or not self._to_file_end:
            return position == self._limit
        if is_zero_to_end(self._source, position):
            return True
        return above is not None and begins_cut(self._source, position, above)


class _Trail:
    """Compares the checksum of a batch whose length may lie for one end after another, each above the one before.

    Attributes
    ----------
    start : int
        Where the batch begins.
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
        """Whether the checksum is right if the batch ends at `end`."""
        if self._wanted is None or end < self._least or end - self.start > _LONGEST_TRIED:
            return False
        while self._reached < end:
            piece = self._source.read(self._reached, min(_PIECE_SIZE, end - self._reached))
            if not piece:
                return False
            self._checksum = self._rule.update(piece, self._checksum)
            self._reached += len(piece)
        return self._checksum == self._wanted
