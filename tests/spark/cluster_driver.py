"""The driver of a cluster, in a process of its own: ``python -m tests.spark.cluster_driver``.

The first line of standard input is the configuration as JSON, every further one asks for a read and is
answered by a line on standard output.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow.feather
from pyspark.sql import DataFrame, SparkSession, functions

CHECKED = ("key", "value", "headers", "timestamp", "timestampType")


def checked(frame: DataFrame) -> DataFrame:
    """Where each row belongs, and a checksum of all else. The hash passes over nulls, so they are told to it."""
    nulls = [functions.isnull(name) for name in CHECKED]
    checksum = functions.xxhash64(*CHECKED, *nulls).alias("checksum")
    return frame.select("topic", "partition", "offset", checksum)


def answer(spark: SparkSession, request: dict[str, Any]) -> dict[str, Any]:
    frame = spark.read.format("kafkalog").options(**request["options"]).load(request["path"])
    if request["do"] == "write":
        frame.write.mode("overwrite").parquet(request["out"])
        return {}
    if request["do"] == "count":
        sums = [functions.sum(functions.expr(text)) for text in ("1", "length(value)", "crc32(value)", "size(headers)")]
        return {"sums": list(frame.agg(*sums).collect()[0])}
    rows = checked(frame)
    if request["do"] == "shuffle":
        rows = rows.repartition(5, "offset")
    pyarrow.feather.write_feather(rows.toArrow(), request["out"])
    return {}


def main() -> None:
    builder = SparkSession.builder
    for name, value in json.loads(sys.stdin.readline()).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        try:
            answered = answer(spark, json.loads(line))
        except Exception as error:
            answered = {"error": str(error)}
        print(json.dumps(answered), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
