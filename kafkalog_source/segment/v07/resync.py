"""Where a Kafka 0.7 segment goes on after a message whose length cannot be trusted.

The inner messages of a compressed set may lie in it as they are, because snappy and
gzip store what they cannot make smaller. They look like messages of the log and are
not. So the best evidence of a message's end is its own checksum: if only the length
is damaged, it matches at one of the places where another message seems to begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isal.isal_zlib import crc32

from kafkalog_source._core.walk07 import find_message_07
from kafkalog_source.format import (
    V07_ATTRIBUTES_OFFSET,
    V07_CODEC_MASK,
    V07_CRC_OFFSET_V0,
    V07_CRC_OFFSET_V1,
    V07_MAGIC_OFFSET,
    V07_NEWEST_CODEC,
    V07_PAYLOAD_OFFSET_V0,
    V07_PAYLOAD_OFFSET_V1,
)
from kafkalog_source.segment.search import search_windows
from kafkalog_source.segment.v07.entries import LARGEST_CHECKED, SMALLEST_SIZE, Proof, sound_header_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.segment.source import LocalFile

_WINDOW_SIZE = 1 << 18
_MOST_CHECKED = 4 << 30
"""Bytes read in one search, so that a file crafted to look like one header after another does not take hours."""
_MOST_ENDS = 1000
"""Places that are tried as a message's end before the first one with enough proof is taken."""
_LONGEST_STORED = 1 << 16
"""The most bytes that snappy or gzip store uncompressed in one piece; messages in a row for longer lie in no set."""
_CRC_AND_PAYLOAD_OFFSETS = (
    (V07_CRC_OFFSET_V0, V07_PAYLOAD_OFFSET_V0),
    (V07_CRC_OFFSET_V1, V07_PAYLOAD_OFFSET_V1),
)
"""Of both magics: with magic 1, attributes come before the checksum."""


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

        `position` is where a damaged message begins. If it is compressed, a few messages after its beginning prove
        nothing, since they may lie inside it.
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
    """Compares the checksum of a message whose length or magic may be wrong, for one end after another."""

    def __init__(self, source: LocalFile, position: int) -> None:
        self._source = source
        self._start = position
        head = source.read(position, V07_PAYLOAD_OFFSET_V1)
        self._tries = [
            _Try(position + payload, int.from_bytes(head[crc:payload], "big"))
            for crc, payload in _CRC_AND_PAYLOAD_OFFSETS
            if len(head) >= payload
        ]

    def ends_at(self, end: int) -> bool:
        """Whether the checksum is right if the message ends at `end`, which is never below that of the last call."""
        if end - self._start > LARGEST_CHECKED:
            return False
        return any(each.is_right(self._source, end) for each in self._tries)


class _Try:
    def __init__(self, payload_start: int, stored: int) -> None:
        self._stored = stored
        self._reached = payload_start
        self._checksum = 0

    def is_right(self, source: LocalFile, end: int) -> bool:
        if end < self._reached:
            return False
        self._checksum = crc32(source.read(self._reached, end - self._reached), self._checksum)
        self._reached = end
        return self._checksum == self._stored


def _looks_compressed(source: LocalFile, position: int) -> bool:
    head = source.read(position, V07_ATTRIBUTES_OFFSET + 1)
    if len(head) <= V07_ATTRIBUTES_OFFSET or head[V07_MAGIC_OFFSET] == 0:
        return False
    attributes = head[V07_ATTRIBUTES_OFFSET]
    # With a damaged magic the whole byte has to be a codec: 0.7 sets no other bits of it.
    return 0 < (attributes & V07_CODEC_MASK if head[V07_MAGIC_OFFSET] == 1 else attributes) <= V07_NEWEST_CODEC
