"""What the jobs do with packages that are not part of Spark, run where these packages are.

``python tables_driver.py (delta | iceberg | avro) JARS FOLDER``; it ends with an error where something is wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.common.sink import JobOutput, read_sink, sink_settings
from spark_jobs.log_to_parquet import main
from tests.builders import Batch, Record, partition_dir, write_segment
from tests.jobs.growing_log import GrowingLog, forget_last_commit

AVRO = '{"type": "record", "name": "r", "fields": [{"name": "id", "type": ["null", "long"]}]}'


class Runs:
    """Runs of the job from one log into tables, beside which one session stays active."""

    def __init__(self, sink: str, jars: str, folder: Path) -> None:
        self.sink, self.folder = sink, folder
        self.log = GrowingLog(folder / "logs")
        builder = SparkSession.builder.master("local[2]").config("spark.jars", jars)
        builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
        lake = "spark.sql.catalog.lake"
        if sink == "iceberg":
            builder = builder.config(lake, "org.apache.iceberg.spark.SparkCatalog").config(f"{lake}.type", "hadoop")
            builder = builder.config(f"{lake}.warehouse", str(folder / "lake"))
        for key, value in sink_settings(JobOutput(format="delta")).items() if sink == "delta" else ():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()

    def output(self, name: str) -> JobOutput:
        if self.sink == "iceberg":
            return JobOutput(format="iceberg", table=f"lake.kafka.{name}")
        return JobOutput(format=self.sink, path=str(self.folder / name))  # type: ignore[arg-type]

    def run(self, name: str, *more: str) -> int:
        output = self.output(name)
        place = ["--table", output.table] if output.table else ["--output", output.path]
        return main([str(self.folder / "logs"), "--format", self.sink, *place, "--show", "1", *more])

    def add(self, name: str, *more: str) -> int:
        return self.run(name, "--mode", "incremental", "--checkpoint", str(self.folder / "checkpoint"), *more)

    def rows(self, name: str) -> DataFrame:
        return read_sink(self.spark, self.output(name))

    def places(self, name: str) -> list[tuple[int, int]]:
        return sorted((row[0], row[1]) for row in self.rows(name).select("partition", "offset").collect())


def same(found: object, expected: object) -> None:
    if found != expected:
        raise SystemExit(f"found {found}, expected {expected}")


def batch(runs: Runs) -> None:
    """A table is made, replaced by partitions, replaced as a whole, and not written over."""
    runs.log.append(4)
    for _ in range(2):
        same(runs.run("table"), 0)
        same(runs.places("table"), runs.log.places)
    same(runs.run("table", "--option", 'startingOffsets={"orders": {"0": 35, "1": 40}}'), 0)
    # Only the end of the last batch is read, of the second day: that day is replaced, the first one stays.
    first_day = [place for place in runs.log.places if place[1] // 10 % 2 == 0]
    same(runs.places("table"), sorted([*first_day, *((0, offset) for offset in range(35, 40))]))
    same(runs.run("table", "--when-exists", "fail"), 1)
    only = ["--option", 'assign={"orders": [1]}', "--target-file-bytes", "100000"]
    same(runs.run("table", "--when-exists", "replace-all", *only), 0)
    same(runs.places("table"), [place for place in runs.log.places if place[0] == 1])


def incremental(runs: Runs) -> None:
    """What is new is added once, also when a micro-batch comes again."""
    for number in range(3):
        runs.log.append(2 + number)
        same(runs.add("stream"), 0)
        same(runs.places("stream"), runs.log.places)
        forget_last_commit(runs.folder / "checkpoint")
    same(runs.add("stream"), 0)
    same(runs.places("stream"), runs.log.places)
    same(runs.add("other"), 2)
    same(runs.run("stream"), 2)
    same(runs.places("stream"), runs.log.places)


def avro(runs: Runs) -> None:
    """Values become columns; null fields, null values and what is no Avro are told apart."""
    # A union's branch, then a zigzag number: the record of 3, and that of null.
    values = [b"\x02\x06", b"\x00", b"\x0e", b"", None]
    write_segment(partition_dir(runs.folder / "logs", "t", 0), [Batch([Record(value=value) for value in values])])
    for header in (False, True):
        config = runs.folder / "job.toml"
        flag = str(header).lower()
        config.write_text(f"[decode]\nformat = 'avro'\nschema = '{AVRO}'\nschema_registry_header = {flag}\n")
        output = runs.folder / f"avro-{flag}"
        same(main([str(runs.folder / "logs"), "--config", str(config), "--output", str(output)]), 0)
        rows = runs.spark.read.parquet(str(output)).orderBy("offset").collect()
        found = [None if row["decoded"] is None else row["decoded"]["id"] for row in rows]
        decoded = [row["decoded"] is not None for row in rows]
        same((found[0], decoded), (None if header else 3, [not header, not header, False, False, False]))


if __name__ == "__main__":
    scenario = Runs(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
    if sys.argv[1] == "avro":
        avro(scenario)
    else:
        batch(scenario)
        incremental(scenario)
    print("all as expected")
