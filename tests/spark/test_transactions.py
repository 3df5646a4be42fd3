"""Isolation levels and transaction states through Spark, where what a task needs travels in its split."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import kafkalog_source

COLUMNS = ["topic", "partition", "offset", "transactionState"]


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("split_size", ["2000", "128m"])
@pytest.mark.parametrize("gone", [(), (".txnindex", ".snapshot")])
def test_states_and_levels_equal_those_of_scan(
    spark: SparkSession,
    fixture_case: Callable[[str], Path],
    tmp_path: Path,
    level: str,
    split_size: str,
    gone: tuple[str, ...],
) -> None:
    for directory in (fixture_case("txn-4.4") / "log").glob("tx-*"):
        (tmp_path / directory.name).mkdir()
        for file in directory.iterdir():
            if file.suffix not in gone:
                (tmp_path / directory.name / file.name).symlink_to(file)
    options = {"isolationLevel": level, "maxPartitionBytes": split_size, "followSymlinks": "true"}
    schema = "topic string, partition int, offset long, transactionState string"
    frame = spark.read.format("kafkalog").schema(schema).options(**options).load(str(tmp_path))
    wanted = kafkalog_source.scan(tmp_path, columns=COLUMNS, **options).to_table().to_pylist()
    assert sorted(map(tuple, frame.collect()), key=str) == sorted((tuple(row.values()) for row in wanted), key=str)
    states = {row["transactionState"] for row in wanted}
    assert states == {None, "committed"} | (set() if level == "read_committed" else {"aborted", "open"})
