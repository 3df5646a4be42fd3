"""The columns with their Spark types, and projection by the schema that the user gives.

Nothing here needs pyarrow: Spark starts a worker just for the schema, and
importing pyarrow would take most of its time.
"""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, StructField, StructType, TimestampNTZType, TimestampType

from kafkalog_source.columns import CORRUPT_RECORD, VIEWS, default_columns
from kafkalog_source.errors import OptionError, did_you_mean, printable
from kafkalog_source.options.read_options import ReadOptions
from kafkalog_source.spark.types import spark_type

__all__ = ["SPARK_TYPES", "default_schema", "projected_columns"]

_VIEW_TYPES = {view: {name: spark_type(kind) for name, kind in found.columns.items()} for view, found in VIEWS.items()}
SPARK_TYPES = _VIEW_TYPES["records"]
"""Every column of a record and its Spark type, in the documented order."""

_USE_LTZ = (
    "Write {name} timestamp_ltz, which is this type whatever spark.sql.timestampType is, and cast the column where"
    " you need a timestamp without a time zone: Kafka's timestamps are points in time"
)


def default_schema(options: ReadOptions) -> StructType:
    """Return the schema of a read without one: that of Spark's Kafka source with headers, or that of the view."""
    existing = _existing(options)
    names = default_columns(options.view, options.mode, headers=options.include_headers)
    return StructType([StructField(name, existing[name]) for name in names])


def _existing(options: ReadOptions) -> dict[str, DataType]:
    return _VIEW_TYPES[options.view]


def projected_columns(schema: StructType, options: ReadOptions) -> tuple[str, ...]:
    """Check the user's schema, and return its columns in its order, with the documented spelling.

    Names are case-insensitive, as in Spark by default. Spark does not pass ``spark.sql.caseSensitive`` to a Python
    data source, so they are case-insensitive even if it is true.

    Raises
    ------
    OptionError
        If a column is unknown, repeated, of another type, excluded by the options, or required by them and missing.
    """
    if not schema.fields:
        raise OptionError("the schema names no column", remedy=_what_exists(_existing(options)))
    names = [_checked_name(field, options) for field in schema.fields]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise OptionError(f"the schema names column {doubled[0]} twice", remedy="Name each column once")
    if options.mode == "PERMISSIVE" and CORRUPT_RECORD in _existing(options) and CORRUPT_RECORD not in names:
        raise OptionError(
            f"mode=PERMISSIVE reports damage in column {CORRUPT_RECORD}, which the schema does not name",
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
            "the schema names column headers, but includeHeaders is false", remedy="Remove one of the two"
        )
    expected = existing[name]
    if field.dataType != expected:
        without_zone = isinstance(field.dataType, TimestampNTZType) and isinstance(expected, TimestampType)
        raise OptionError(
            f"column {field.name} has the wrong type",
            found=printable(_type_text(field.dataType)),
            expected=_type_text(expected),
            remedy=_USE_LTZ.format(name=field.name) if without_zone else _what_exists(existing),
        )
    return name


def _type_text(data_type: DataType) -> str:
    """Return a type as in DDL, and whether it forbids nulls inside, which DDL does not show."""
    inside = ""
    if isinstance(data_type, ArrayType) and isinstance(data_type.elementType, StructType):
        strict = not data_type.containsNull or not all(f.nullable for f in data_type.elementType.fields)
        inside = " with NOT NULL inside" if strict else ""
    return data_type.simpleString() + inside


def _suggestion(name: str, existing: dict[str, DataType]) -> str:
    return " ".join(filter(None, (did_you_mean(name, existing), _what_exists(existing))))


def _what_exists(existing: dict[str, DataType]) -> str:
    return "Columns are " + ", ".join(f"{name} {kind.simpleString()}" for name, kind in existing.items())
