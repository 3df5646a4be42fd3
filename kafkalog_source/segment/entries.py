"""Batch headers in order, without decoding, and the proof that a batch begins at a position."""

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
    DELETE_HORIZON_FLAG,
    LEGACY_ATTRIBUTES_OFFSET,
    LEGACY_KEY_SIZE_OFFSET_V1,
    LEGACY_TIMESTAMP_OFFSET,
    MAGIC_OFFSET,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_MASK,
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
"""Bytes of an entry that are needed to fill `EntryHeader`; for v0, those up to the attributes."""
LARGEST_CHECKED = 256 << 20
"""Larger batches, which do not exist by default, are not read only to check whether a batch begins at a position."""
_PIECE_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class EntryHeader:
    """The header of a v2 batch or of a top-level v0 or v1 entry.

    Attributes
    ----------
    position, size : int
        In bytes, for the whole entry including its header.
    magic : int
    compressed : bool
    first_offset, last_offset : int
        Equal for a v0 or v1 entry: its own offset, which for a wrapper is that of its last record.
    base_timestamp_ms, max_timestamp_ms : int
        -1 for none. Equal for a v1 entry.
    first_timestamp_ms : int
        Of the first record; -1 for none, or if the header does not hold it: that of a v1 wrapper of the producer's time
        or of a batch with a delete horizon in its place.
    record_count : int or None
        None for a v0 or v1 wrapper, whose header has no count.
    """

    position: int
    size: int
    magic: int
    compressed: bool
    first_offset: int
    last_offset: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    first_timestamp_ms: int
    record_count: int | None

    @property
    def next_offset(self) -> int:
        """The first offset after this entry."""
        return self.last_offset + 1


class HeaderWalk(Protocol):
    """The headers of one format.

    Attributes
    ----------
    entries : Entries
        Walks the windows one after another, and holds the entries of the last window walked.
    """

    @property
    def entries(self) -> Entries: ...  # noqa: D102

    def header(self, data: memoryview, position: int, index: int) -> EntryHeader:
        """Return the header of the entry `index` of the window `data`, which begins at `position` of the file."""
        ...


class BatchWalk:
    """The `HeaderWalk` of v2 batches and of v0 and v1 entries with offsets in [least, bound)."""

    def __init__(self, least: int, bound: int) -> None:
        self.entries = Entries(least=least, bound=bound)

    def header(self, data: memoryview, position: int, index: int) -> EntryHeader:
        """See `HeaderWalk`."""
        return entry_header(data, position, *self.entries.entry(index))


class HeaderRun:
    """The headers in one window, valid until the next window is read.

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
        """Return the header `index`."""
        return self._walk.header(self._data, self._position, index)

    def end(self, index: int) -> int:
        """Return the position after the entry `index`."""
        start, size, *_ = self._walk.entries.entry(index)
        return self._position + start + size


def walk_runs(source: LocalFile, start: int, walk: HeaderWalk) -> Iterator[HeaderRun]:
    """Yield the headers from position `start` on by windows, up to the end of the file or the first invalid one.

    Of large batches only the headers are read; small batches are read in windows.

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
    """Yield the headers of `walk_runs` one by one."""
    for run in walk_runs(source, start, BatchWalk(least, bound)):
        for index in range(run.count):
            yield run.header(index)


def read_header(source: LocalFile, position: int) -> EntryHeader | None:
    """Return the header at `position`; None if it is invalid or its entry exceeds the file."""
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
    """Return the header of an entry that begins with `data` but is larger."""
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
    """Return the header at `start` of `data`, which begins at `position`, with the fields that `Entries` has read."""
    base_timestamp, max_timestamp = NO_TIMESTAMP, NO_TIMESTAMP
    compressed = attributes & CODEC_MASK != 0
    record_count = None if compressed else 1
    if magic == 1:
        (base_timestamp,) = struct.unpack_from(">q", data, start + LEGACY_TIMESTAMP_OFFSET)
        max_timestamp = base_timestamp
    elif magic == 2:
        base_timestamp, max_timestamp = struct.unpack_from(">qq", data, start + V2_BASE_TIMESTAMP_OFFSET)
        (record_count,) = struct.unpack_from(">i", data, start + V2_RECORDS_COUNT_OFFSET)
    is_first = attributes & DELETE_HORIZON_FLAG == 0 if magic == 2 else not compressed
    first_timestamp = base_timestamp if is_first else NO_TIMESTAMP
    if attributes & TIMESTAMP_TYPE_MASK:
        # The broker's time is that of all records.
        first_timestamp = max_timestamp
    return EntryHeader(
        position + start,
        size,
        magic,
        compressed,
        first_offset,
        last_offset,
        base_timestamp,
        max_timestamp,
        first_timestamp,
        record_count,
    )


def is_sound(source: LocalFile, header: EntryHeader) -> bool:
    """Whether the checksum of an entry is right, which proves that an entry begins at its position."""
    checksums = checksums_of(source, header)
    return checksums is not None and checksums[0] == checksums[1]


def checksums_of(source: LocalFile, header: EntryHeader) -> tuple[int, int] | None:
    """The stored and the computed checksum of an entry; None if it is too large to be checked or incomplete."""
    if header.size > LARGEST_CHECKED:
        return None
    position, end = header.position, header.position + header.size
    # Read in pieces, so that a large batch does not need memory of its size.
    piece = source.read(position, min(header.size, _PIECE_SIZE))
    rule = checksum_rule(header.magic)
    stored, checksum = rule.stored(piece), rule.computed(piece)
    while piece and position + len(piece) < end:
        position += len(piece)
        piece = source.read(position, min(end - position, _PIECE_SIZE))
        checksum = rule.update(piece, checksum)
    return (stored, checksum) if piece and stored is not None else None


def sound_entry_at(source: LocalFile, position: int, least: int, bound: int) -> EntryHeader | None:
    """Return the header at `position` if its checksum is correct and its offsets are in [least, bound), else None."""
    header = read_header(source, position)
    if header is None or header.first_offset < least or header.last_offset >= bound:
        return None
    return header if is_sound(source, header) else None
