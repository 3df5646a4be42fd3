"""Columns as Spark types, and a schema given by the user as the projection that it is.

Nothing here needs pyarrow: Spark starts a worker only to ask for the schema, and
importing pyarrow would be most of that worker's time.
"""

from __future__ import annotations

import difflib

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from kafkalog_source.errors import OptionError, printable
from kafkalog_source.reading.options import ReadOptions

__all__ = ["SPARK_TYPES", "default_schema", "projected_columns"]

_HEADERS = ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())]))

SPARK_TYPES: dict[str, DataType] = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
    "headers": _HEADERS,
    "leaderEpoch": IntegerType(),
    "producerId": LongType(),
    "producerEpoch": IntegerType(),
    "sequence": IntegerType(),
    "isTransactional": BooleanType(),
    "isControl": BooleanType(),
    "controlType": StringType(),
    "transactionState": StringType(),
    "magic": IntegerType(),
    "compression": StringType(),
    "keySize": IntegerType(),
    "valueSize": IntegerType(),
    "file": StringType(),
    "batchPosition": LongType(),
    "batchBaseOffset": LongType(),
    "_corrupt_record": StringType(),
}
"""Every column and its Spark type, in the documented order."""

_DEFAULT = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
# What builds one of these takes it out.
_NOT_YET = frozenset({"_corrupt_record"})


def default_schema(options: ReadOptions) -> StructType:
    """Give the schema of a read that names none: that of Spark's Kafka source, with headers."""
    names = [name for name in _DEFAULT if name != "headers" or options.include_headers]
    return StructType([StructField(name, SPARK_TYPES[name]) for name in names])


def projected_columns(schema: StructType, options: ReadOptions) -> tuple[str, ...]:
    """Check a schema given by the user, and give its columns in its order.

    Raises
    ------
    OptionError
        For an unknown or doubled name, another type, and a column that the options leave out.
    """
    if not schema.fields:
        raise OptionError("the schema names no column", remedy=_what_exists())
    names = [_checked_name(field, options) for field in schema.fields]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise OptionError(f"the schema names column {doubled[0]} twice", remedy="Name each column once")
    return tuple(names)


def _checked_name(field: StructField, options: ReadOptions) -> str:
    if field.name not in SPARK_TYPES:
        raise OptionError(f"there is no column {printable(field.name)}", remedy=_suggestion(field.name))
    if field.name in _NOT_YET:
        raise OptionError(f"column {field.name} is not supported yet", remedy="Leave it out of the schema")
    if field.name == "headers" and not options.include_headers:
        raise OptionError(
            "the schema names column headers, and includeHeaders is false", remedy="Leave one of the two out"
        )
    expected = SPARK_TYPES[field.name]
    if field.dataType != expected:
        raise OptionError(
            f"column {field.name} has another type",
            found=printable(_type_text(field.dataType)),
            expected=_type_text(expected),
            remedy=_what_exists(),
        )
    return field.name


def _type_text(data_type: DataType) -> str:
    """Write a type as DDL does, and whether it forbids nulls inside, which DDL text alone hides."""
    inside = ""
    if isinstance(data_type, ArrayType) and isinstance(data_type.elementType, StructType):
        strict = not data_type.containsNull or not all(f.nullable for f in data_type.elementType.fields)
        inside = " with NOT NULL inside" if strict else ""
    return data_type.simpleString() + inside


def _suggestion(name: str) -> str:
    by_lower = {column.lower(): column for column in SPARK_TYPES}
    near = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.7)
    return f"Did you mean {by_lower[near[0]]}? {_what_exists()}" if near else _what_exists()


def _what_exists() -> str:
    built = {name: kind for name, kind in SPARK_TYPES.items() if name not in _NOT_YET}
    return "Columns are " + ", ".join(f"{name} {kind.simpleString()}" for name, kind in built.items())
