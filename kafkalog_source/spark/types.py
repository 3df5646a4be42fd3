"""The types of the table of columns as Spark's."""

from __future__ import annotations

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

from kafkalog_source.columns import BINARY, BOOLEAN, INT, LONG, STRING, TIMESTAMP, ArrayOf, StructOf, Type

__all__ = ["spark_type"]

_SIMPLE: dict[str, DataType] = {
    STRING: StringType(),
    INT: IntegerType(),
    LONG: LongType(),
    BOOLEAN: BooleanType(),
    BINARY: BinaryType(),
    TIMESTAMP: TimestampType(),
}


def spark_type(kind: Type) -> DataType:
    """Spark's type, with nullable elements and fields."""
    if isinstance(kind, ArrayOf):
        return ArrayType(spark_type(kind.element))
    if isinstance(kind, StructOf):
        return StructType([StructField(name, spark_type(field)) for name, field in kind.fields])
    return _SIMPLE[kind]
