"""The lines of `dump` made row by row from Python objects, as plainly as they can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from kafkalog_source.cli.cells import column_values, json_value, text_value
from kafkalog_source.cli.text import json_line
from kafkalog_source.columns import CORRUPT_RECORD, FILE_VIEWS, VIEWS

Row = Mapping[str, object]

_TIMESTAMP_TYPES = {-1: "NoTimestampType", 0: "CreateTime", 1: "LogAppendTime"}
_PLACE = ("topic", "partition", "offset")
_BATCH_PLACE = ("topic", "partition", "batchBaseOffset", "batchLastOffset")
_RARE = ("headers", CORRUPT_RECORD)


def json_lines(rows: pa.RecordBatch) -> str:
    return "".join(json_line({name: json_value(value) for name, value in row.items()}) + "\n" for row in _rows(rows))


def text_lines(rows: pa.RecordBatch, view: str) -> str:
    return "".join(_line(row, view) + "\n" for row in _rows(rows))


def _rows(rows: pa.RecordBatch) -> Iterator[Row]:
    for values in zip(*map(column_values, rows.columns), strict=True):
        yield dict(zip(rows.schema.names, values, strict=True))


def _line(row: Row, view: str) -> str:
    """Most columns are null in a row of a view with rows of several kinds."""
    if view in FILE_VIEWS or VIEWS[view].topic is not None:
        row = {name: value for name, value in row.items() if value is not None}
    return " ".join(_fields(row) if view in FILE_VIEWS else _parts(dict(row)))


def _parts(row: dict[str, object]) -> Iterator[str]:
    if all(name in row for name in _PLACE):
        topic, partition, offset = (text_value(row.pop(name)) for name in _PLACE)
        yield f"{topic}-{partition}@{offset}"
    elif all(name in row for name in _BATCH_PLACE):
        topic, partition, first, last = (row.pop(name) for name in _BATCH_PLACE)
        yield f"{text_value(topic)}-{text_value(partition)}@{'' if first is None else first}..{text_value(last)}"
    if "timestamp" in row:
        yield text_value(row.pop("timestamp"))
    if "timestampType" in row:
        kind = row.pop("timestampType")
        yield _TIMESTAMP_TYPES.get(kind, text_value(kind)) if isinstance(kind, int) else "null"
    yield from _fields({name: value for name, value in row.items() if value is not None or name not in _RARE})


def _fields(row: Row) -> Iterator[str]:
    return (f"{name}={text_value(value)}" for name, value in row.items())
