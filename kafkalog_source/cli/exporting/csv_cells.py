"""The columns of a CSV file: bytes as text where they are text, nested values as JSON.

Nulls are empty fields, and empty values are ``""``.
"""

from __future__ import annotations

import base64

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.cli.cells import NOT_TEXT, as_text, column_values
from kafkalog_source.cli.exporting.json_lines import json_values
from kafkalog_source.cli.text import json_line

__all__ = ["csv_batch", "csv_schema"]

_BASE64 = "base64:"
_YEAR_0, _YEAR_10000 = -62_167_219_200, 253_402_300_800
"""The first seconds of these years, between which Arrow formats times correctly."""
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def csv_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of the cells: text instead of bytes, nested values and timestamps."""
    return pa.schema([pa.field(each.name, pa.string() if _is_text(each.type) else each.type) for each in schema])


def csv_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Convert the columns that CSV cannot hold."""
    columns = [_cells(column) if _is_text(column.type) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=csv_schema(batch.schema))


def _is_text(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (_is_binary, pa.types.is_nested, pa.types.is_timestamp))


def _is_binary(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary))


def _cells(column: pa.Array) -> pa.Array:
    if _is_binary(column.type):
        return _text(column)
    if pa.types.is_timestamp(column.type):
        return _times(column)
    return pa.array([None if value is None else json_line(value) for value in json_values(column)], pa.string())


def _text(column: pa.Array) -> pa.Array:
    """Bytes as text; as ``base64:…`` where they are no text, or would be taken for such a cell."""
    try:
        cells = column.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_cell(value) for value in column.to_pylist()], pa.string())
    unclear = pc.or_(pc.match_substring_regex(cells, NOT_TEXT), pc.starts_with(cells, _BASE64))
    if pc.any(unclear).as_py():
        return pa.array([_cell(value) for value in column.to_pylist()], pa.string())
    return cells


def _cell(value: bytes | None) -> str | None:
    if value is None:
        return None
    text = as_text(value)
    if text is None or text.startswith(_BASE64):
        return _BASE64 + base64.b64encode(value).decode("ascii")
    return text


def _times(column: pa.Array) -> pa.Array:
    """Times as ISO 8601 in UTC."""
    limits = pc.min_max(column.cast(pa.int64())).as_py()
    per_second = _PER_SECOND[column.type.unit]
    if limits["min"] is None or (limits["min"] >= _YEAR_0 * per_second and limits["max"] < _YEAR_10000 * per_second):
        return pc.strftime(column, "%Y-%m-%dT%H:%M:%S" + ("Z" if column.type.tz else ""))
    return pa.array(column_values(column), pa.string())
