"""The columns of a read, their Arrow types, and the default columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.arrow.batch_headers import BATCH_TYPES
from kafkalog_source.arrow.damage import CORRUPT_RECORD, DAMAGE_TYPES
from kafkalog_source.errors import OptionError, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADERS_TYPE = pa.list_(pa.field("element", pa.struct([("key", pa.string()), ("value", pa.binary())])))
TIMESTAMP_TYPE = pa.timestamp("us", tz="UTC")

COLUMN_TYPES: dict[str, pa.DataType] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": TIMESTAMP_TYPE,
    "timestampType": pa.int32(),
    "headers": HEADERS_TYPE,
    "leaderEpoch": pa.int32(),
    "producerId": pa.int64(),
    "producerEpoch": pa.int32(),
    "sequence": pa.int32(),
    "isTransactional": pa.bool_(),
    "isControl": pa.bool_(),
    "controlType": pa.string(),
    "transactionState": pa.string(),
    "magic": pa.int32(),
    "compression": pa.string(),
    "keySize": pa.int32(),
    "valueSize": pa.int32(),
    "file": pa.string(),
    "batchPosition": pa.int64(),
    "batchBaseOffset": pa.int64(),
    CORRUPT_RECORD: pa.string(),
}
"""Every column in its documented order, with the Arrow type that Spark requires."""

DEFAULT_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
"""The columns of Spark's own Kafka source."""

VIEW_TYPES: dict[str, dict[str, pa.DataType]] = {
    "records": COLUMN_TYPES,
    "batches": BATCH_TYPES,
    "damage": DAMAGE_TYPES,
}
"""The columns of each view."""


def default_columns(view: str, mode: str, *, headers: bool) -> tuple[str, ...]:
    """Return the columns of a read that selects none."""
    if view == "damage":
        return tuple(DAMAGE_TYPES)
    names = DEFAULT_COLUMNS if view == "records" else tuple(BATCH_TYPES)
    more = (CORRUPT_RECORD,) if mode == "PERMISSIVE" else ()
    return (*(name for name in names if name != CORRUPT_RECORD and (headers or name != "headers")), *more)


def check_columns(columns: Sequence[str], view: str = "records", mode: str = "FAILFAST") -> tuple[str, ...]:
    """Return the selected columns; raise OptionError if one is unknown, selected twice or required but missing."""
    existing = VIEW_TYPES[view]
    for name in columns:
        if name not in existing:
            raise OptionError(
                f"the column {printable(name)!r} does not exist", expected="one of " + ", ".join(existing)
            )
    if not columns:
        raise OptionError("no column is selected", expected="one or more of " + ", ".join(existing))
    if len(set(columns)) < len(columns):
        raise OptionError("a column is selected twice", found=", ".join(columns))
    check_corrupt_record(columns, view, mode)
    return tuple(columns)


def check_corrupt_record(columns: Sequence[str], view: str, mode: str) -> None:
    """Raise OptionError for a PERMISSIVE read without the column that reports damage."""
    if mode == "PERMISSIVE" and view != "damage" and CORRUPT_RECORD not in columns:
        raise OptionError(
            f"mode=PERMISSIVE reports damage in the column {CORRUPT_RECORD}, which is not selected",
            found=", ".join(columns),
            remedy=f"Select {CORRUPT_RECORD} (a string) too, or use mode=DROPMALFORMED",
        )


def view_schema(columns: Sequence[str], view: str) -> pa.Schema:
    """Return the schema of a view's record batches, all columns nullable."""
    return pa.schema([pa.field(name, VIEW_TYPES[view][name]) for name in columns])


def arrow_schema(columns: Sequence[str]) -> pa.Schema:
    """Return the schema of record batches with these columns, all nullable."""
    return pa.schema([pa.field(name, COLUMN_TYPES[name]) for name in columns])
