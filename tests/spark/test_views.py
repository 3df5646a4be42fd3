"""Views of files in Spark: the columns and rows of scan, also in many tasks and with a projection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import kafkalog_source
from kafkalog_source.columns import VIEWS as COLUMNS

pytestmark = pytest.mark.spark

VIEWS = ["segments", "transactions", "producer_state", "indexes", "checkpoints"]


def as_text(rows: list[dict[str, object]]) -> list[str]:
    # Spark gives times without a zone, in that of the session.
    return sorted(
        str({name: value for name, value in row.items() if "imestamp" not in name and name != "modified"})
        for row in rows
    )


@pytest.mark.parametrize("view", VIEWS)
def test_spark_gives_the_rows_of_scan(spark: SparkSession, fixture_case: Callable[[str], Path], view: str) -> None:
    log_dir = str(fixture_case("txn-4.4") / "log")
    table = kafkalog_source.scan(log_dir, view=view, subscribe="tx-a").to_table()
    assert table.num_rows
    for options in ({}, {"maxPartitionBytes": "1", "openCostInBytes": "0"}):
        reader = spark.read.format("kafkalog").option("view", view).option("subscribe", "tx-a")
        found = reader.options(**options).load(log_dir)
        assert found.columns == table.column_names
        assert as_text([row.asDict(True) for row in found.collect()]) == as_text(table.to_pylist())
    assert found.rdd.getNumPartitions() > 1
    chosen = reader.schema("file string, topic string").load(log_dir)
    assert sorted(map(str, chosen.collect())) == sorted(map(str, found.select("file", "topic").collect()))


@pytest.mark.parametrize("view", sorted(name for name, view in COLUMNS.items() if view.topic is not None))
def test_spark_gives_the_records_of_kafkas_own_topics(
    spark: SparkSession, fixture_case: Callable[[str], Path], view: str
) -> None:
    log = fixture_case("internal-topics") / "log"
    table = kafkalog_source.scan(log, view=view).to_table()
    assert table.num_rows
    found = spark.read.format("kafkalog").options(view=view, maxPartitionBytes="1").load(str(log))
    assert found.columns == table.column_names
    assert as_text([row.asDict(True) for row in found.collect()]) == as_text(table.to_pylist())


def test_the_ends_of_segments_are_those_of_a_walk_in_spark(
    spark: SparkSession, fixture_case: Callable[[str], Path]
) -> None:
    reader = spark.read.format("kafkalog").option("view", "segments")
    log_dir = str(fixture_case("txn-4.4") / "log")
    ends = reader.schema("file string, lastOffset long, nextOffset long, end string").load(log_dir)
    walked = reader.schema("file string, lastOffset long, nextOffset long, end string, batchCount long").load(log_dir)
    assert sorted(map(str, ends.collect())) == sorted(map(str, walked.drop("batchCount").collect()))
