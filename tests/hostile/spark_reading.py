"""A Spark session with its event log on reads the damaged segments in ``logs`` in every mode, and says much of it."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafkalog_source.spark import KafkaLogDataSource


def main() -> int:
    root = Path(sys.argv[1])
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.compress", "false")
        .config("spark.eventLog.dir", (root / "events").as_uri())
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("INFO")
    spark.dataSource.register(KafkaLogDataSource)
    segments = [str(path) for path in sorted((root / "logs").rglob("*.log"))]
    for mode in ("FAILFAST", "DROPMALFORMED", "PERMISSIVE", "RECOVER"):
        reader = spark.read.format("kafkalog").option("mode", mode).option("paths", _json(segments[::4]))
        frame = reader.load()
        frame.explain(extended=True)
        try:
            print(mode, frame.selectExpr("length(value)", "length(key)", "offset").count())
            if mode == "PERMISSIVE":
                print([row[0] for row in frame.select("_corrupt_record").distinct().collect()])
        except PySparkException as error:
            print(mode, "failed as it should", error)
    view = spark.read.format("kafkalog").option("view", "damage").option("paths", _json(segments)).load()
    print([row.asDict() for row in view.collect()])
    _fail_one_by_one(spark, segments[1::9])
    _stream(spark, root, segments[2::12])
    spark.stop()
    return 0


def _fail_one_by_one(spark: SparkSession, segments: list[str]) -> None:
    for segment in segments:
        try:
            print(spark.read.format("kafkalog").load(segment).count())
        except PySparkException as error:
            print(error)


def _stream(spark: SparkSession, root: Path, segments: list[str]) -> None:
    """Streams over some partitions, one of which fails at what another passes over."""
    paths = _json([str(Path(segment).parent) for segment in segments])
    for mode in ("DROPMALFORMED", "FAILFAST"):
        rows = spark.readStream.format("kafkalog").option("mode", mode).option("paths", paths).load()
        writer = rows.selectExpr("length(value)", "offset").writeStream.format("noop").trigger(availableNow=True)
        try:
            writer.option("checkpointLocation", str(root / "checkpoint" / mode)).start().awaitTermination()
            print("stream in mode", mode, "ended")
        except PySparkException as error:
            print("stream in mode", mode, "failed as it should", error)


def _json(paths: list[str]) -> str:
    import json

    return json.dumps(paths)


if __name__ == "__main__":
    sys.exit(main())
