"""Columns as Spark types, and a schema given by the user as the projection that it is.

Nothing here needs pyarrow: Spark starts a worker only to ask for the schema, and
importing pyarrow would be most of that worker's time.
"""

from __future__ import annotations

import difflib

from pyspark.sql.types import ArrayType, DataType, StructField, StructType, TimestampNTZType, TimestampType

from kafkalog_source.columns import CORRUPT_RECORD, VIEWS, default_columns
from kafkalog_source.errors import OptionError, printable
from kafkalog_source.options.read_options import ReadOptions
from kafkalog_source.spark.types import spark_type

__all__ = ["SPARK_TYPES", "default_schema", "projected_columns"]

_VIEW_TYPES = {view: {name: spark_type(kind) for name, kind in found.columns.items()} for view, found in VIEWS.items()}
SPARK_TYPES = _VIEW_TYPES["records"]
"""Every column of a record and its Spark type, in the documented order."""

_USE_LTZ = (
    "Write {name} timestamp_ltz, which is this type whatever spark.sql.timestampType says, and cast the column where"
    " you need a time without a zone: Kafka's timestamps are points in time"
)


def default_schema(options: ReadOptions) -> StructType:
    """Give the schema of a read that names none: that of Spark's Kafka source with headers, or a view's."""
    existing = _existing(options)
    names = default_columns(options.view, options.mode, headers=options.include_headers)
    return StructType([StructField(name, existing[name]) for name in names])


def _existing(options: ReadOptions) -> dict[str, DataType]:
    return _VIEW_TYPES[options.view]


def projected_columns(schema: StructType, options: ReadOptions) -> tuple[str, ...]:
    """Check a schema given by the user, and give its columns in its order, spelled as here.

    Upper and lower case are one, as they are for Spark by default. Spark does not let a Python data source know
    ``spark.sql.caseSensitive``; with true, a name of other case is taken as well.

    Raises
    ------
    OptionError
        For an unknown or doubled name, another type, a column that the options leave out, and one that they demand.
    """
    if not schema.fields:
        raise OptionError("the schema names no column", remedy=_what_exists(_existing(options)))
    names = [_checked_name(field, options) for field in schema.fields]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise OptionError(f"the schema names column {doubled[0]} twice", remedy="Name each column once")
    if options.mode == "PERMISSIVE" and CORRUPT_RECORD in _existing(options) and CORRUPT_RECORD not in names:
        raise OptionError(
            f"mode=PERMISSIVE tells of damage in column {CORRUPT_RECORD}, which the schema does not name",
            remedy=f"Add {CORRUPT_RECORD} string to the schema, or choose mode=DROPMALFORMED",
        )
    return tuple(names)


def _checked_name(field: StructField, options: ReadOptions) -> str:
    existing = _existing(options)
    name = next((column for column in existing if column.lower() == field.name.lower()), None)
    if name is None:
        raise OptionError(f"there is no column {printable(field.name)}", remedy=_suggestion(field.name, existing))
    if name == "headers" and not options.include_headers:
        raise OptionError(
            "the schema names column headers, and includeHeaders is false", remedy="Leave one of the two out"
        )
    expected = existing[name]
    if field.dataType != expected:
        without_zone = isinstance(field.dataType, TimestampNTZType) and isinstance(expected, TimestampType)
        raise OptionError(
            f"column {field.name} has another type",
            found=printable(_type_text(field.dataType)),
            expected=_type_text(expected),
            remedy=_USE_LTZ.format(name=field.name) if without_zone else _what_exists(existing),
        )
    return name


def _type_text(data_type: DataType) -> str:
    """Write a type as DDL does, and whether it forbids nulls inside, which DDL text alone hides."""
    inside = ""
    if isinstance(data_type, ArrayType) and isinstance(data_type.elementType, StructType):
        strict = not data_type.containsNull or not all(f.nullable for f in data_type.elementType.fields)
        inside = " with NOT NULL inside" if strict else ""
    return data_type.simpleString() + inside


def _suggestion(name: str, existing: dict[str, DataType]) -> str:
    by_lower = {column.lower(): column for column in existing}
    near = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.7)
    return f"Did you mean {by_lower[near[0]]}? {_what_exists(existing)}" if near else _what_exists(existing)


def _what_exists(existing: dict[str, DataType]) -> str:
    return "Columns are " + ", ".join(f"{name} {kind.simpleString()}" for name, kind in existing.items())
