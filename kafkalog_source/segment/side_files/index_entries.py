"""The entries of ``.index``, ``.timeindex`` and ``.txnindex`` files as they are stored.

The first two are preallocated and end in zeros until a broker trims them
(``OffsetIndex``, ``TimeIndex``, 4.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.format import OFFSET_INDEX_ENTRY, TIME_INDEX_ENTRY, TXN_INDEX_ENTRY
from kafkalog_source.segment.source import LocalFile

if TYPE_CHECKING:
    import struct

__all__ = ["INDEX_LAYOUTS", "IndexEnd", "entry_count", "read_index_end"]

INDEX_LAYOUTS: dict[str, struct.Struct] = {
    "index": OFFSET_INDEX_ENTRY,
    "timeindex": TIME_INDEX_ENTRY,
    "txnindex": TXN_INDEX_ENTRY,
}
"""The layout of an entry, by the suffix of the file."""

_FIRST_SIZE, _LARGEST_SIZE = 1 << 12, 1 << 20
"""Of the pieces in which an index is read from its end: only that of an active segment ends with much padding."""


@dataclass(frozen=True, slots=True)
class IndexEnd:
    """How an index ends.

    Attributes
    ----------
    count : int
        Entries, without the padding after them.
    last : tuple of int or None
        The last entry; None if there is none.
    bytes_read : int
    """

    count: int
    last: tuple[int, ...] | None
    bytes_read: int


def entry_count(size: int, used: int, kind: str) -> int:
    """How many entries an index has, without its padding.

    Parameters
    ----------
    size : int
        Bytes of the file.
    used : int
        Bytes up to the last one that is not zero.
    kind : str
        The suffix of the file.
    """
    entry_size = INDEX_LAYOUTS[kind].size
    whole = size // entry_size
    # A transaction index is never preallocated.
    return whole if kind == "txnindex" else min(-(-used // entry_size), whole)


def read_index_end(path: str, kind: str) -> IndexEnd:
    """Read the end of an index.

    Raises
    ------
    LogDirError
        The file cannot be read.
    """
    layout = INDEX_LAYOUTS[kind]
    with LocalFile(path) as source:
        # The entries of a transaction index are counted by its size alone.
        used = source.size if kind == "txnindex" else _used(source)
        count = entry_count(source.size, used, kind)
        data = source.read((count - 1) * layout.size, layout.size) if count and kind != "txnindex" else b""
        last = layout.unpack(data) if len(data) == layout.size else None
        return IndexEnd(count, last, source.bytes_read)


def _used(source: LocalFile) -> int:
    """How many bytes there are up to the last one that is not zero."""
    end, size = source.size, _FIRST_SIZE
    while end > 0:
        start = max(0, end - size)
        used = len(source.read(start, end - start).rstrip(b"\0"))
        if used:
            return start + used
        end, size = start, min(16 * size, _LARGEST_SIZE)
    return 0
