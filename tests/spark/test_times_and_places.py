"""Times and places mean the same through Spark as through ``scan``, whatever the session's time zone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import kafkalog_source
from tests.builders import Batch, Record, partition_dir, write_segment

HOUR = 3_600_000
NOON_MS = 1_795_176_000_000
"""2026-11-20T12:00Z."""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten records in two partitions of orders, one an hour from noon on."""
    path = tmp_path_factory.mktemp("logs")
    for partition in (0, 1):
        batches = [
            Batch([Record()], base_offset=number, base_timestamp=NOON_MS + number * HOUR) for number in range(10)
        ]
        write_segment(partition_dir(path, "orders", partition), batches)
    return path


@pytest.fixture
def elsewhere(spark: SparkSession) -> Iterator[SparkSession]:
    """A session whose zone is not UTC."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield spark
    assert before is not None
    spark.conf.set("spark.sql.session.timeZone", before)


def rows(frame: DataFrame) -> list[tuple[int, int]]:
    return sorted((row["partition"], row["offset"]) for row in frame.select("partition", "offset").collect())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"places": "orders:1@3..5, orders:0@9"}, [(0, 9), (1, 3), (1, 4)]),
        ({"places": "orders:0@2026-11-20T20:00.."}, [(0, 8), (0, 9)]),
        # In Tokyo the 20th ended at 15:00 UTC.
        ({"places": "orders:0@yesterday", "now": "2026-11-20T23:00Z", "timeZone": "Asia/Tokyo"},
         [(0, 0), (0, 1), (0, 2)]),
        ({"startingTimestamp": "-1h", "endingTimestamp": "now", "now": "2026-11-20T14:00"}, [(0, 1), (1, 1)]),
        ({"startingOffsetsByTimestamp": '{"orders": {"0": "2026-11-20T21:00+00:00", "1": 1795208400000}}'},
         [(0, 9), (1, 9)]),
    ],
)  # fmt: skip
def test_spark_reads_what_scan_reads(
    elsewhere: SparkSession, logs: Path, options: dict[str, str], expected: list[tuple[int, int]]
) -> None:
    table = kafkalog_source.scan(logs, columns=["partition", "offset"], **options).to_table()  # type: ignore[arg-type]
    assert sorted((row["partition"], row["offset"]) for row in table.to_pylist()) == expected
    assert rows(elsewhere.read.format("kafkalog").options(**options).load(str(logs))) == expected


def test_a_misspelt_topic_is_suggested(spark: SparkSession, logs: Path) -> None:
    frame = spark.read.format("kafkalog").option("places", "order@yesterday..").load(str(logs))
    with pytest.raises(PySparkException, match=r"not found: order\. Did you mean orders\?"):
        frame.collect()


def test_a_stream_starts_at_a_place(spark: SparkSession, logs: Path, tmp_path: Path) -> None:
    stream = spark.readStream.format("kafkalog").option("places", "orders:1@2026-11-20T19:00..").load(str(logs))
    out, checkpoint = os.fspath(tmp_path / "out"), os.fspath(tmp_path / "checkpoint")
    query = stream.writeStream.format("parquet").option("checkpointLocation", checkpoint).trigger(availableNow=True)
    query.start(out).awaitTermination()
    assert rows(spark.read.parquet(out)) == [(1, 7), (1, 8), (1, 9)]
