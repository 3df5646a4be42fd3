"""The ends of a segment without the batches between them: its first header, and what follows its last index entry.

What these say is right only if they are sound. Where they are not, or say too
little, all headers have to be walked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.damage.tail import is_zero_to_end
from kafkalog_source.segment.entries import read_header, sound_entry_at
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span
from kafkalog_source.views.headers import header_chunks, whole_segment

if TYPE_CHECKING:
    from collections.abc import Collection

    from kafkalog_source.partition.file_parts import SegmentPart
    from kafkalog_source.reporting.report import Report
    from kafkalog_source.segment.batch_headers import BatchHeaders
    from kafkalog_source.segment.side_files.index_entries import IndexEnd

__all__ = ["END_COLUMNS", "read_ends", "what_follows"]

_OF_TAIL = frozenset(("lastOffset", "nextOffset", "end"))
END_COLUMNS = _OF_TAIL | {"firstTimestamp"}
"""The columns of ``view=segments`` that the ends give."""

_HEAD_SIZE = 1 << 12
"""As much as walking the first header reads."""
_SMALL = 1 << 16
"""A file of at most this size is read at once."""
_LARGEST_TAIL = 1 << 20
"""A broker adds an entry every 4 KiB, or for each larger batch: little more than a batch follows the last one."""


class _Pieces(LocalFile):
    """A file of which some pieces are read once and kept."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._pieces: list[tuple[int, bytes]] = []

    def keep(self, position: int, size: int) -> None:
        """Read a piece that later reads are answered from."""
        self._pieces.append((position, self.read(position, size)))

    def read_into(self, position: int, buffer: memoryview) -> int:
        for start, data in self._pieces:
            at = position - start
            if at >= 0 and at + len(buffer) <= len(data):
                buffer[:] = data[at : at + len(buffer)]
                return len(buffer)
        return super().read_into(position, buffer)


def read_ends(
    part: SegmentPart, index: IndexEnd | None, headers: BatchHeaders, columns: Collection[str], report: Report
) -> dict[str, Any] | None:
    """The columns of the ends that are wanted; None if the whole segment has to be walked for them.

    Parameters
    ----------
    part : SegmentPart
    index : IndexEnd or None
        Of the offset index.
    headers : BatchHeaders
        Reads the batches' headers.
    columns : collection of str
    report : Report
        Takes the bytes read.
    """
    if part.segment.is_07 or index is None or index.last is None:
        return None
    offset, position = part.segment.base_offset + index.last[0], index.last[1]
    needs_head, needs_tail = "firstTimestamp" in columns, not _OF_TAIL.isdisjoint(columns)
    with _Pieces(part.path) as source:
        source.size = min(source.size, part.segment.size)
        if not 0 <= position < source.size:
            return None
        found: dict[str, Any] = {}
        try:
            if source.size <= _SMALL:
                source.keep(0, source.size)
            if needs_head:
                found["firstTimestamp"] = _first_timestamp(source, part, headers)
            if needs_tail:
                if source.size > _SMALL:
                    source.keep(position, min(source.size - position, _LARGEST_TAIL))
                found |= _tail(source, part, position, offset, headers)
        finally:
            report.bytes_read += source.bytes_read
    is_known = (not needs_head or found["firstTimestamp"] is not None) and (not needs_tail or "end" in found)
    return found if is_known else None


def _first_timestamp(source: _Pieces, part: SegmentPart, headers: BatchHeaders) -> int | None:
    """The first timestamp of the first batch; None if it has none or is not sound."""
    if source.size > _SMALL:
        source.keep(0, _HEAD_SIZE)
    header = read_header(source, 0)
    if header is None:
        return None
    span = replace(_span(part), end=header.size, to_file_end=False)
    for chunk in header_chunks(headers, source, span, ("first_timestamp",)):
        return None if isinstance(chunk, Damage) else chunk["first_timestamp"][0].as_py()
    return None


def _tail(source: _Pieces, part: SegmentPart, position: int, offset: int, headers: BatchHeaders) -> dict[str, Any]:
    """The last offset and how the file ends, by the batches from the last index entry on; empty if they are not sound.

    An index is a hint: a batch has to begin there with a right checksum, and the offset of the entry, which no checksum
    covers either, has to lie among those that follow.
    """
    first = sound_entry_at(source, position, part.segment.base_offset, part.bound)
    if first is None or first.first_offset > offset:
        return {}
    last, end, is_torn, span = -1, position, False, replace(_span(part), start=position)
    for chunk in header_chunks(headers, source, span, ("last_offset", "position", "size")):
        if isinstance(chunk, Damage):
            if chunk.kind is not Kind.TORN:
                return {}
            is_torn = True
        else:
            last = chunk["last_offset"][-1].as_py()
            end = chunk["position"][-1].as_py() + chunk["size"][-1].as_py()
    if last < offset:
        return {}
    return {"lastOffset": last, "nextOffset": last + 1, "end": "torn" if is_torn else what_follows(source, end)}


def what_follows(source: LocalFile, position: int) -> str:
    """How a file ends whose last batch ends at `position`: ``clean``, ``zeroed`` or ``torn``."""
    if position == source.size:
        return "clean"
    return "zeroed" if is_zero_to_end(source, position) else "torn"


def _span(part: SegmentPart) -> Span:
    return whole_segment(part.segment, part.bound, is_last=part.is_active is not False)
