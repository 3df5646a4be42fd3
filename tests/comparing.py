"""Rows of kafkalog beside rows of the reference, in one shape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

import kafkalog_source
from tests.reference import RefRecord

Row = tuple[Any, ...]

COLUMNS = (
    "key",
    "value",
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestampType",
    "headers",
    "leaderEpoch",
    "producerId",
    "producerEpoch",
    "sequence",
    "isTransactional",
    "isControl",
    "controlType",
    "magic",
    "compression",
    "keySize",
    "valueSize",
    "file",
    "batchPosition",
    "batchBaseOffset",
)
"""Every column that needs no other file than the segment."""


def table_rows(table: pa.Table) -> list[Row]:
    """The rows of an Arrow table, in plain values: times in microseconds, headers as pairs."""
    return list(zip(*(_plain(table.column(name)) for name in table.column_names), strict=True))


def _plain(column: pa.ChunkedArray) -> list[Any]:
    values: list[Any]
    if pa.types.is_timestamp(column.type):
        values = column.cast(pa.int64()).to_pylist()
        return values
    if pa.types.is_list(column.type):
        return [
            None if headers is None else tuple((header["key"], header["value"]) for header in headers)
            for headers in column.to_pylist()
        ]
    values = column.to_pylist()
    return values


def scan_rows(path: Path | Sequence[Path], columns: Sequence[str] = COLUMNS, **options: Any) -> list[Row]:
    """What `kafkalog_source.scan` reads, control records included."""
    paths = str(path) if isinstance(path, Path) else [str(one) for one in path]
    merged: dict[str, Any] = {"includeControlRecords": True, **options}
    return table_rows(kafkalog_source.scan(paths, columns=list(columns), **merged).to_table())


def reference_rows(
    records: Iterable[RefRecord],
    log: Path,
    *,
    topic: str | None,
    partition: int | None,
    columns: Sequence[str] = COLUMNS,
) -> list[Row]:
    """The rows that `scan_rows` must give for `records` of the segment `log`."""
    rows = []
    for record in records:
        row = {
            "key": record.key,
            "value": record.value,
            "topic": topic,
            "partition": partition,
            "offset": record.offset,
            "timestamp": record.timestamp_us,
            "timestampType": record.timestamp_type,
            "headers": record.headers,
            "leaderEpoch": record.leader_epoch,
            "producerId": record.producer_id,
            "producerEpoch": record.producer_epoch,
            "sequence": record.sequence,
            "isTransactional": record.is_transactional,
            "isControl": record.is_control,
            "controlType": record.control_type,
            "magic": record.magic,
            "compression": record.compression,
            "keySize": None if record.key is None else len(record.key),
            "valueSize": None if record.value is None else len(record.value),
            "file": str(log),
            "batchPosition": record.batch_position,
            "batchBaseOffset": record.batch_base_offset,
        }
        rows.append(tuple(row[name] for name in columns))
    return rows


def assert_same_rows(found: list[Row], wanted: list[Row], columns: Sequence[str] = COLUMNS) -> None:
    """Compare, and name the first row and column that differ instead of printing both lists."""
    for index, (one, other) in enumerate(zip(found, wanted, strict=False)):
        differing = {name: (a, b) for name, a, b in zip(columns, one, other, strict=True) if a != b}
        assert not differing, f"row {index} (found, wanted): {differing}"
    assert len(found) == len(wanted)
