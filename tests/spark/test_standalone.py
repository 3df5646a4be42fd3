"""The main job on a standalone cluster of two workers, started by spark-submit with the project's configuration."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from kafkalog_source import scan
from tests.conftest import REGISTRATION
from tests.spark.environment_archive import make_environment, pack
from tests.spark.standalone import Standalone, executors_of_tasks, plain_environment, running, spark_home

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROOT = Path(__file__).parents[2]
JOB = ROOT / "spark_jobs" / "log_to_parquet.py"
SAMPLE = ROOT / "spark_jobs" / "sample" / "kafka-logs"
ROW = ("topic", "partition", "offset", "key", "value", "timestamp", "timestampType", "headers")
SETTINGS = {
    # Both workers are waited for, so that both get tasks.
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with running(tmp_path_factory.mktemp("standalone")) as started:
        yield started


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    return in_order(scan(str(SAMPLE)).to_table().select(ROW).to_pylist())


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["topic"], row["partition"], row["offset"]))


def submit(cluster: Standalone, folder: Path, environment: dict[str, str], *more: str) -> dict[str, Any]:
    """Run the job from `folder`, with its events and its Parquet there, and give its summary."""
    (folder / "events").mkdir()
    settings = SETTINGS | {"spark.eventLog.dir": (folder / "events").as_uri()}
    command = [str(spark_home() / "bin/spark-submit"), "--master", cluster.master]
    command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    command += [*more, str(JOB), str(SAMPLE), "--output", str(folder / "out"), "--option", "minPartitions=8", "--json"]
    environment |= {"SPARK_CONF_DIR": str(ROOT / "conf")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # Spark-submit puts what Python says on both streams on standard output.
    summary: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{\n") :])
    return summary


def check(cluster: Standalone, folder: Path, summary: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    """Check that the Parquet holds every row once, and that both workers had a part in it."""
    assert summary["records"] == len(expected)
    rows = ds.dataset(folder / "out", partitioning="hive").to_table().select(ROW)
    assert in_order(rows.to_pylist()) == expected
    ran = executors_of_tasks(folder / "events")
    assert len(ran) >= summary["splits"] >= 8
    assert {cluster.executors()[executor] for executor in ran} == {"worker-0", "worker-1"}


def test_with_the_package_in_the_python_of_every_node(
    cluster: Standalone, tmp_path: Path, expected: list[dict[str, Any]]
) -> None:
    # The registration's folder is for an editable install, of which Spark's search by name sees nothing.
    environment = plain_environment(PYSPARK_PYTHON=sys.executable, PYTHONPATH=str(REGISTRATION))
    check(cluster, tmp_path, submit(cluster, tmp_path, environment), expected)


def test_with_the_package_in_an_archive(cluster: Standalone, tmp_path: Path, expected: list[dict[str, Any]]) -> None:
    make_environment(tmp_path / "environment")
    pack(tmp_path / "environment", tmp_path / "environment.tar.gz")
    # The driver runs this Python from where it was started, the executors theirs from where the archive is unpacked.
    environment = plain_environment(PYSPARK_PYTHON="./environment/bin/python")
    archive = ("--archives", f"{tmp_path / 'environment.tar.gz'}#environment")
    check(cluster, tmp_path, submit(cluster, tmp_path, environment, *archive), expected)
