"""Seeking in a segment of Kafka 0.7, which has no index: an offset is a position."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.damage.tail import is_zero_to_end
from kafkalog_source.segment.seek import Cut, Seeker, SegmentPlace
from kafkalog_source.segment.v07.entries import (
    check_reach,
    message_begins_at,
    message_is_sound,
    walk_headers_07,
    walk_to_07,
)
from kafkalog_source.segment.v07.resync import Resync

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.segment.entries import EntryHeader


class Seeker07(Seeker):
    """A `Seeker` for one segment of Kafka 0.7, which it keeps open."""

    def __init__(self, place: SegmentPlace) -> None:
        super().__init__(place)
        check_reach(place.path, place.least, self.source.size)

    def start_of(self, offset: int) -> int:
        """Return the position of the first message at or above `offset`, or the end of the messages if all are below.

        Headers are walked to it, because no checksum proves that a message begins at `offset` itself: a set may store
        its messages uncompressed. If the walk stops early, reading begins after the last header, so that the damage
        there is reported. If the last message extends past `offset` and is damaged, reading begins with it.
        """
        end, last = self._reach(0, offset)
        if last is not None and last.next_offset > offset and not message_is_sound(self.source, last.position, end):
            return last.position
        return end

    def last_header(self, *, behind_damage: bool = False) -> EntryHeader | None:
        """Return the last header that can be reached, also past damage with `behind_damage`; None if there is none."""
        end, header = self._reach(0)
        while behind_damage:
            resumed = self._resumed(end, 0)
            if resumed is None:
                break
            end, later = self._reach(resumed)
            header = later or header
        return header

    def cuts(self, start: int, end: int, size: int) -> Iterator[Cut]:
        """Yield cuts of (start, end) into pieces of about `size` bytes, found by walking headers."""
        while end - start > size:
            reached, last = self._reach(start, self.place.least + start + size + 1)
            cut = self._proved(reached if last is None or last.position <= start else last.position)
            if cut is None or not start < cut < end:
                return
            yield Cut(cut, self.place.least + cut, self.place.least + cut)
            start = cut

    def _proved(self, position: int) -> int | None:
        """Return the first position from `position` on where a message provably begins.

        A cut at anything else would split a message between two pieces.
        """
        for header in self._walk(position):
            if message_begins_at(self.source, header.position, self.place.least, self.place.bound):
                return header.position
        return None

    def _reach(self, position: int, stop: int = MAX_OFFSET) -> tuple[int, EntryHeader | None]:
        return walk_to_07(self.source, position, self.place.least, self.place.bound, stop)

    def _refuting(self, held: EntryHeader, end: int, above: int) -> EntryHeader | None:
        """None: offsets are positions, so they cannot contradict each other."""
        return None

    def _walk(self, position: int, least: int | None = None) -> Iterator[EntryHeader]:
        return walk_headers_07(self.source, position, self.place.least, self.place.bound)

    def _resumed(self, position: int, above: int) -> int | None:
        if position >= self.source.size or is_zero_to_end(self.source, position):
            return None
        return Resync(self.source, self.place.least, self.place.bound).behind(position, self.source.size)
