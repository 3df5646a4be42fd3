"""A stream that is killed again and again while its log grows ends with every record once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.spark.conftest import REGISTRATION
from tests.spark.growing import Growing

DRIVER = Path(__file__).with_name("stream_driver.py")
KILLS = 30
LONGEST_RUN_SECONDS = 8.0


@contextmanager
def driver(root: Path, sink: str, how: str, python: str = sys.executable) -> Iterator[subprocess.Popen[str]]:
    """The query as a group of processes of its own: Python, the JVM and its workers."""
    places = [str(root / "logs"), str(root / "checkpoint"), str(root / "table"), sink, how]
    environment = {**os.environ, "PYSPARK_PYTHON": python, "PYTHONPATH": str(REGISTRATION)}
    process = subprocess.Popen(
        [python, str(DRIVER), *places],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=(root / "stderr").open("a"),
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_and_kill(root: Path, sink: str, after: float) -> bool:
    """Start the query and kill it some seconds after it runs; whether it still ran then."""
    with driver(root, sink, "forever") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line == "started\n", (root / "stderr").read_text()[-3000:]
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            return True
    return False


def rows(table: Path) -> list[tuple[int, int, str]]:
    found = pq.read_table(f"{table}.rows").to_pydict()
    return sorted(zip(found["partition"], found["offset"], found["value"], strict=True))


@pytest.mark.faults
def test_every_record_is_in_parquet_once_after_thirty_kills(tmp_path: Path) -> None:
    chance = random.Random(20260101)
    (tmp_path / "logs").mkdir()
    with Growing(tmp_path / "logs", seed=1) as growing:
        for number in range(KILLS):
            ran = run_and_kill(tmp_path, "parquet", chance.uniform(0, LONGEST_RUN_SECONDS))
            assert ran, f"run {number} ended by itself: {(tmp_path / 'stderr').read_text()[-3000:]}"
    with driver(tmp_path, "parquet", "to-end") as process:
        assert process.wait(600) == 0, (tmp_path / "stderr").read_text()[-3000:]
    batches = len(list((tmp_path / "checkpoint" / "commits").glob("[0-9]*")))
    expected = sorted(
        (each.partition, offset, each.value(offset).decode())
        for each in growing.partitions
        for offset in range(each.next_offset)
    )
    print(f"{KILLS} kills, {batches} micro-batches, {len(expected)} records in {len(growing.partitions)} partitions")
    assert batches > KILLS // 2
    assert rows(tmp_path / "table") == expected
