"""What runs in the Spark process: ``python -m tests.bench.spark_child LOG_DIR``, one JSON object printed.

Each query runs over a little and over much data, by turns with the same query over the ready-made batches.
The difference of the two is the time of the data alone, with the start of query and workers taken out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kafkalog_source.spark import KafkaLogDataSource
from tests.bench.cases import FEW, MANY, SPARK_TASKS
from tests.bench.ready_source import ReadySource


def noop(frame: DataFrame) -> None:
    """Write to nowhere: every row crosses the channel."""
    frame.write.format("noop").mode("overwrite").save()


def aggregate(frame: DataFrame) -> None:
    """Count and add up by partition."""
    sums = (f.count("*"), f.sum(f.length("value")), f.max("offset"), f.max("timestamp"))
    frame.groupBy("partition").agg(*sums).collect()


QUERIES: dict[str, Callable[[DataFrame], None]] = {"noop write": noop, "aggregate": aggregate}


def session() -> SparkSession:
    """A quiet local session with one slot for each task."""
    builder = SparkSession.builder.master(f"local[{SPARK_TASKS}]").appName("bench")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "3g",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for source in (KafkaLogDataSource, ReadySource):
        spark.dataSource.register(source)
    return spark


def frames(spark: SparkSession, log_dir: Path) -> dict[str, Callable[[], DataFrame]]:
    """The four things read: each source, few and many partitions' worth of rows."""

    def kafkalog(partitions: int) -> DataFrame:
        assign = json.dumps({"bench": list(range(partitions))})
        return spark.read.format("kafkalog").option("assign", assign).load(str(log_dir))

    def ready(partitions: int) -> DataFrame:
        reader = spark.read.format("ready").option("path", str(log_dir / "bench-0"))
        return reader.option("times", str(partitions // SPARK_TASKS)).load()

    return {
        "kafkalog few": lambda: kafkalog(FEW),
        "kafkalog many": lambda: kafkalog(MANY),
        "ready few": lambda: ready(FEW),
        "ready many": lambda: ready(MANY),
    }


def measure(log_dir: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Best seconds of every query over every frame."""
    spark = session()
    best: dict[str, dict[str, float]] = {name: {} for name in QUERIES}
    for _ in range(rounds + 1):  # One more, because the first finds the JVM cold.
        for query, execute in QUERIES.items():
            for name, make in frames(spark, log_dir).items():
                frame = make()
                start = time.perf_counter()
                execute(frame)
                seconds = time.perf_counter() - start
                best[query][name] = min(best[query].get(name, seconds), seconds)
    spark.stop()
    return best


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.spark_child")
    parser.add_argument("log_dir", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(json.dumps({"best": measure(arguments.log_dir, arguments.rounds)}))


if __name__ == "__main__":
    main()
