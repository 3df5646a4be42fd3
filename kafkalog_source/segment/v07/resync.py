"""Where a Kafka 0.7 segment goes on behind a message whose length cannot be believed.

The messages of a set may lie in it uncompressed: snappy and gzip store what they
cannot make smaller. They look like messages of the log and are none. So the best
proof of a message's end is its own checksum: if only the length is damaged, it is
right for one of the places where another message seems to begin.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from isal.isal_zlib import crc32

from kafkalog_source._core.walk07 import find_message_07
from kafkalog_source.segment.search import search_windows
from kafkalog_source.segment.v07.entries import LARGEST_CHECKED, SMALLEST_SIZE, Proof, sound_header_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.segment.source import LocalFile

_WINDOW_SIZE = 1 << 18
_MOST_CHECKED = 4 << 30
"""Bytes read in one search: bytes made to look like one header after another must not take hours."""
_MOST_ENDS = 1000
"""Places that are tried as a message's end before the first good one is taken."""
_LONGEST_STORED = 1 << 16
"""Bytes that snappy or gzip store in one piece as they are; more messages in a row lie in no set."""
_CODECS = (1, 2)


class Resync:
    """Looks for messages in a range of a segment.

    Parameters
    ----------
    source : LocalFile
    base_offset, bound : int
        The offsets of the segment lie in [base_offset, bound).
    """

    def __init__(self, source: LocalFile, base_offset: int, bound: int) -> None:
        self._source = source
        self._base_offset = base_offset
        self._bound = bound

    def behind(self, position: int, end: int) -> int | None:
        """Where in (position, end) a message of the log begins; None if nowhere.

        `position` is where a damaged message begins. If it is a compressed one, a few messages behind it prove
        nothing, since they may lie in it.
        """
        trail = _Trail(self._source, position)
        needed = _LONGEST_STORED if _looks_compressed(self._source, position) else None
        found: int | None = None
        for tried, (place, proved) in enumerate(self._places(position + 1, end, needed)):
            if trail.ends_at(place):
                return place
            if found is None and proved is not None:
                found = proved
            if found is not None and (tried > _MOST_ENDS or place - position > LARGEST_CHECKED):
                return found
        return None if trail.ends_at(end) else found

    def own_end(self, position: int, end: int) -> int:
        """Where the message at `position` ends by its own checksum, if that is before `end`; otherwise `end`."""
        trail = _Trail(self._source, position)
        for tried, (place, _) in enumerate(self._places(position + 1, end, None)):
            if trail.ends_at(place):
                return place
            if tried > _MOST_ENDS:
                break
        return end

    def _places(self, start: int, end: int, needed: int | None) -> Iterator[tuple[int, int | None]]:
        """Places in [start, end) where a message begins whose checksum is right.

        With each comes the first of the neighbouring ones before it, once all of them together are proof enough.
        """
        most_read = self._source.bytes_read + _MOST_CHECKED
        first = self._next_sound(start, end, most_read)
        while first is not None:
            proof, place = Proof(needed), first
            while place < end and self._source.bytes_read < most_read:
                header = sound_header_at(self._source, place, self._base_offset, self._bound)
                if header is None or place + header.size > end:
                    break
                proof.add(header)
                at_end = place + header.size == self._source.size
                yield place, first if proof.is_enough or (at_end and proof.is_enough_at_end) else None
                place += header.size
            first = self._next_sound(place, end, most_read)

    def _next_sound(self, start: int, end: int, most_read: int) -> int | None:
        sizes = SMALLEST_SIZE, _WINDOW_SIZE, _WINDOW_SIZE
        for position, window, size in search_windows(self._source, start, end, end, *sizes):
            at = find_message_07(window, 0, size, end - position - size)
            while at >= 0:
                if self._source.bytes_read > most_read:
                    return None
                if sound_header_at(self._source, position + at, self._base_offset, self._bound) is not None:
                    return position + at
                at = find_message_07(window, at + 1, size, end - position - size)
        return None


class _Trail:
    """Compares the checksum of a message, whose length and magic may lie, for one end after another."""

    def __init__(self, source: LocalFile, position: int) -> None:
        self._source = source
        self._start = position
        # With attributes, as magic 1 has them, the checksum and the payload are one byte further on.
        self._tries = [_Try(position + SMALLEST_SIZE + more) for more in (0, 1)]
        head = source.read(position, SMALLEST_SIZE + 1)
        for more, each in enumerate(self._tries):
            if len(head) >= SMALLEST_SIZE + more:
                (each.wanted,) = struct.unpack_from(">I", head, SMALLEST_SIZE + more - 4)

    def ends_at(self, end: int) -> bool:
        """Whether the checksum is right if the message ends at `end`, which is never below that of the last call."""
        if end - self._start > LARGEST_CHECKED:
            return False
        return any(each.is_right(self._source, end) for each in self._tries)


class _Try:
    def __init__(self, payload_start: int) -> None:
        self.wanted: int | None = None
        self._reached = payload_start
        self._checksum = 0

    def is_right(self, source: LocalFile, end: int) -> bool:
        if end < self._reached:
            return False
        self._checksum = crc32(source.read(self._reached, end - self._reached), self._checksum)
        self._reached = end
        return self._checksum == self.wanted


def _looks_compressed(source: LocalFile, position: int) -> bool:
    head = source.read(position + 4, 2)
    if len(head) < 2 or head[0] == 0:
        return False
    # A damaged magic says nothing; attributes have no other bits in 0.7.
    return (head[1] & 3 if head[0] == 1 else head[1]) in _CODECS
