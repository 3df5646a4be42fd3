"""A stream that is killed again and again while its log grows ends with every record once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import REGISTRATION
from tests.jobs.tables_environment import jars, tables_python
from tests.spark.growing import Growing

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("stream_driver.py")
KILLS = 30


@contextmanager
def driver(
    root: Path, sink: str, how: str, python: str = sys.executable, jars: str = ""
) -> Iterator[subprocess.Popen[str]]:
    """The query as a group of processes of its own: Python, the JVM and its workers."""
    places = [str(root / "logs"), str(root / "checkpoint"), str(root / "table"), sink, how, jars]
    environment = {**os.environ, "PYSPARK_PYTHON": python, "PYTHONPATH": f"{ROOT}{os.pathsep}{REGISTRATION}"}
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


def wait_for_start(process: subprocess.Popen[str], root: Path) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "started\n", (root / "stderr").read_text()[-3000:]


def commits(root: Path) -> int:
    """How many micro-batches are done. Spark keeps the files of the last hundred."""
    return max((int(path.name) + 1 for path in (root / "checkpoint" / "commits").glob("[0-9]*")), default=0)


def seconds_for_two_batches(root: Path, sink: str, **how: str) -> float:
    """How fast this machine is now: the time from the query's start to its second micro-batch's end."""
    with driver(root, sink, "forever", **how) as process:
        wait_for_start(process, root)
        start = time.monotonic()
        while commits(root) < 2:
            assert process.poll() is None, (root / "stderr").read_text()[-3000:]
            time.sleep(0.05)
        return time.monotonic() - start


def run_and_kill(root: Path, sink: str, after: float, **how: str) -> bool:
    """Start the query and kill it some seconds after it runs; whether it still ran then."""
    with driver(root, sink, "forever", **how) as process:
        wait_for_start(process, root)
        try:
            process.wait(after)
        except subprocess.TimeoutExpired:
            return True
    return False


def rows(table: Path) -> list[tuple[int, int, str]]:
    found = pq.read_table(f"{table}.rows").to_pydict()
    return sorted(zip(found["partition"], found["offset"], found["value"], strict=True))


def check_exactly_once(root: Path, sink: str, **how: str) -> None:
    chance = random.Random(20260101)
    (root / "logs").mkdir()
    with Growing(root / "logs", seed=1) as growing:
        longest = 2 * seconds_for_two_batches(root, sink, **how)
        for number in range(KILLS):
            ran = run_and_kill(root, sink, chance.uniform(0, longest), **how)
            assert ran, f"run {number} ended by itself: {(root / 'stderr').read_text()[-3000:]}"
    done = commits(root)
    with driver(root, sink, "to-end", **how) as process:
        assert process.wait(600) == 0, (root / "stderr").read_text()[-3000:]
    expected = sorted(
        (each.partition, offset, each.value(offset).decode())
        for each in growing.partitions
        for offset in range(each.next_offset)
    )
    segments = len(list((root / "logs").glob("*/*.log")))
    print(
        f"{sink}: {KILLS} kills, {done} micro-batches until the last, {len(expected)} records in {segments} segments"
        f" of {len(growing.partitions)} partitions"
    )
    assert done > KILLS // 3
    assert rows(root / "table") == expected


@pytest.mark.faults
def test_every_record_is_in_parquet_once_after_thirty_kills(tmp_path: Path) -> None:
    check_exactly_once(tmp_path, "parquet")


@pytest.mark.faults
def test_every_record_is_in_delta_once_after_thirty_kills(tmp_path: Path) -> None:
    check_exactly_once(tmp_path, "delta", python=str(tables_python()), jars=jars("delta"))
