"""A Spark cluster of two executors on this machine, in processes of its own that may be killed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.feather

from tests.conftest import QUICK_JVM, REGISTRATION

ROOT = Path(__file__).parents[2]
KINDS = ("worker", "daemon", "executor")
_PLACE = [("topic", "ascending"), ("partition", "ascending"), ("offset", "ascending")]
_CONFIGURATION = {
    "spark.master": "local-cluster[2,1,1024]",
    "spark.driver.memory": "512m",
    "spark.ui.enabled": "false",
    "spark.executor.extraJavaOptions": QUICK_JVM,
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # A job is to outlive whatever is done to it.
    "spark.task.maxFailures": "1000",
    "spark.stage.maxConsecutiveAttempts": "1000",
    "spark.deploy.maxExecutorRetries": "-1",
}
_JAVA_OF_HOSTS = """#!/bin/sh
# Runs Java, and gives each executor an address of its own on the loopback.
id= previous= count=$#
for argument in "$@"; do
    [ "$previous" = --executor-id ] && id=$argument
    previous=$argument
done
previous=
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    [ -n "$id" ] && [ "$previous" = --hostname ] && set -- "$@" "127.0.0.$((id % 200 + 2))" || set -- "$@" "$argument"
    previous=$argument count=$((count - 1))
done
exec {java} "$@"
"""


class SparkFailure(Exception):
    """What the driver's job failed with."""


class Cluster:
    """The driver, which holds master and workers too, and what it has started.

    Parameters
    ----------
    folder : Path
        For all that the cluster leaves behind.
    hosts : bool
        Whether the executors seem to be on different machines: on one alone Spark does not begin a task a second time
        while the first attempt is at work.
    configuration : str
        Settings of Spark beside the usual ones.
    """

    def __init__(self, folder: Path, *, hosts: bool = False, **configuration: str) -> None:
        self.folder = folder
        self._hosts = hosts
        faults = folder / "faults"
        faults.mkdir()
        self.plan_file, self._events = faults / "plan.json", faults / "events"
        self._mark = f"KAFKALOG_TEST_FAULTS={faults}".encode()
        path = os.pathsep.join(str(part) for part in (Path(__file__).parent / "injected", REGISTRATION, ROOT))
        settings = {
            **_CONFIGURATION,
            "spark.executorEnv.PYTHONPATH": path,
            "spark.executorEnv.KAFKALOG_TEST_FAULTS": str(faults),
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            **configuration,
        }
        self._log = (folder / "driver.log").open("w")
        self._driver = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.cluster_driver"],
            cwd=folder,
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._exchange(settings)

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(ROOT), str(REGISTRATION)])
        given = {"SPARK_SUBMIT_OPTS": QUICK_JVM, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}
        if self._hosts:
            given["JAVA_HOME"] = str(self._java_of_hosts())
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
        return {
            **kept,
            **given,
            "PYTHONPATH": path,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_HOME": str(self._home()),
        }

    def _java_of_hosts(self) -> Path:
        real = os.environ.get("JAVA_HOME")
        java = str(Path(real, "bin", "java")) if real else shutil.which("java")
        wrapper = self.folder / "java" / "bin" / "java"
        wrapper.parent.mkdir(parents=True)
        wrapper.write_text(_JAVA_OF_HOSTS.replace("{java}", f"'{java}'"))
        wrapper.chmod(0o755)
        return wrapper.parents[1]

    def _home(self) -> Path:
        """Spark's folder by links, because the workers of such a cluster write below it."""
        spec = importlib.util.find_spec("pyspark")
        assert spec is not None
        assert spec.origin is not None
        home = self.folder / "spark"
        home.mkdir()
        for entry in Path(spec.origin).parent.iterdir():
            if entry.name != "work":
                (home / entry.name).symlink_to(entry)
        return home

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.write(json.dumps(request) + "\n")
        self._driver.stdin.flush()
        line = self._driver.stdout.readline()
        if not line:
            raise SparkFailure(f"the driver is gone: {(self.folder / 'driver.log').read_text()[-2000:]}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise SparkFailure(answer["error"])
        return answer

    def rows(self, path: Path, do: str = "collect", **options: str) -> pa.Table:
        """Topic, partition, offset and checksum of every row, in this order; `do` may be ``shuffle``."""
        out = str(self.folder / "rows.feather")
        self._exchange({"do": do, "path": str(path), "options": options, "out": out})
        return pyarrow.feather.read_table(out, memory_map=False).sort_by(_PLACE)

    def write(self, path: Path, out: Path, **options: str) -> None:
        """Write all rows as Parquet."""
        self._exchange({"do": "write", "path": str(path), "options": options, "out": str(out)})

    def sums(self, path: Path, **options: str) -> list[int]:
        """The count of rows, and the sums of the values' sizes and CRCs and of the headers."""
        sums: list[int] = self._exchange({"do": "count", "path": str(path), "options": options})["sums"]
        return sums

    def plan(self, **plan: object) -> None:
        """What is to befall the reads to come; see ``injected/sitecustomize.py``. What came before is forgotten."""
        self._events.unlink(missing_ok=True)
        self.plan_file.write_text(json.dumps(plan))

    def events(self) -> list[dict[str, Any]]:
        """What the reads since the last plan have told."""
        return [json.loads(line) for line in self._events.read_text().splitlines()] if self._events.exists() else []

    def kill(self, pid: int) -> bool:
        """Send SIGKILL to a process, if it is still one that the cluster's executors consist of."""
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        try:
            # The descriptor holds on to the process: its number cannot become another's from here on.
            if all(pid not in self.processes(kind) for kind in KINDS):
                return False
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        except ProcessLookupError:
            return False
        finally:
            os.close(descriptor)
        return True

    def processes(self, kind: str) -> list[int]:
        """The executors, the Python daemons that they started, or the Python workers that those forked.

        A worker goes on when its daemon was killed, and has no parent then. What it inherited from the executor
        tells it: the name of a folder that only this cluster has.
        """
        children = _children()
        executors = [
            pid
            for jvm in children.get(self._driver.pid, [])
            for pid in children.get(jvm, [])
            if b"CoarseGrainedExecutorBackend" in _read(pid, "cmdline")
        ]
        daemons = [pid for executor in executors for pid in children.get(executor, [])]
        if kind != "worker":
            return executors if kind == "executor" else daemons
        everyone = {pid for some in children.values() for pid in some}
        return sorted(pid for pid in everyone - {*executors, *daemons} if self._mark in _read(pid, "environ"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the driver end, which ends what it started."""
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.close()
        try:
            self._driver.wait(60)
        except subprocess.TimeoutExpired:
            self._driver.kill()
            self._driver.wait()
        self._driver.stdout.close()
        self._log.close()


def _children() -> dict[int, list[int]]:
    """The processes of the system by their parent."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    return children


def _parents() -> Iterator[tuple[int, int]]:
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            status = Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        state, parent = status.rpartition(")")[2].split()[:2]
        if state != "Z":
            yield int(entry), int(parent)


def _read(pid: int, what: str) -> bytes:
    try:
        return Path("/proc", str(pid), what).read_bytes()
    except OSError:
        return b""
