"""Rows as lines of JSON, as ``kafkalog dump --json`` prints them."""

from __future__ import annotations

import datetime
import functools
import math
from decimal import Decimal

import pyarrow as pa

from kafkalog_source.arrow.types import column_types
from kafkalog_source.cli.cells import column_values, json_value
from kafkalog_source.cli.layouts import json_layout
from kafkalog_source.cli.text import json_line
from kafkalog_source.columns import VIEWS

__all__ = ["json_lines", "json_values"]


def json_lines(batch: pa.RecordBatch) -> bytes:
    """One JSON object for each row, each with a line end."""
    if all(kind in _types_of_views() for kind in batch.schema.types):
        return json_layout(batch.schema).lines(batch)
    names = batch.schema.names
    rows = zip(*(json_values(column) for column in batch.columns), strict=True)
    lines = (json_line(dict(zip(names, row, strict=True))) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


@functools.cache
def _types_of_views() -> frozenset[pa.DataType]:
    """All types of columns; the result of a query may have others."""
    return frozenset(kind for view in VIEWS for kind in column_types(view).values())


def json_values(column: pa.Array) -> list[object]:
    """The values of a column as JSON has them."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    values = map(json_value, column_values(column))
    # Columns of a log hold only types that JSON has. The result of a query may have others.
    return list(values) if _is_of_json(column.type) else [_of_json(value) for value in values]


def _is_of_json(kind: pa.DataType) -> bool:
    simple = (pa.types.is_integer, pa.types.is_string, pa.types.is_binary, pa.types.is_boolean, pa.types.is_timestamp)
    if pa.types.is_list(kind):
        return _is_of_json(kind.value_type)
    if pa.types.is_struct(kind):
        return all(_is_of_json(field.type) and not pa.types.is_timestamp(field.type) for field in kind)
    return any(is_simple(kind) for is_simple in simple)


def _of_json(value: object) -> object:
    """Convert a value of any type: times to ISO 8601, and what else JSON lacks to text; no number is null."""
    if isinstance(value, list | tuple):
        return [_of_json(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _of_json(part) for name, part in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return int(value)
    return value if value is None or isinstance(value, str | int) else str(value)
