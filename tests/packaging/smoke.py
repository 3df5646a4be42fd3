"""Use an installed kafkalog, and nothing of the checkout but its sample log directory.

    python -P tests/packaging/smoke.py            without Spark
    python -P tests/packaging/smoke.py --spark    with it, through format("kafkalog") as it is found by name

Run by `make test-wheel`, by `make test-oldest` and for every wheel of a release.
Depends on no test library, since it runs where only the wheel is installed.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SAMPLE = Path(__file__).resolve().parents[2] / "spark_jobs" / "sample" / "kafka-logs"
# From the README beside the sample: what Kafka's own consumer returns.
RECORDS = {
    ("c-zstd", 0): 64,
    ("tx-a", 0): 240,
    ("tx-a", 1): 272,
    ("up-all-codecs", 0): 210,
    ("v0-mixcodec", 0): 250,
    ("v1-lat-gzip", 0): 220,
    ("v2-mixed", 0): 360,
}


def check(what: str, found: object, expected: object) -> None:
    if found != expected:
        sys.exit(f"smoke test failed: {what}: found {found}, expected {expected}")
    print(f"ok: {what}")


def kafkalog_is_installed() -> None:
    package = importlib.import_module("kafkalog_source")
    place = Path(package.__file__ or "").resolve()
    check("kafkalog comes from an installation", place.is_relative_to(SAMPLE.parents[2] / "kafkalog_source"), False)


def every_module_imports() -> None:
    """Show that each compiled module is there and loads."""
    package = importlib.import_module("kafkalog_source")
    names = [module.name for module in pkgutil.walk_packages(package.__path__, "kafkalog_source.")]
    for name in names:
        if not name.endswith("__main__"):
            importlib.import_module(name)
    check("all modules import", {"kafkalog_source.spark", "kafkalog_source._core"} <= set(names), True)


def scan_gives_the_records() -> None:
    from kafkalog_source import scan

    table = scan(str(SAMPLE), columns=["topic", "partition"]).to_table()
    pairs = zip(table["topic"].to_pylist(), table["partition"].to_pylist(), strict=True)
    check("records by scan()", dict(Counter(pairs)), RECORDS)
    check("pyspark is not imported before it is needed", "pyspark" in sys.modules, False)


def command_runs() -> None:
    command = Path(sys.executable).parent / "kafkalog"
    done = subprocess.run([command, "ls", "--json", SAMPLE], check=True, capture_output=True, text=True)
    check("the command kafkalog prints JSON", bool(json.loads(done.stdout.splitlines()[0])), True)


def jobs_have_their_files() -> None:
    command = Path(sys.executable).parent / "kafkalog"
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([command, "job", "init", directory], check=True, stdout=subprocess.DEVNULL)
        check("kafkalog job init writes a config", (Path(directory) / "log_to_parquet.toml").is_file(), True)
        # The top level of a checkout, with sources that are not compiled, must not be where workers import from.
        output = Path(directory) / "out"
        job = [command, "job", "log_to_parquet", SAMPLE, "--output", output, "--json"]
        done = subprocess.run(job, cwd=SAMPLE.parents[2], capture_output=True, text=True, check=False)
        check("a job prints nothing but its summary", (done.returncode, done.stderr), (0, ""))
        check("a job writes the records", json.loads(done.stdout)["records"], sum(RECORDS.values()))


def spark_gives_the_records() -> None:
    import pyspark
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    try:
        frame = spark.read.format("kafkalog").load(str(SAMPLE))
        counts = {(row[0], row[1]): row[2] for row in frame.groupBy("topic", "partition").count().collect()}
        check(f"records by Spark {pyspark.__version__}", counts, RECORDS)
        columns = spark.read.format("kafkalog").schema("offset long, valueSize int").load(str(SAMPLE))
        check("a schema is the projection", columns.count(), sum(RECORDS.values()))
    finally:
        spark.stop()


def main() -> None:
    kafkalog_is_installed()
    scan_gives_the_records()
    every_module_imports()
    command_runs()
    if "--spark" in sys.argv[1:]:
        jobs_have_their_files()
        spark_gives_the_records()
    print("smoke test passed")


if __name__ == "__main__":
    main()
