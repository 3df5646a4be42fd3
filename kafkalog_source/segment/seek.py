"""Seeking in a segment: the position of an offset or a time, and positions where it can be split.

Indexes are only hints. The position of an index entry is used if a batch with a
correct checksum and fitting offsets begins there, because offsets increase along
the file. Otherwise the segment is walked from its start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.errors import offsets_text
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
"""Limit on the bytes of a wrapper that is decoded for its first offset while seeking."""
_NO_BATCH = "no batch begins here, but batches follow"
_NEAR = 1 << 16
"""Limit on the bytes walked after an index's last entry; a broker adds an entry every 4 KiB, or for every batch."""
_MOST_UNPROVED = 64
"""Limit on the last headers of a file that are searched for one with a correct checksum."""


@dataclass(frozen=True, slots=True)
class SegmentPlace:
    """A segment and its indexes, as seeking needs them.

    Attributes
    ----------
    path : str
    least, bound : int
        The segment's offsets are in [least, bound): its base offset and the next segment's.
    offset_index, time_index : str or None
        The paths of the indexes; None if there is none.
    is_07 : bool
        Whether it is a segment of Kafka 0.7, which has no index.
    end : int or None
        The position where the file is taken to end; None for its actual end.
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
    """A position where a batch begins and a segment can be split.

    Attributes
    ----------
    position : int
    below : int
        All offsets before the position are below this.
    least : int
        All offsets from the position on are at or above this.
    """

    position: int
    below: int
    least: int


class Seeker:
    """Seeks in one segment, which it keeps open."""

    def __init__(self, place: SegmentPlace) -> None:
        self.place = place
        self.source = LocalFile(place.path)
        if place.end is not None:
            self.source.size = min(self.source.size, place.end)
        self._offsets = OffsetIndex(place.offset_index, place.least)

    @property
    def bytes_read(self) -> int:
        """Bytes read from the segment and its offset index."""
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
        """Return the position of a batch; every record at or above `offset` is at or after it."""
        entry = self._offsets.at_or_below(offset) if offset > self.place.least else None
        if entry is None or entry.position == 0:
            return 0
        header = self._sound(entry.position)
        return header.position if header is not None and header.first_offset <= offset else 0

    def headers_from(self, offset: int, on_damage: Callable[[Damage], None] = raise_damage) -> Iterator[EntryHeader]:
        """Yield the headers of the batches with an offset at or above `offset`.

        Parameters
        ----------
        offset : int
        on_damage : callable
            Called with each damaged region that is followed by batches. If it returns, these are yielded too.

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
                # A header is yielded once the next one has shown that its offsets are not too high.
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
        """The damage where a walk stopped and later continues, and whether the last header, `held`, is valid."""
        if held is not None:
            following = self._refuting(held, end, above)
            if following is not None:
                return self._too_high(held, following, above + 1), False
            above = held.last_offset
        resumed = self._resumed(end, above)
        # A broker may have written a batch here since the walk stopped.
        if resumed is None or sound_entry_at(self.source, end, above + 1, self.place.bound) is not None:
            return None, True
        path = self.place.path
        return Damage(path, end, resumed - end, Kind.DAMAGED, _NO_BATCH, first_offset=above + 1), True

    def _refuting(self, held: EntryHeader, end: int, above: int) -> EntryHeader | None:
        """Return the header after `held` if it shows that the offset of `held` is too high."""
        return judge_offset(self.source, held, above, self.place.bound, _LARGEST_DECODED).following

    def _too_high(self, held: EntryHeader, following: EntryHeader, first_lost: int) -> Damage:
        lost, found = (first_lost, following.first_offset - 1), offsets_text(held.first_offset, held.last_offset)
        return Damage(self.place.path, held.position, held.size, Kind.DAMAGED, *TOO_HIGH, None, *lost, found)

    def last_header(self, *, behind_damage: bool = False) -> EntryHeader | None:
        """Return the last header that can be reached; None if there is none.

        An index may lead past damage. With `behind_damage`, batches after damage are searched for in any case, and a
        header with a wrong checksum is returned only if no valid one is found after its position.
        """
        entry = self._offsets.before(self.source.size)
        position = entry.position if entry is not None and self._sound(entry.position) is not None else 0
        if behind_damage:
            return self._last_past_damage(position)
        return next(iter(deque(self._walk(position), maxlen=1)), None)

    def end_near_index(self) -> int | None:
        """Return the offset after the last header if the index leads close to it; None if that needs a longer walk."""
        entry = self._offsets.before(self.source.size)
        start = entry.position if entry is not None and self._sound(entry.position) is not None else 0
        end = self.place.least
        for header in self._walk(start):
            if header.position - start > _NEAR:
                return None
            end = header.next_offset
        return end

    def _last_past_damage(self, position: int) -> EntryHeader | None:
        """The last header from a batch's `position` on, continuing after damage as a read does."""
        source, bound = self.source, self.place.bound
        regions = Regions(source, source.size, bound, to_file_end=True)
        last: EntryHeader | None = None
        above = self.place.least - 1
        while position < source.size and not regions.budget.is_spent:
            ending = deque(self._walk(position, above + 1), maxlen=_MOST_UNPROVED)
            before = ending[-2].last_offset if len(ending) > 1 else above
            # A corrupt length may have skipped any number of valid batches, so the last header is verified.
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
        """Remove from `ending` the headers after the last one with a correct checksum, and return them in order."""
        unproved: list[EntryHeader] = []
        while ending and not is_sound(self.source, ending[-1]):
            unproved.append(ending.pop())
        return unproved[::-1]

    def _walk(self, position: int, least: int | None = None) -> Iterator[EntryHeader]:
        return walk_headers(self.source, position, self.place.least if least is None else least, self.place.bound)

    def _resumed(self, position: int, above: int) -> int | None:
        """The position of the next batch after `position`, where none begins; None if no batch follows."""
        if position >= self.source.size or is_zero_to_end(self.source, position):
            return None
        return next_sound_entry(self.source, position + 1, self.source.size, above, self.place.bound)

    def cuts(self, start: int, end: int, size: int) -> Iterator[Cut]:
        """Yield cuts of (start, end) into pieces of about `size` bytes, none smaller than a batch.

        Index entries that prove correct are used, at most one for each `size` bytes. Where there are none, headers are
        walked.
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
        """Whether the index's last entry before `end` is correct; if not, headers are walked instead."""
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
        """The cut between two consecutive headers; None if the headers around it do not confirm their offsets.

        No checksum covers an offset. With a wrong one at a cut, one piece would report valid batches as damaged, and
        the other would accept the wrong offset.
        """
        rises = before.position + before.size == header.position and before.last_offset < header.first_offset
        if not (rises and is_sound(self.source, before) and is_sound(self.source, header)):
            return None
        following = read_header(self.source, header.position + header.size)
        if following is not None and following.first_offset <= header.last_offset:
            return None
        # The header of a v0 or v1 wrapper gives only its last offset.
        least = header.first_offset if header.magic == 2 else before.last_offset + 1
        return Cut(header.position, header.first_offset, least)

    def _walked_cuts(self, start: int, end: int, size: int) -> Iterator[Cut]:
        piece_start = start
        before: EntryHeader | None = None
        for run in walk_runs(self.source, start, BatchWalk(self.place.least, self.place.bound)):
            index = 0
            while True:
                # Only the headers where a piece would become too large are examined.
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
    """Return an offset before which the segment has no record at or after `timestamp_ms`.

    The time index's entry is used if the batch at its offset has that timestamp as its largest, and a correct checksum.
    """
    place = seeker.place
    with TimeIndex(place.time_index, place.least) as times:
        entry = times.below(timestamp_ms)
    if entry is None or not place.least <= entry.offset < place.bound:
        return place.least
    # Damage before it is reported when that part is read.
    header = next(seeker.headers_from(entry.offset, lambda _: None), None)
    if header is None or header.first_offset > entry.offset or header.max_timestamp_ms != entry.timestamp_ms:
        return place.least
    return entry.offset + 1 if is_sound(seeker.source, header) else place.least


def may_hold_time(header: EntryHeader, timestamp_ms: int) -> bool:
    """Whether a record of the batch can be at or after `timestamp_ms`, as far as its header can be trusted.

    A maximum timestamp of -1, or below the base timestamp, is not trusted: such batches exist. Neither is the timestamp
    of a compressed message: in v0 there is none, yet the inner messages may be v1 (KAFKA-4298), and in v1 it is set by
    the producer.
    """
    if header.magic < 2 and header.compressed:
        return True
    if header.magic == 0:
        return False
    if header.max_timestamp_ms == -1 or header.max_timestamp_ms < header.base_timestamp_ms:
        return True
    return header.max_timestamp_ms >= timestamp_ms
