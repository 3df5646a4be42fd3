"""``format("kafkalog")`` gives the rows of ``scan()``, by every way of naming paths and columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import kafkalog_source
from kafkalog_source.spark import KafkaLogDataSource

Cases = Callable[[str], Path]
KAFKA_SCHEMA = (
    "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,timestampType:int,"
    "headers:array<struct<key:string,value:binary>>>"
)
COLUMNS = ("topic", "partition", "offset", "us", "timestampType", "key", "value", "headers")


@pytest.fixture(scope="module")
def logs(fixture_case: Cases) -> Path:
    return fixture_case("v2-4.4") / "log"


@pytest.fixture(scope="module")
def disks(fixture_case: Cases) -> list[str]:
    log = fixture_case("names-4.4") / "log"
    return [str(log / "disk1"), str(log / "disk2")]


def frozen(value: object) -> object:
    """Make values of Spark and of Arrow comparable."""
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, list):
        return tuple((header["key"], frozen(header["value"])) for header in value)
    return value


def by_place(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return sorted(rows, key=lambda row: row[:3])  # type: ignore[arg-type, return-value]


def rows_of_spark(frame: DataFrame) -> list[tuple[object, ...]]:
    from pyspark.sql import functions

    wanted = frame.withColumn("us", functions.unix_micros("timestamp")).select(*COLUMNS)
    return by_place([tuple(frozen(row[name]) for name in COLUMNS) for row in wanted.collect()])


def rows_of_scan(path: object, **options: object) -> list[tuple[object, ...]]:
    table = kafkalog_source.scan(path, **options).to_table()  # type: ignore[arg-type]
    table = table.append_column("us", table["timestamp"].cast(pa.int64())).select(list(COLUMNS))
    return by_place([tuple(frozen(row[name]) for name in COLUMNS) for row in table.to_pylist()])


def test_a_log_directory_reads_as_scan_does_with_no_registration(spark: SparkSession, logs: Path) -> None:
    frame = spark.read.format("kafkalog").load(str(logs))
    assert frame.schema.simpleString() == KAFKA_SCHEMA
    rows = rows_of_spark(frame)
    assert rows
    assert rows == rows_of_scan(logs)


def test_it_can_be_registered_too(spark: SparkSession, logs: Path) -> None:
    spark.dataSource.register(KafkaLogDataSource)
    path = str(logs / "v2-none-0")
    assert rows_of_spark(spark.read.format("kafkalog").load(path)) == rows_of_scan(path)


@pytest.mark.parametrize(
    "options", [{"maxPartitionBytes": "4096"}, {"minPartitions": "7"}, {"maxRecordsPerPartition": "10"}]
)
def test_splits_change_no_row(spark: SparkSession, logs: Path, options: dict[str, str]) -> None:
    path = str(logs / "v2-none-0")
    frame = spark.read.format("kafkalog").options(**options).load(path)
    assert frame.rdd.getNumPartitions() > 1
    assert rows_of_spark(frame) == rows_of_scan(path)


def test_the_schema_given_is_the_projection(spark: SparkSession, logs: Path) -> None:
    schema = "valueSize int, topic string, partition int, offset long"
    frame = spark.read.format("kafkalog").schema(schema).load(str(logs))
    assert frame.columns == ["valueSize", "topic", "partition", "offset"]
    sizes = sorted((row["topic"], row["partition"], row["offset"], row["valueSize"]) for row in frame.collect())
    values = [
        (topic, partition, offset, None if value is None else len(value))
        for topic, partition, offset, _, _, _, value, _ in rows_of_scan(logs)
    ]
    assert [row[:3] for row in sizes] == [row[:3] for row in values]
    assert {row[:3]: row[3] for row in sizes} == {row[:3]: row[3] for row in values}


def test_every_column_that_exists_can_be_read(spark: SparkSession, logs: Path) -> None:
    from kafkalog_source.spark.schema import SPARK_TYPES

    schema = ", ".join(f"{name} {kind.simpleString()}" for name, kind in SPARK_TYPES.items())
    frame = spark.read.format("kafkalog").schema(schema).load(str(logs / "v2-none-0"))
    first = frame.orderBy("offset").first()
    assert first is not None
    assert first["magic"] == 2
    assert first["batchBaseOffset"] <= first["offset"]


def test_not_null_columns_are_taken_where_no_null_comes(spark: SparkSession, logs: Path) -> None:
    schema = "offset long not null, topic string"
    frame = spark.read.format("kafkalog").schema(schema).load(str(logs / "v2-none-0"))
    assert frame.filter("offset is not null").count() == frame.count() > 0


def test_headers_can_be_left_out(spark: SparkSession, logs: Path) -> None:
    frame = spark.read.format("kafkalog").option("includeHeaders", "false").load(str(logs / "v2-none-0"))
    assert "headers" not in frame.columns
    assert frame.count() > 0


def test_several_paths_come_as_a_list_or_with_commas(spark: SparkSession, disks: list[str]) -> None:
    listed = rows_of_spark(spark.read.format("kafkalog").load(disks))
    assert listed == rows_of_scan(disks)
    assert listed == rows_of_spark(spark.read.format("kafkalog").load(",".join(disks)))


def test_a_partition_with_no_records_gives_no_rows(spark: SparkSession, disks: list[str]) -> None:
    frame = spark.read.format("kafkalog").option("subscribe", "empty").load(disks)
    assert frame.collect() == []
    assert frame.count() == 0


def test_sql_reads_through_a_temporary_view(spark: SparkSession, logs: Path) -> None:
    path = logs / "v2-none-0"
    spark.sql(f"create or replace temporary view kafkalog_view (offset long) using kafkalog options (path '{path}')")
    counted = spark.sql("select count(*) as n, max(offset) as last from kafkalog_view").first()
    rows = rows_of_scan(path)
    assert counted is not None
    assert (counted["n"], counted["last"]) == (len(rows), rows[-1][2])


def test_rows_union_with_those_of_sparks_kafka_source(spark: SparkSession, logs: Path) -> None:
    from pyspark.sql.types import (
        ArrayType,
        BinaryType,
        IntegerType,
        LongType,
        StringType,
        StructField,
        StructType,
        TimestampType,
    )

    header = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
    kafka = StructType(
        [
            StructField("key", BinaryType()),
            StructField("value", BinaryType()),
            StructField("topic", StringType()),
            StructField("partition", IntegerType()),
            StructField("offset", LongType()),
            StructField("timestamp", TimestampType()),
            StructField("timestampType", IntegerType()),
            StructField("headers", ArrayType(header)),
        ]
    )
    ours = spark.read.format("kafkalog").load(str(logs / "v2-none-0"))
    assert ours.schema == kafka
    theirs = spark.createDataFrame([(b"k", b"v", "t", 0, 1, None, 0, None)], kafka)
    assert ours.union(theirs).count() == ours.count() + 1
