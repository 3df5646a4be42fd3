"""``view=indexes``: the entries of ``.index``, ``.timeindex`` and ``.txnindex`` files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import LogDirError, counted
from kafkalog_source.format import TXN_INDEX_ENTRY, TXN_INDEX_VERSION
from kafkalog_source.segment.side_files.index_entries import INDEX_LAYOUTS, entry_count
from kafkalog_source.segment.side_files.side_file import read_file
from kafkalog_source.views.rows import microseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.partition.file_parts import SideFile
    from kafkalog_source.views.rows import Rows

__all__ = ["index_rows"]

_TYPES = {"index": "offset", "timeindex": "time", "txnindex": "transaction"}
_AT_ONCE = 1 << 16
"""Entries that become rows at once: an index may have millions."""


def index_rows(file: SideFile) -> Iterator[Rows]:
    """The entries of an index.

    Raises
    ------
    LogDirError
        The file cannot be read, is no whole number of entries, or has entries of an unknown version. Rows of the
        entries before come first.
    """
    data, layout = read_file(file.path), INDEX_LAYOUTS[file.kind]
    used = entry_count(len(data), len(data.rstrip(b"\0")), file.kind)
    for start in range(0, used, _AT_ONCE):
        stop = min(start + _AT_ONCE, used)
        entries = list(layout.iter_unpack(data[start * layout.size : stop * layout.size]))
        yield {
            "baseOffset": [file.base_offset] * len(entries),
            "indexType": [_TYPES[file.kind]] * len(entries),
            "entry": range(start, stop),
            **_columns(file, entries),
        }
    if len(data) % layout.size:
        raise LogDirError(
            "the index does not end with a whole entry",
            file=file.path,
            position=len(data) // layout.size * layout.size,
            found=counted(len(data), "byte"),
            expected=f"a multiple of {layout.size}",
        )


def _columns(file: SideFile, entries: list[tuple[int, ...]]) -> Rows:
    base = file.base_offset
    if file.kind == "index":
        offsets, positions = zip(*entries, strict=True)
        return {"offset": [base + each for each in offsets], "position": positions}
    if file.kind == "timeindex":
        times, offsets = zip(*entries, strict=True)
        return {"offset": [base + each for each in offsets], "timestamp": [*map(microseconds, times)]}
    versions, producers, firsts, lasts, stable = zip(*entries, strict=True)
    unknown = next((number for number, version in enumerate(versions) if version != TXN_INDEX_VERSION), None)
    if unknown is not None:
        raise LogDirError(
            f"entry {unknown} of the transaction index is of an unknown version",
            file=file.path,
            position=unknown * TXN_INDEX_ENTRY.size,
            found=str(versions[unknown]),
            expected=str(TXN_INDEX_VERSION),
        )
    return {
        "version": versions,
        "producerId": producers,
        "firstOffset": firsts,
        "lastOffset": lasts,
        "lastStableOffset": stable,
    }
