"""The sparse indexes beside a segment: hints where to start reading, never trusted.

Both files are sorted entries without a checksum, relative to the segment's base
offset; those of the active segment are preallocated and end with zeros
(``OffsetIndex``, ``TimeIndex``). Entries are found by binary search, and the caller
verifies them against the segment. A missing, empty or unreadable file has no
entries. Bytes after the last complete entry are ignored.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Self

from kafkalog_source.errors import LogDirError
from kafkalog_source.format import OFFSET_INDEX_ENTRY, TIME_INDEX_ENTRY
from kafkalog_source.segment.source import LocalFile

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class OffsetEntry:
    """A batch that begins at `position` and starts at or below `offset`."""

    offset: int
    position: int


@dataclass(frozen=True, slots=True)
class TimeEntry:
    """No record up to `offset` has a timestamp above `timestamp_ms`."""

    timestamp_ms: int
    offset: int


class _Index:
    """A file of fixed-size entries in `layout`; a padding entry has only zeros."""

    layout: struct.Struct

    def __init__(self, path: str | None, base_offset: int) -> None:
        self.base_offset = base_offset
        self.bytes_read = 0
        self._file: LocalFile | None = None
        if path is not None:
            try:
                self._file = LocalFile(path)
            except LogDirError:
                # An unreadable index costs time but no rows: the segment is walked instead.
                self._file = None
        self.count = self._file.size // self.layout.size if self._file else 0

    def raw(self, number: int) -> tuple[int, int]:
        assert self._file is not None
        data = self._file.read(number * self.layout.size, self.layout.size)
        self.bytes_read += len(data)
        # A broker truncates the unused part of an index when it rolls the segment, which may happen meanwhile.
        if len(data) < self.layout.size:
            return 0, 0
        first, second = self.layout.unpack(data)
        return first, second

    def last_where(self, holds: Callable[[int, int], bool]) -> tuple[int, int] | None:
        """Return the last entry for which `holds` is true, by binary search.

        None if there is none, or if the entries examined, which include its neighbours, are not in ascending order:
        then the index is corrupt.
        """
        low, high = 0, self.count
        best: tuple[int, int] | None = None
        seen: dict[int, tuple[int, int]] = {}
        while low < high:
            middle = (low + high) // 2
            entry = self.raw(middle)
            padding = middle > 0 and entry == (0, 0)
            if not padding:
                seen[middle] = entry
            if not padding and holds(*entry):
                best = entry
                low = middle + 1
            else:
                high = middle
        if low > 1 and low - 2 not in seen:
            seen[low - 2] = self.raw(low - 2)
        return best if _rise([seen[number] for number in sorted(seen)]) else None

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _rise(entries: list[tuple[int, int]]) -> bool:
    return all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(entries))


class OffsetIndex(_Index):
    """``.index``: (relative offset int32, position int32)."""

    layout = OFFSET_INDEX_ENTRY

    def at_or_below(self, offset: int) -> OffsetEntry | None:
        """Return the last entry whose offset is at or below `offset`."""
        relative = offset - self.base_offset
        return self._entry(self.last_where(lambda found, _: found <= relative))

    def before(self, position: int) -> OffsetEntry | None:
        """Return the last entry whose position is below `position`."""
        return self._entry(self.last_where(lambda _, found: found < position))

    def _entry(self, raw: tuple[int, int] | None) -> OffsetEntry | None:
        if raw is None or raw[0] < 0 or raw[1] < 0:
            return None
        return OffsetEntry(self.base_offset + raw[0], raw[1])


class TimeIndex(_Index):
    """``.timeindex``: (timestamp int64, relative offset int32)."""

    layout = TIME_INDEX_ENTRY

    def below(self, timestamp_ms: int) -> TimeEntry | None:
        """Return the last entry whose timestamp is below `timestamp_ms`."""
        raw = self.last_where(lambda found, _: found < timestamp_ms)
        return None if raw is None or raw[1] < 0 else TimeEntry(raw[0], self.base_offset + raw[1])
