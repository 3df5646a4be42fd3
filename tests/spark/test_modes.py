"""Modes and the view of damage in Spark: schemas, rows, errors and what executors say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tests.builders import Batch, Record, encode, partition_dir, write_segment

SMALL = [Batch([Record(value=b"v" * 500)], base_offset=i) for i in range(40)]
SIZE = len(encode(SMALL[:1]))


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Two segments; batches 7 and 25 are damaged, and the last one is cut."""
    directory = partition_dir(tmp_path)
    for base in (0, 20):
        data = bytearray(encode(SMALL[base : base + 20]))
        data[SIZE * (7 if base == 0 else 5) + 100] ^= 1
        write_segment(directory, bytes(data[: len(data) - base // 2]), base_offset=base)
    return directory


def load(spark: SparkSession, path: Path, schema: str | None = None, **options: str) -> DataFrame:
    reader = spark.read.format("kafkalog").options(**options)
    return (reader.schema(schema) if schema else reader).load(str(path))


SMALL_TASKS = {"maxPartitionBytes": "2k", "openCostInBytes": "0"}


def test_failfast_is_the_default(spark: SparkSession, damaged: Path) -> None:
    with pytest.raises(PySparkException, match="the batch's checksum is wrong"):
        load(spark, damaged).collect()


@pytest.mark.parametrize("plan", [{}, SMALL_TASKS])
def test_dropmalformed_gives_the_rest(spark: SparkSession, damaged: Path, plan: dict[str, str]) -> None:
    frame = load(spark, damaged, mode="dropMalformed", **plan)
    assert "_corrupt_record" not in frame.columns
    offsets = sorted(row["offset"] for row in frame.select("offset").collect())
    assert offsets == [i for i in range(39) if i not in (7, 25)]


@pytest.mark.parametrize("plan", [{}, SMALL_TASKS])
def test_permissive_has_a_ninth_column(spark: SparkSession, damaged: Path, plan: dict[str, str]) -> None:
    frame = load(spark, damaged, mode="PERMISSIVE", **plan)
    assert frame.columns[8:] == ["_corrupt_record"]
    assert frame.count() == 39
    corrupt = frame.where("_corrupt_record is not null").orderBy("offset").collect()
    assert [(row["topic"], row["partition"], row["offset"]) for row in corrupt] == [("topic", 0, 7), ("topic", 0, 25)]
    assert [json.loads(row["_corrupt_record"])["position"] for row in corrupt] == [7 * SIZE, 5 * SIZE]
    assert {row["value"] for row in corrupt} == {None}


def test_permissive_wants_its_column_in_a_given_schema(spark: SparkSession, damaged: Path) -> None:
    with pytest.raises(PySparkException, match="Add _corrupt_record string to the schema"):
        load(spark, damaged, "offset long", mode="PERMISSIVE").collect()
    frame = load(spark, damaged, "_corrupt_record string, offset long", mode="PERMISSIVE")
    assert frame.where("_corrupt_record is null").count() == 37


@pytest.mark.parametrize("plan", [{}, SMALL_TASKS])
def test_recover_gives_what_comes_before_the_first_bad_batch(
    spark: SparkSession, damaged: Path, plan: dict[str, str]
) -> None:
    frame = load(spark, damaged, "offset long", mode="RECOVER", **plan)
    assert sorted(row["offset"] for row in frame.collect()) == list(range(7))
    view = load(spark, damaged, mode="RECOVER", view="damage", **plan)
    assert [row["kind"] for row in view.collect()] == ["cut", "cut"]


@pytest.mark.parametrize("plan", [{}, SMALL_TASKS])
def test_the_view_of_damage_is_a_dataframe(spark: SparkSession, damaged: Path, plan: dict[str, str]) -> None:
    view = load(spark, damaged, view="damage", **plan).orderBy("first_offset")
    assert view.dtypes == [
        ("topic", "string"),
        ("partition", "int"),
        ("file", "string"),
        ("position", "bigint"),
        ("size", "bigint"),
        ("kind", "string"),
        ("reason", "string"),
        ("expected", "string"),
        ("found", "string"),
        ("first_offset", "bigint"),
        ("last_offset", "bigint"),
    ]
    found = [(row["kind"], row["first_offset"], row["last_offset"]) for row in view.collect()]
    assert found == [("damaged", 7, 7), ("damaged", 25, 25), ("torn", 39, None)]
    chosen = load(spark, damaged, "reason string, position long", view="damage", **plan)
    assert chosen.columns == ["reason", "position"]
    assert chosen.count() == 3


def test_a_sound_directory_has_an_empty_view(spark: SparkSession, tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path), SMALL)
    assert load(spark, tmp_path, view="damage").collect() == []


def test_the_view_of_batches_has_a_row_for_each_batch(spark: SparkSession, damaged: Path) -> None:
    frame = load(spark, damaged, view="batches", mode="DROPMALFORMED", verifyChecksums="true", **SMALL_TASKS)
    found = frame.orderBy("batchBaseOffset").collect()
    assert [row["batchBaseOffset"] for row in found] == [i for i in range(39) if i not in (7, 25)]
    assert {(row["topic"], row["partition"], row["recordCount"], row["batchSize"]) for row in found} == {
        ("topic", 0, 1, SIZE)
    }
    chosen = load(spark, damaged, "crc long, batchPosition long", view="batches")
    assert chosen.columns == ["crc", "batchPosition"]
    assert chosen.count() == 39
