"""What a line of `dump` is made of: for each row the columns in their order, as text, JSON or a format of the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from kafkalog_source._core.lines import Lines
from kafkalog_source.cli.cells import json_value, text_value
from kafkalog_source.cli.text import json_line
from kafkalog_source.columns import CORRUPT_RECORD, FILE_VIEWS, VIEWS

__all__ = ["Cell", "Layout", "json_layout", "text_layouts"]

_PLACE = ("topic", "partition", "offset")
_BATCH_PLACE = ("topic", "partition", "batchBaseOffset", "batchLastOffset")
_RARE = ("headers", CORRUPT_RECORD)
_NULL = b"null"
_TEXT_KINDS = {
    pa.string(): "printable",
    pa.int32(): "int32",
    pa.int64(): "int64",
    pa.bool_(): "boolean",
    pa.binary(): "bytes",
    pa.timestamp("us", tz="UTC"): "time",
}
_JSON_KINDS = {
    **_TEXT_KINDS,
    pa.string(): "quoted",
    pa.binary(): "json_bytes",
    pa.timestamp("us", tz="UTC"): "quoted_time",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a line.

    Attributes
    ----------
    column : str or None
        None for a prefix alone.
    kind : str
        How the value is written, see `kafkalog_source._core.lines.KINDS`.
    prefix : bytes
        What is before the value.
    null : bytes or None
        What is written for null; None if the cell is left out.
    joined : bool
        Whether the layout's separator comes before it.
    """

    column: str | None
    kind: str
    prefix: bytes = b""
    null: bytes | None = _NULL
    joined: bool = True


class Layout:
    """Writes the rows of record batches as lines.

    Parameters
    ----------
    cells : sequence of Cell
    before, between, after : bytes
        What begins a line, separates its cells, and ends it.
    write_other : callable, optional
        Gives the text of a value of a type that no kind of cell covers; such a cell has the kind ``raw``.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        *,
        before: bytes = b"",
        between: bytes = b"",
        after: bytes = b"",
        write_other: Callable[[object], str] | None = None,
    ) -> None:
        self._cells = cells
        self._write_other = write_other
        parts = [(cell.kind, cell.prefix, cell.joined, cell.null) for cell in cells]
        self._lines = Lines(parts, before, between, after)

    def lines(self, rows: pa.RecordBatch) -> bytes:
        """Return the lines of all rows, as UTF-8 unless a cell is ``raw``."""
        arrays = [() if cell.column is None else self._array(rows.column(cell.column)) for cell in self._cells]
        return self._lines.write(arrays, 0, rows.num_rows)

    def _array(self, column: pa.Array) -> tuple[object, ...]:
        if self._write_other is not None and _is_other(column.type):
            texts = [None if value is None else self._write_other(value).encode() for value in column.to_pylist()]
            column = pa.array(texts, pa.binary())
        return _described(column)


def json_layout(schema: pa.Schema) -> Layout:
    """A JSON object for each row, with a field for each column."""
    cells = [Cell(field.name, _kind(field, _JSON_KINDS, "json_headers"), _json_prefix(field.name)) for field in schema]
    write_other = lambda value: json_line(json_value(value))  # noqa: E731
    return Layout(cells, before=b"{", between=b", ", after=b"}\n", write_other=write_other)


def text_layouts(schema: pa.Schema, view: str) -> Callable[[pa.RecordBatch], Iterator[bytes]]:
    """How the rows of a view are written: the place of a record or batch, its time, and ``name=value`` for the rest."""
    if VIEWS[view].topic is None or not set(_PLACE) <= set(schema.names):
        whole = _text_layout(schema, view, has_place=True)
        return lambda rows: iter([whole.lines(rows)])
    # Rows of several kinds: the columns of the others are null, and a row about damage has no offset.
    with_place, without = (_text_layout(schema, view, has_place=has_place) for has_place in (True, False))
    return lambda rows: ((with_place if has_place else without).lines(run) for has_place, run in _runs(rows))


def _runs(rows: pa.RecordBatch) -> Iterator[tuple[bool, pa.RecordBatch]]:
    """Split rows into runs that all have, or all lack, a part of their place."""
    if not any(rows.column(name).null_count for name in _PLACE):
        yield True, rows
        return
    places = zip(*(rows.column(name).is_valid().to_pylist() for name in _PLACE), strict=True)
    complete = [all(parts) for parts in places]
    start = 0
    for stop in range(1, len(complete) + 1):
        if stop == len(complete) or complete[stop] != complete[start]:
            yield complete[start], rows.slice(start, stop - start)
            start = stop


def _text_layout(schema: pa.Schema, view: str, *, has_place: bool) -> Layout:
    rest = {field.name: field for field in schema}
    cells: list[Cell] = []
    omits_nulls = view in FILE_VIEWS or VIEWS[view].topic is not None
    if view not in FILE_VIEWS:
        cells = [*_place(rest, has_place=has_place), *_times(rest, None if omits_nulls else _NULL)]
    for name, field in rest.items():
        # Most records have no headers and are not corrupt; nulls of these columns are omitted.
        null = None if omits_nulls or name in _RARE else _NULL
        cells.append(Cell(name, _kind(field, _TEXT_KINDS, "headers"), f"{name}=".encode(), null))
    return Layout(cells, between=b" ", after=b"\n", write_other=text_value)


def _place(rest: dict[str, pa.Field], *, has_place: bool) -> list[Cell]:
    """The cells of ``TOPIC-PARTITION@OFFSET``, if its columns are there; they are taken out of `rest`."""
    names: Sequence[str] = _PLACE
    if has_place and all(name in rest for name in _PLACE):
        offsets = [Cell("offset", "int64", b"@", joined=False)]
    elif all(name in rest for name in _BATCH_PLACE):
        # The header of a v0 or v1 wrapper holds only its last offset.
        first = Cell("batchBaseOffset", "int64", b"@", b"", joined=False)
        names, offsets = _BATCH_PLACE, [first, Cell("batchLastOffset", "int64", b"..", joined=False)]
    else:
        return []
    for name in names:
        del rest[name]
    return [Cell("topic", "printable"), Cell("partition", "int32", b"-", joined=False), *offsets]


def _times(rest: dict[str, pa.Field], null: bytes | None) -> Iterator[Cell]:
    if rest.pop("timestamp", None) is not None:
        yield Cell("timestamp", "time", null=null)
    if rest.pop("timestampType", None) is not None:
        yield Cell("timestampType", "timestamp_type", null=null)


def _json_prefix(name: str) -> bytes:
    return f"{json_line(name)}: ".encode()


def _kind(field: pa.Field, kinds: dict[pa.DataType, str], headers: str) -> str:
    if _is_headers(field.type):
        return headers
    return kinds.get(field.type, "raw")


def _is_headers(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) and pa.types.is_struct(kind.value_type) and _field_names(kind) == ["key", "value"]


def _field_names(kind: pa.DataType) -> list[str]:
    return [kind.value_type.field(number).name for number in range(kind.value_type.num_fields)]


def _is_other(kind: pa.DataType) -> bool:
    return kind not in _TEXT_KINDS and not _is_headers(kind)


def _described(array: pa.Array) -> tuple[object, ...]:
    """An array's length, offset and buffers, as `Lines.write` takes them."""
    if not pa.types.is_list(array.type):
        return len(array), array.offset, array.buffers()
    headers = array.values
    structs = (len(headers), headers.offset, headers.buffers()[:1])
    children = (structs, _described(headers.field(0)), _described(headers.field(1)))
    return len(array), array.offset, array.buffers()[:2], children
