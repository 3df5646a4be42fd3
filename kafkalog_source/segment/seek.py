"""Where an offset or a time begins in a segment, and where the segment can be cut.

Indexes only suggest a place. It is taken when a batch with a right checksum and
fitting offsets begins there, because offsets rise along the file; otherwise the
segment is walked from its start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.segment.damage.contradictions import TOO_HIGH, judge_offset
from kafkalog_source.segment.damage.description import Damage, Kind, raise_damage
from kafkalog_source.segment.damage.regions import Regions
from kafkalog_source.segment.damage.tail import is_zero_to_end, next_sound_entry
from kafkalog_source.segment.entries import (
    BatchWalk,
    EntryHeader,
    is_sound,
    read_header,
    sound_entry_at,
    walk_headers,
    walk_runs,
)
from kafkalog_source.segment.side_files.index import OffsetIndex, TimeIndex
from kafkalog_source.segment.source import LocalFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LARGEST_DECODED = 16 << 20
"""Of larger wrappers the first offset is not found out while seeking."""
_NO_BATCH = "no batch begins here, and batches follow"
_NEAR = 1 << 16
"""Bytes after the last entry of an index that are walked: a broker adds an entry for every 4 KiB, or every batch."""
_MOST_UNPROVED = 64
"""Headers at the end of a file that are looked through for one whose checksum is right."""


@dataclass(frozen=True, slots=True)
class SegmentPlace:
    """What seeking needs to know of a segment.

    Attributes
    ----------
    path : str
    least, bound : int
        Its offsets lie in [least, bound): its base offset and the next segment's.
    offset_index, time_index : str or None
    is_07 : bool
        Whether it is a segment of Kafka 0.7, which has no index.
    end : int or None
        Where the part of the file ends that counts, if that is not all of it.
    """

    path: str
    least: int
    bound: int
    offset_index: str | None = None
    time_index: str | None = None
    is_07: bool = False
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """A batch begins at `position`.

    Attributes
    ----------
    position : int
    below : int
        All offsets before the position are below this one.
    least : int
        No offset from the position on is below this one.
    """

    position: int
    below: int
    least: int


class Seeker:
    """Looks places up in one segment, which it holds open."""

    def __init__(self, place: SegmentPlace) -> None:
        self.place = place
        self.source = LocalFile(place.path)
        if place.end is not None:
            self.source.size = min(self.source.size, place.end)
        self._offsets = OffsetIndex(place.offset_index, place.least)

    @property
    def bytes_read(self) -> int:
        """Bytes read of the segment and its offset index."""
        return self.source.bytes_read + self._offsets.bytes_read

    def close(self) -> None:
        """Close the files."""
        self.source.close()
        self._offsets.close()

    def __enter__(self) -> Seeker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start_of(self, offset: int) -> int:
        """A position at which a batch begins, with every record at or above `offset` at or behind it."""
        entry = self._offsets.at_or_below(offset) if offset > self.place.least else None
        if entry is None or entry.position == 0:
            return 0
        header = self._sound(entry.position)
        return header.position if header is not None and header.first_offset <= offset else 0

    def headers_from(self, offset: int, on_damage: Callable[[Damage], None] = raise_damage) -> Iterator[EntryHeader]:
        """The headers from `start_of` on; those whose offsets all lie below `offset` are left out.

        Where batches follow behind damage, `on_damage` is told of it, and if it returns, these are given too.

        Raises
        ------
        CorruptBatchError
            By default, for damage.
        """
        position: int | None = self.start_of(offset)
        least = self.place.least
        while position is not None:
            end, above, held = position, least - 1, None
            for header in self._walk(position, least):
                # A header is given when the one behind it has shown that its offsets are none too high.
                if held is not None:
                    above = held.last_offset
                    if above >= offset:
                        yield held
                held, end = header, header.position + header.size
            damage, is_held_right = self._damage_at(held, end, above)
            if held is not None and is_held_right and held.last_offset >= offset:
                yield held
            position = None
            if damage is not None:
                on_damage(damage)
                position, least = damage.position + damage.size, damage.first_offset or 0

    def _damage_at(self, held: EntryHeader | None, end: int, above: int) -> tuple[Damage | None, bool]:
        """The damage that headers end with before others follow, and whether the last header, `held`, is none of it."""
        if held is not None:
            following = self._refuting(held, end, above)
            if following is not None:
                lost = (above + 1, following.first_offset - 1)
                return self._damage(held.position, end, TOO_HIGH[0], *lost), False
            above = held.last_offset
        resumed = self._behind_damage(end, above)
        # A broker may have written a batch where none was before.
        if resumed is None or sound_entry_at(self.source, end, above + 1, self.place.bound) is not None:
            return None, True
        return self._damage(end, resumed, _NO_BATCH, above + 1), True

    def _refuting(self, held: EntryHeader, end: int, above: int) -> EntryHeader | None:
        """The header after `held`, if it shows that the offset of `held` is too high."""
        return judge_offset(self.source, held, above, self.place.bound, _LARGEST_DECODED).following

    def _damage(self, position: int, end: int, reason: str, first: int, last: int | None = None) -> Damage:
        size = end - position
        return Damage(self.place.path, position, size, Kind.DAMAGED, reason, first_offset=first, last_offset=last)

    def last_header(self, *, behind_damage: bool = False) -> EntryHeader | None:
        """The last header that can be reached; None for a file without one.

        It may lie behind damage anyway if the index leads there. With `behind_damage` it is looked for, and a header
        whose checksum is wrong is given only if no other is found behind the place where it begins.
        """
        entry = self._offsets.before(self.source.size)
        position = entry.position if entry is not None and self._sound(entry.position) is not None else 0
        if behind_damage:
            return self._last_behind_damage(position)
        return next(iter(deque(self._walk(position), maxlen=1)), None)

    def end_near_index(self) -> int | None:
        """The offset after the last header, if the index leads near to it; None if it takes a walk to find that."""
        entry = self._offsets.before(self.source.size)
        start = entry.position if entry is not None and self._sound(entry.position) is not None else 0
        end = self.place.least
        for header in self._walk(start):
            if header.position - start > _NEAR:
                return None
            end = header.next_offset
        return end

    def _last_behind_damage(self, position: int) -> EntryHeader | None:
        """The last header from a batch's `position` on, found by going on behind damage as the reading of rows does."""
        source, bound = self.source, self.place.bound
        regions = Regions(source, source.size, bound, to_file_end=True)
        last: EntryHeader | None = None
        above = self.place.least - 1
        while position < source.size and not regions.budget.is_spent:
            ending = deque(self._walk(position, above + 1), maxlen=_MOST_UNPROVED)
            before = ending[-2].last_offset if len(ending) > 1 else above
            # A length that lies may have led over any number of good batches, so the last header has to be proved.
            unproved = self._pop_unproved(ending)
            if unproved:
                last, position = unproved[-1], unproved[0].position
                above = ending[-1].last_offset if ending else above
            elif ending:
                last = ending[-1]
                position = last.position + last.size
                if self._refuting(last, position, before) is not None:
                    above = before
                    continue
                above = last.last_offset
            if is_zero_to_end(source, position):
                break
            position = regions.end_of(position, above).position
        return last

    def _pop_unproved(self, ending: deque[EntryHeader]) -> list[EntryHeader]:
        """Take the headers behind the last one whose checksum is right away from `ending`."""
        unproved: list[EntryHeader] = []
        while ending and not is_sound(self.source, ending[-1]):
            unproved.append(ending.pop())
        return unproved[::-1]

    def _walk(self, position: int, least: int | None = None) -> Iterator[EntryHeader]:
        return walk_headers(self.source, position, self.place.least if least is None else least, self.place.bound)

    def _behind_damage(self, position: int, above: int) -> int | None:
        """Where batches go on behind `position`, at which none begins; None if the file just ends."""
        if position >= self.source.size or is_zero_to_end(self.source, position):
            return None
        return next_sound_entry(self.source, position + 1, self.source.size, above, self.place.bound)

    def cuts(self, start: int, end: int, size: int) -> Iterator[Cut]:
        """Places in (start, end) that cut it into pieces of about `size` bytes, none smaller than a batch.

        Found by index entries that prove right, one at most for each `size` bytes; where the index says nothing,
        by walking headers.
        """
        if self._offsets.count == 0 or not self._index_is_dense(end):
            yield from self._walked_cuts(start, end, size)
            return
        position = start
        while end - position > size:
            entry = self._offsets.before(position + size + 1)
            cut = self._cut(entry.position, position, end) if entry is not None and entry.position > position else None
            if cut is None:
                cut = next(self._walked_cuts(position, end, size), None)
            if cut is None:
                return
            yield cut
            position = cut.position

    def _index_is_dense(self, end: int) -> bool:
        """Whether the index reaches into the last part of the file; a lying one costs a walk."""
        entry = self._offsets.before(end)
        return entry is not None and self._sound(entry.position) is not None

    def _cut(self, position: int, start: int, end: int) -> Cut | None:
        if not start < position < end:
            return None
        header = self._sound(position)
        if header is None:
            return None
        entry = self._offsets.before(position)
        start = start if entry is None else max(start, entry.position)
        before = None
        for each in self._walk(start):
            if each.position >= position:
                break
            before = each
        return None if before is None else self._cut_between(before, header)

    def _cut_between(self, before: EntryHeader, header: EntryHeader) -> Cut | None:
        """The cut between two headers in a row; None if those around it do not prove it to be right.

        No checksum covers an offset. With a wrong one at a piece's border, what is right would be damage in one piece,
        and what is wrong would be none in the other.
        """
        rises = before.position + before.size == header.position and before.last_offset < header.first_offset
        if not (rises and is_sound(self.source, before) and is_sound(self.source, header)):
            return None
        following = read_header(self.source, header.position + header.size)
        if following is not None and following.first_offset <= header.last_offset:
            return None
        # A v0 or v1 wrapper tells only its last offset.
        least = header.first_offset if header.magic == 2 else before.last_offset + 1
        return Cut(header.position, header.first_offset, least)

    def _walked_cuts(self, start: int, end: int, size: int) -> Iterator[Cut]:
        piece_start = start
        before: EntryHeader | None = None
        for run in walk_runs(self.source, start, BatchWalk(self.place.least, self.place.bound)):
            index = 0
            while True:
                # Of all headers only those where a piece would become too large are looked at.
                index = bisect_right(range(run.count), piece_start + size, lo=index, key=run.end)
                if index == run.count:
                    break
                header = run.header(index)
                if header.position >= end:
                    return
                before = run.header(index - 1) if index else before
                cut = None
                if before is not None and header.position > piece_start:
                    cut = self._cut_between(before, header)
                if cut is not None:
                    yield cut
                    piece_start = header.position
                else:
                    index += 1
            before = run.header(run.count - 1)

    def _sound(self, position: int) -> EntryHeader | None:
        return sound_entry_at(self.source, position, self.place.least, self.place.bound)


def scan_start_for_time(seeker: Seeker, timestamp_ms: int) -> int:
    """An offset with no record of at least `timestamp_ms` before it in the segment.

    The time index's entry is taken when the batch that it names has that very timestamp, and a right checksum.
    """
    place = seeker.place
    with TimeIndex(place.time_index, place.least) as times:
        entry = times.below(timestamp_ms)
    if entry is None or not place.least <= entry.offset < place.bound:
        return place.least
    # What is damaged before it is told by whoever reads it.
    header = next(seeker.headers_from(entry.offset, lambda _: None), None)
    if header is None or header.first_offset > entry.offset or header.max_timestamp_ms != entry.timestamp_ms:
        return place.least
    return entry.offset + 1 if is_sound(seeker.source, header) else place.least


def may_hold_time(header: EntryHeader, timestamp_ms: int) -> bool:
    """Whether a record of the batch can be at or after `timestamp_ms`, as far as its header can be trusted.

    A maximum of -1 or below the base timestamp is not believed (such batches were published). Nor is the time of a
    compressed message: a v0 one has none, yet there may be v1 messages inside (KAFKA-4298), and that of a v1 one is
    what its producer said.
    """
    if header.magic < 2 and header.compressed:
        return True
    if header.magic == 0:
        return False
    if header.max_timestamp_ms == -1 or header.max_timestamp_ms < header.base_timestamp_ms:
        return True
    return header.max_timestamp_ms >= timestamp_ms
