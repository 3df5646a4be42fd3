"""The columns that a read can give, their Arrow types, and which of them are there by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

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
    "_corrupt_record": pa.string(),
}
"""Every column in its documented order, with its Arrow type as Spark demands it."""

DEFAULT_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
"""The columns of Spark's own Kafka source."""

_NOT_YET = frozenset({"_corrupt_record"})


def check_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns asked for, or an OptionError for one that does not exist or comes twice."""
    existing = [name for name in COLUMN_TYPES if name not in _NOT_YET]
    for name in columns:
        if name not in existing:
            problem = "is not supported yet" if name in _NOT_YET else "does not exist"
            raise OptionError(f"the column {printable(name)!r} {problem}", expected="one of " + ", ".join(existing))
    if not columns:
        raise OptionError("no column is asked for", expected="one or more of " + ", ".join(existing))
    if len(set(columns)) < len(columns):
        raise OptionError("a column is asked for twice", found=", ".join(columns))
    return tuple(columns)


def arrow_schema(columns: Sequence[str]) -> pa.Schema:
    """The schema of the record batches with these columns, all nullable."""
    return pa.schema([pa.field(name, COLUMN_TYPES[name]) for name in columns])
