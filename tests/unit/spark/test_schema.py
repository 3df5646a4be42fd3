"""A schema given by the user is the projection; the default one is that of Spark's Kafka source."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
)

from kafkalog_source.columns import VIEWS, default_columns
from kafkalog_source.errors import OptionError
from kafkalog_source.options.read_options import ReadOptions
from kafkalog_source.spark.schema import SPARK_TYPES, default_schema, projected_columns

OPTIONS = ReadOptions(paths=("/x",))


def struct(*fields: tuple[str, DataType]) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields])


def refusal(schema: StructType, options: ReadOptions = OPTIONS) -> str:
    with pytest.raises(OptionError) as caught:
        projected_columns(schema, options)
    return str(caught.value)


def test_the_default_schema_is_that_of_sparks_kafka_source_with_headers() -> None:
    assert default_schema(OPTIONS).simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,"
        "timestampType:int,headers:array<struct<key:string,value:binary>>>"
    )
    assert all(field.nullable for field in default_schema(OPTIONS).fields)


def test_headers_can_be_left_out() -> None:
    names = default_schema(ReadOptions(paths=("/x",), include_headers=False)).fieldNames()
    assert names == ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]


def test_spark_types_are_the_arrow_types_exactly() -> None:
    types = pytest.importorskip("pyspark.sql.pandas.types")
    from kafkalog_source.arrow.schema import COLUMN_TYPES, arrow_schema

    assert list(COLUMN_TYPES) == list(SPARK_TYPES)
    assert list(default_columns("records", "FAILFAST", headers=True)) == default_schema(OPTIONS).fieldNames()
    everything = struct(*SPARK_TYPES.items())
    assert types.to_arrow_schema(everything, timezone="UTC").equals(arrow_schema(tuple(SPARK_TYPES)))


def test_a_schema_is_a_projection_in_its_own_order() -> None:
    schema = struct(("valueSize", IntegerType()), ("offset", LongType()), ("headers", SPARK_TYPES["headers"]))
    assert projected_columns(schema, OPTIONS) == ("valueSize", "offset", "headers")


def test_nullability_of_a_column_is_no_part_of_its_type() -> None:
    assert projected_columns(StructType([StructField("offset", LongType(), False)]), OPTIONS) == ("offset",)


def test_an_unknown_column_lists_what_exists() -> None:
    message = refusal(struct(("qqqq", LongType())))
    assert "there is no column qqqq" in message
    assert "batchBaseOffset bigint" in message


def test_a_misspelled_column_suggests_the_right_one_in_any_case() -> None:
    assert "Did you mean timestampType?" in refusal(struct(("TIMESTAMPTYP", IntegerType())))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("offset", IntegerType()),
        ("key", StringType()),
        ("timestamp", TimestampNTZType()),
        ("headers", ArrayType(StringType())),
        (
            "headers",
            ArrayType(StructType([StructField("key", BinaryType()), StructField("value", BinaryType())])),
        ),
    ],
)
def test_another_type_is_refused(name: str, kind: DataType) -> None:
    message = refusal(struct((name, kind)))
    assert f"column {name} has the wrong type (found {kind.simpleString()}" in message
    assert f"expected {SPARK_TYPES[name].simpleString()}" in message


def test_headers_that_forbid_null_inside_are_refused_with_the_reason() -> None:
    element = StructType([StructField("key", StringType(), False), StructField("value", BinaryType())])
    assert "NOT NULL inside" in refusal(struct(("headers", ArrayType(element))))


def test_a_column_named_twice_is_refused() -> None:
    assert "offset twice" in refusal(struct(("offset", LongType()), ("offset", LongType())))


def test_a_schema_without_columns_is_refused() -> None:
    assert "names no column" in refusal(StructType([]))


def test_permissive_has_a_ninth_column_that_a_given_schema_has_to_name() -> None:
    permissive = ReadOptions(paths=("/x",), mode="PERMISSIVE")
    assert default_schema(permissive).fieldNames()[-1] == "_corrupt_record"
    assert "Add _corrupt_record string to the schema" in refusal(struct(("offset", LongType())), permissive)
    both = struct(("offset", LongType()), ("_corrupt_record", StringType()))
    assert projected_columns(both, permissive) == ("offset", "_corrupt_record")
    assert projected_columns(both, OPTIONS) == ("offset", "_corrupt_record")


def test_the_view_of_damage_has_columns_of_its_own() -> None:
    types = pytest.importorskip("pyspark.sql.pandas.types")
    from kafkalog_source.arrow.schema import view_schema

    view = ReadOptions(paths=("/x",), view="damage", mode="PERMISSIVE")
    schema = default_schema(view)
    assert types.to_arrow_schema(schema, timezone="UTC").equals(view_schema(tuple(VIEWS["damage"].columns), "damage"))
    assert projected_columns(struct(("reason", StringType())), view) == ("reason",)
    assert "there is no column offset" in refusal(struct(("offset", LongType())), view)


@pytest.mark.parametrize("mode", ["FAILFAST", "PERMISSIVE"])
def test_the_view_of_batches_has_columns_of_its_own(mode: str) -> None:
    types = pytest.importorskip("pyspark.sql.pandas.types")
    from kafkalog_source.arrow.schema import view_schema

    view = ReadOptions(paths=("/x",), view="batches", mode=mode)
    columns = default_columns("batches", mode, headers=True)
    assert types.to_arrow_schema(default_schema(view), timezone="UTC").equals(view_schema(columns, "batches"))
    wanted = struct(("crc", LongType()), ("_corrupt_record", StringType()))
    assert projected_columns(wanted, view) == ("crc", "_corrupt_record")
    assert "there is no column offset" in refusal(struct(("offset", LongType())), view)


def test_headers_cannot_be_named_and_left_out() -> None:
    options = ReadOptions(paths=("/x",), include_headers=False)
    assert "includeHeaders is false" in refusal(struct(("headers", SPARK_TYPES["headers"])), options)


def test_upper_and_lower_case_are_one_and_the_columns_are_spelled_as_documented() -> None:
    schema = struct(("OFFSET", LongType()), ("valuesize", IntegerType()), ("_Corrupt_Record", StringType()))
    assert projected_columns(schema, OPTIONS) == ("offset", "valueSize", "_corrupt_record")
    permissive = ReadOptions(paths=("/x",), mode="PERMISSIVE")
    assert projected_columns(schema, permissive) == ("offset", "valueSize", "_corrupt_record")


def test_two_spellings_of_a_column_are_one_column_twice() -> None:
    assert "names column offset twice" in refusal(struct(("offset", LongType()), ("Offset", LongType())))


def test_a_time_without_zone_says_which_type_to_write() -> None:
    said = refusal(struct(("timestamp", TimestampNTZType())))
    assert "column timestamp has the wrong type (found timestamp_ntz, expected timestamp)" in said
    assert "Write timestamp timestamp_ltz" in said
