"""Batch headers in order, nothing decoded, and the proof that a batch begins at a place."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.memory import Scratch
from kafkalog_source._core.walk import Entries
from kafkalog_source.batch.checksum import checksum_rule
from kafkalog_source.format import (
    CODEC_MASK,
    LEGACY_ATTRIBUTES_OFFSET,
    LEGACY_KEY_SIZE_OFFSET_V1,
    LEGACY_TIMESTAMP_OFFSET,
    MAGIC_OFFSET,
    NO_TIMESTAMP,
    V2_BASE_TIMESTAMP_OFFSET,
    V2_FLAGS_OFFSET,
    V2_HEADER_SIZE,
    V2_LAST_OFFSET_DELTA_OFFSET,
    V2_RECORDS_COUNT_OFFSET,
)
from kafkalog_source.segment.header_walk import Headers, header_windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.segment.source import LocalFile

_HEADER_SIZES = {1: LEGACY_KEY_SIZE_OFFSET_V1, 2: V2_HEADER_SIZE}
"""What has to be there of an entry to know all of `EntryHeader`; of v0 it is the attributes."""
LARGEST_CHECKED = 256 << 20
"""Larger batches, of which there are none by default, are not read only to find out whether a place is a good one to
start from."""
_PIECE_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class EntryHeader:
    """The header of a v2 batch or of a top-level v0 or v1 entry.

    Attributes
    ----------
    position, size : int
        Bytes; the whole entry, headers included.
    magic : int
    compressed : bool
    first_offset, last_offset : int
        Of a v0 or v1 entry both are its own, which for a wrapper is its last record's.
    base_timestamp_ms, max_timestamp_ms : int
        -1 for none; of a v1 entry both are its own.
    record_count : int or None
        None for a v0 or v1 wrapper, which does not tell.
    """

    position: int
    size: int
    magic: int
    compressed: bool
    first_offset: int
    last_offset: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    record_count: int | None

    @property
    def next_offset(self) -> int:
        """The offset from which the log goes on behind this entry."""
        return self.last_offset + 1


class HeaderWalk(Protocol):
    """Headers of a format.

    Attributes
    ----------
    entries : Entries
        Walks the windows one after another, and holds what the last of them has.
    """

    @property
    def entries(self) -> Entries: ...  # noqa: D102

    def header(self, data: memoryview, position: int, index: int) -> EntryHeader:
        """The header of an entry of the window `data`, whose first byte is that at `position`."""
        ...


class BatchWalk:
    """The `HeaderWalk` of v2 batches and v0 and v1 entries, whose offsets lie in [least, bound)."""

    def __init__(self, least: int, bound: int) -> None:
        self.entries = Entries(least=least, bound=bound)

    def header(self, data: memoryview, position: int, index: int) -> EntryHeader:
        """See `HeaderWalk`."""
        return entry_header(data, position, *self.entries.entry(index))


class HeaderRun:
    """The headers that one window holds, valid until the next is read.

    Attributes
    ----------
    count : int
    """

    def __init__(self, walk: HeaderWalk, position: int, data: memoryview) -> None:
        self.count = walk.entries.count
        self._walk = walk
        self._position = position
        self._data = data

    def header(self, index: int) -> EntryHeader:
        """The header of this number."""
        return self._walk.header(self._data, self._position, index)

    def end(self, index: int) -> int:
        """The position behind the entry of this number."""
        start, size, *_ = self._walk.entries.entry(index)
        return self._position + start + size


def walk_runs(source: LocalFile, start: int, walk: HeaderWalk) -> Iterator[HeaderRun]:
    """The headers from position `start` on, up to the end of the file or the first that is no header, by windows.

    Raises
    ------
    FileChangedError
        The file has become shorter since it was opened.
    """
    window = Scratch()
    for event in header_windows(source, window, walk.entries, start, source.size):
        if isinstance(event, Headers):
            with window.view(0, event.size) as data:
                yield HeaderRun(walk, event.position, data)


def walk_headers(source: LocalFile, start: int, least: int, bound: int) -> Iterator[EntryHeader]:
    """The headers of `walk_runs`, one by one."""
    for run in walk_runs(source, start, BatchWalk(least, bound)):
        for index in range(run.count):
            yield run.header(index)


def read_header(source: LocalFile, position: int) -> EntryHeader | None:
    """The header at `position`, or None where none can be, or where it passes the end of the file."""
    data = source.read(position, V2_HEADER_SIZE)
    window = Scratch()
    window.reserve(len(data))
    with window.view(0, len(data)) as room:
        room[:] = data
    entries = Entries(least=-(2**63) + 1)
    code = entries.walk(window, len(data))
    if entries.count:
        return entry_header(memoryview(data), position, *entries.entry(0))
    if code != CODE["incomplete"] or entries.next_size <= len(data) or entries.next_size > source.size - position:
        return None
    return _unwalked_header(data, position, entries.next_size)


def _unwalked_header(data: bytes, position: int, size: int) -> EntryHeader | None:
    """A header whose entry is larger than `data`."""
    if len(data) <= MAGIC_OFFSET + 1 or len(data) < _HEADER_SIZES.get(data[MAGIC_OFFSET], 0):
        return None
    (first_offset,) = struct.unpack_from(">q", data)
    magic = data[MAGIC_OFFSET]
    delta = struct.unpack_from(">i", data, V2_LAST_OFFSET_DELTA_OFFSET)[0] if magic == 2 else 0
    attributes = data[V2_FLAGS_OFFSET if magic == 2 else LEGACY_ATTRIBUTES_OFFSET]
    return entry_header(memoryview(data), position, 0, size, magic, attributes, first_offset, first_offset + delta)


def entry_header(
    data: memoryview,
    position: int,
    start: int,
    size: int,
    magic: int,
    attributes: int,
    first_offset: int,
    last_offset: int,
) -> EntryHeader:
    """The header at `start` of `data`, whose first byte is that at `position`, with what `Entries` knows of it."""
    base_timestamp, max_timestamp = NO_TIMESTAMP, NO_TIMESTAMP
    compressed = attributes & CODEC_MASK != 0
    record_count = None if compressed else 1
    if magic == 1:
        (base_timestamp,) = struct.unpack_from(">q", data, start + LEGACY_TIMESTAMP_OFFSET)
        max_timestamp = base_timestamp
    elif magic == 2:
        base_timestamp, max_timestamp = struct.unpack_from(">qq", data, start + V2_BASE_TIMESTAMP_OFFSET)
        (record_count,) = struct.unpack_from(">i", data, start + V2_RECORDS_COUNT_OFFSET)
    return EntryHeader(
        position + start,
        size,
        magic,
        compressed,
        first_offset,
        last_offset,
        base_timestamp,
        max_timestamp,
        record_count,
    )


def is_sound(source: LocalFile, header: EntryHeader) -> bool:
    """Whether the checksum of the entry is right: where it is, an entry begins at its position."""
    if header.size > LARGEST_CHECKED:
        return False
    position, end = header.position, header.position + header.size
    # In pieces, so that a large batch takes no memory of its size.
    piece = source.read(position, min(header.size, _PIECE_SIZE))
    rule = checksum_rule(header.magic)
    stored, checksum = rule.stored(piece), rule.computed(piece)
    while piece and position + len(piece) < end:
        position += len(piece)
        piece = source.read(position, min(end - position, _PIECE_SIZE))
        checksum = rule.update(piece, checksum)
    return bool(piece) and stored == checksum


def sound_entry_at(source: LocalFile, position: int, least: int, bound: int) -> EntryHeader | None:
    """The entry at `position`, if one begins there whose offsets lie in [least, bound) and whose checksum is right."""
    header = read_header(source, position)
    if header is None or header.first_offset < least or header.last_offset >= bound:
        return None
    return header if is_sound(source, header) else None
