"""The headers of a segment's batches as Arrow arrays, some thousands at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.batch_headers import Collected
from kafkalog_source.segment.damage.description import Damage
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_source._core.headers import HeaderTable
    from kafkalog_source.logdir.model import SegmentFile
    from kafkalog_source.segment.batch_headers import BatchHeaders
    from kafkalog_source.segment.source import LocalFile

__all__ = ["header_chunks", "whole_segment"]


def whole_segment(segment: SegmentFile, bound: int, *, is_last: bool) -> Span:
    """All of a segment whose offsets lie below `bound`."""
    base_07 = segment.base_offset if segment.is_07 else None
    return Span(0, segment.size, segment.base_offset, bound, MAX_OFFSET, True, is_last, base_07)


def header_chunks(
    headers: BatchHeaders, source: LocalFile, span: Span, names: Sequence[str]
) -> Iterator[dict[str, pa.Array] | Damage]:
    """The batches of a span and the damage among them, in file order.

    Parameters
    ----------
    headers : BatchHeaders
    source : LocalFile
    span : Span
    names : sequence of str
        Of `HEADER_NUMBERS`.

    Yields
    ------
    dict or Damage
        int64 arrays by name, null where a header does not hold the number; never of length 0.
    """
    table = headers.table
    # An earlier walk may have ended with an error, and left rows in the table.
    table.held = 0
    table.finish()
    for event in headers.reader(source, span, 0, MAX_OFFSET):
        if table.rows > table.held and (table.is_full or not isinstance(event, Collected)):
            yield _taken(table, names)
        if isinstance(event, Damage):
            yield event


def _taken(table: HeaderTable, names: Sequence[str]) -> dict[str, pa.Array]:
    count = table.rows - table.held
    found = table.finish()
    return {name: _array(count, *found[name]) for name in names}


def _array(count: int, content: bytearray, nulls: int, valid: bytearray) -> pa.Array:
    return pa.Array.from_buffers(pa.int64(), count, [pa.py_buffer(valid), pa.py_buffer(content)], nulls)
