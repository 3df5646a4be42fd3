"""``readStream.format("kafkalog")``: the rows of the batch read, in micro-batches, with a checkpoint."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import kafkalog_source

Cases = Callable[[str], Path]


@pytest.fixture(scope="module")
def logs(fixture_case: Cases, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of a broker's log dir, since a stream is to see it grow."""
    copy = tmp_path_factory.mktemp("logs") / "log"
    shutil.copytree(fixture_case("v2-4.4") / "log", copy)
    return copy


def run(spark: SparkSession, logs: Path, place: Path, **options: Any) -> StreamingQuery:
    """Stream what is there now into Parquet."""
    frame = spark.readStream.format("kafkalog").options(**options).load(str(logs))
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(place / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(place / "table"))
    query.awaitTermination()
    return query


def rows(spark: SparkSession, frame_path: Path) -> list[Any]:
    columns = ["topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers"]
    found = spark.read.parquet(str(frame_path)).select(columns)
    return sorted(found.collect(), key=lambda row: row[:3])


def batch_rows(spark: SparkSession, logs: Path) -> list[Any]:
    columns = ["topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers"]
    found = spark.read.format("kafkalog").load(str(logs)).select(columns)
    return sorted(found.collect(), key=lambda row: row[:3])


def test_a_stream_gives_the_rows_of_a_batch_query_in_bounded_steps(
    spark: SparkSession, logs: Path, tmp_path: Path
) -> None:
    count = kafkalog_source.scan(logs, columns=["offset"]).to_table().num_rows
    query = run(spark, logs, tmp_path, maxOffsetsPerTrigger=count // 3)
    assert rows(spark, tmp_path / "table") == batch_rows(spark, logs)
    progress = [each for each in query.recentProgress if each["numInputRows"]]
    assert len(progress) > 2
    source = progress[0]["sources"][0]
    end, latest = (json.loads(source[name]) for name in ("endOffset", "latestOffset"))
    assert end != latest == json.loads(progress[-1]["sources"][0]["endOffset"])
    checkpoint = (tmp_path / "checkpoint" / "offsets" / "0").read_text().splitlines()[-1]
    assert json.loads(checkpoint) == end


def test_a_query_goes_on_where_its_checkpoint_ends(spark: SparkSession, logs: Path, tmp_path: Path) -> None:
    run(spark, logs, tmp_path, startingOffsets="latest")
    assert rows(spark, tmp_path / "table") == []
    grown = logs / "new-topic-0"
    shutil.copytree(next(logs.glob("*-0")), grown)
    try:
        run(spark, logs, tmp_path, startingOffsets="latest")
        found = rows(spark, tmp_path / "table")
        assert {row.topic for row in found} == {"new-topic"}
        assert len(found) == kafkalog_source.scan(grown, columns=["offset"]).to_table().num_rows
    finally:
        shutil.rmtree(grown)


def test_a_schema_is_the_projection_of_a_stream_too(spark: SparkSession, logs: Path, tmp_path: Path) -> None:
    frame = spark.readStream.format("kafkalog").schema("offset long, valueSize int").load(str(logs))
    assert frame.isStreaming
    assert frame.columns == ["offset", "valueSize"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"endingOffsets": "latest"}, "endingOffsets cannot be used in a stream"),
        ({"view": "segments"}, "view=segments cannot be used in a stream"),
        ({"startingOffsets": '{"nope":{"0":1}}'}, "has to name every partition"),
    ],
)
def test_errors_of_a_stream_are_our_own(
    spark: SparkSession, logs: Path, tmp_path: Path, options: dict[str, str], problem: str
) -> None:
    with pytest.raises(StreamingQueryException, match=problem) as caught:
        run(spark, logs, tmp_path, **options)
    assert 'File "' not in str(caught.value).split("OptionError", 1)[-1]


def test_a_view_of_one_of_kafkas_own_topics_is_followed(
    spark: SparkSession, fixture_case: Callable[[str], Path], tmp_path: Path
) -> None:
    log_dir = fixture_case("groups-4.4") / "log"
    run(spark, log_dir, tmp_path, view="consumer_offsets")
    found = spark.read.parquet(str(tmp_path / "table")).select("group", "recordType", "offset", "valueJson").collect()
    columns = ["group", "recordType", "offset", "valueJson"]
    table = kafkalog_source.scan(log_dir, view="consumer_offsets", columns=columns).to_table()
    assert table.num_rows > 50
    assert sorted(map(str, found)) == sorted(
        f"Row({', '.join(f'{name}={value!r}' for name, value in row.items())})" for row in table.to_pylist()
    )
