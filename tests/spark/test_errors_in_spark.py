"""What goes wrong reaches the user of Spark as our own message, without frames of ours around it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

Cases = Callable[[str], Path]


@pytest.fixture(scope="module")
def partition(fixture_case: Cases) -> Path:
    return fixture_case("v2-4.4") / "log/v2-none-0"


def message_of(action: Callable[[], object]) -> str:
    with pytest.raises(PySparkException) as caught:
        action()
    text = str(caught.value)
    assert "kafkalog_source.errors." in text
    assert len(re.findall(r'File ".*kafkalog_source', text)) <= 2
    return text


def load(spark: SparkSession, path: object, schema: str | None = None, **options: str) -> DataFrame:
    reader = spark.read.format("kafkalog").options(**options)
    return (reader.schema(schema) if schema else reader).load(str(path))


def test_an_unknown_option_is_refused_at_load(spark: SparkSession, partition: Path) -> None:
    text = message_of(lambda: load(spark, partition, startingOffset="earliest"))
    assert "OptionError: unknown option startingoffset. Did you mean startingOffsets?" in text


def test_a_broker_option_is_refused_at_load(spark: SparkSession, partition: Path) -> None:
    text = message_of(lambda: load(spark, partition, **{"kafka.bootstrap.servers": "localhost:9092"}))
    assert "connects to no broker" in text


def test_an_unknown_column_is_refused_and_lists_what_exists(spark: SparkSession, partition: Path) -> None:
    text = message_of(load(spark, partition, "ofset long").collect)
    assert "there is no column ofset. Did you mean offset?" in text
    assert "batchBaseOffset bigint" in text


def test_a_column_of_another_type_is_refused(spark: SparkSession, partition: Path) -> None:
    text = message_of(load(spark, partition, "offset int").collect)
    assert "column offset has the wrong type (found int, expected bigint)" in text


def test_a_null_in_a_not_null_column_is_refused(spark: SparkSession, fixture_case: Cases) -> None:
    logs = fixture_case("v2-4.4") / "log"
    text = message_of(load(spark, logs, "key binary not null").collect)
    assert "column key is NOT NULL in the schema, but a record has a null there" in text


def test_no_path_is_refused(spark: SparkSession) -> None:
    assert "no path is given" in message_of(spark.read.format("kafkalog").load)


def test_a_path_that_does_not_exist_is_named(spark: SparkSession, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    text = message_of(load(spark, missing).count)
    assert "LogDirError" in text
    assert str(missing) in text


def test_a_damaged_batch_names_file_and_position(spark: SparkSession, partition: Path, tmp_path: Path) -> None:
    segment = sorted(partition.glob("*.log"))[0]
    data = bytearray(segment.read_bytes())
    data[70] ^= 1
    copy = tmp_path / "t-0" / segment.name
    copy.parent.mkdir()
    copy.write_bytes(data)
    text = message_of(load(spark, copy.parent).collect)
    assert "CorruptBatchError" in text
    assert str(copy) in text
    assert "position 0" in text
