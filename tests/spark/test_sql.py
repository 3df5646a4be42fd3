"""Names and types as SQL and the session's settings have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafkalog_source import scan


@pytest.fixture(scope="module")
def partition(fixture_case: Callable[[str], Path]) -> Path:
    return fixture_case("v2-4.4") / "log/v2-none-0"


@pytest.fixture
def without_zone(spark: SparkSession) -> Iterator[SparkSession]:
    spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    yield spark
    spark.conf.unset("spark.sql.timestampType")


def test_a_temporary_view_reads_what_a_scan_reads(spark: SparkSession, partition: Path) -> None:
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW v USING kafkalog OPTIONS (path '{partition}')")
    found = [row[0] for row in spark.sql("SELECT offset FROM v ORDER BY offset").collect()]
    assert found == scan(partition, columns=["offset"]).to_table()["offset"].to_pylist()


def test_create_table_says_that_a_temporary_view_is_needed(spark: SparkSession, partition: Path) -> None:
    with pytest.raises(PySparkException) as caught:  # noqa: PT012 - which of them raises depends on Spark's version
        spark.sql(f"CREATE TABLE made USING kafkalog OPTIONS (path '{partition}')")
        spark.sql("SELECT offset FROM made").collect()
    assert "CREATE TEMPORARY VIEW v USING kafkalog OPTIONS (path '/path/to/kafka-logs')" in str(caught.value)


def test_columns_are_found_in_any_case_and_keep_the_users_spelling(spark: SparkSession, partition: Path) -> None:
    frame = spark.read.format("kafkalog").schema("OFFSET long not null, valuesize int").load(str(partition))
    expected = scan(partition, columns=["offset", "valueSize"]).to_table()
    assert frame.columns == ["OFFSET", "valuesize"]
    rows = sorted(tuple(row) for row in frame.collect())
    assert rows == list(zip(*(column.to_pylist() for column in expected.columns), strict=True))


def test_times_are_right_where_the_session_prefers_times_without_zone(
    without_zone: SparkSession, partition: Path
) -> None:
    expected = [time.replace(tzinfo=None) for time in scan(partition, columns=["timestamp"]).to_table()[0].to_pylist()]
    reader = without_zone.read.format("kafkalog")
    for frame in (reader.load(str(partition)), reader.schema("timestamp timestamp_ltz").load(str(partition))):
        # The session's zone is UTC; as text, a time does not depend on that of this computer.
        shown = frame.selectExpr("CAST(CAST(timestamp AS timestamp_ntz) AS string) AS time").collect()
        assert sorted(row["time"][:19] for row in shown) == sorted(str(time)[:19] for time in expected)


def test_a_time_without_zone_says_what_to_write(without_zone: SparkSession, partition: Path) -> None:
    with pytest.raises(PySparkException, match="Write timestamp timestamp_ltz"):
        without_zone.read.format("kafkalog").schema("timestamp timestamp").load(str(partition)).collect()
