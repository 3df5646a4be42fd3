"""The types of the table of columns as Arrow's."""

from __future__ import annotations

import pyarrow as pa

from kafkalog_source.columns import BINARY, BOOLEAN, INT, LONG, STRING, TIMESTAMP, VIEWS, ArrayOf, StructOf, Type

__all__ = ["arrow_type", "column_types"]

_SIMPLE = {
    STRING: pa.string(),
    INT: pa.int32(),
    LONG: pa.int64(),
    BOOLEAN: pa.bool_(),
    BINARY: pa.binary(),
    TIMESTAMP: pa.timestamp("us", tz="UTC"),
}


def arrow_type(kind: Type) -> pa.DataType:
    """Arrow's type, with nullable elements and fields, named as Spark names them."""
    if isinstance(kind, ArrayOf):
        return pa.list_(pa.field("element", arrow_type(kind.element)))
    if isinstance(kind, StructOf):
        return pa.struct([(name, arrow_type(field)) for name, field in kind.fields])
    return _SIMPLE[kind]


def column_types(view: str) -> dict[str, pa.DataType]:
    """The columns of a view with their types, in their documented order."""
    return {name: arrow_type(kind) for name, kind in VIEWS[view].columns.items()}
