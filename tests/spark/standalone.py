"""A standalone Spark cluster on the loopback: one master and two workers, each a process of its own."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

WORKERS = 2
START_SECONDS = 180
_LOGGING = """
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n
"""


def spark_home() -> Path:
    """Where pip put Spark."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def plain_environment(**more: str) -> dict[str, str]:
    """This process's environment with nothing in it that steers Python or Spark, kept to the loopback."""
    steering = ("PYSPARK_", "PYTHON", "SPARK_", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    loopback = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "127.0.0.1"}
    return {**kept, **loopback, "SPARK_HOME": str(spark_home()), **more}


@dataclass(frozen=True)
class Standalone:
    """A running cluster.

    Attributes
    ----------
    master : str
        For ``--master``.
    folder : Path
        Where its processes keep their files.
    """

    master: str
    folder: Path

    def executors(self) -> dict[str, str]:
        """The worker on which each executor ran, for all applications so far."""
        return {path.name: path.parents[1].name for path in self.folder.glob("worker-*/app-*/*") if path.is_dir()}


@contextmanager
def running(folder: Path) -> Iterator[Standalone]:
    """Start a cluster with its files below `folder`; at the end, or when anything fails, its processes are ended."""
    settings = folder / "settings"
    settings.mkdir()
    (settings / "log4j2.properties").write_text(_LOGGING)
    # The cluster knows nothing of the project: what a job needs, the job has to bring.
    environment = plain_environment(SPARK_CONF_DIR=str(settings), SPARK_DAEMON_MEMORY="256m")
    with ExitStack() as stack:
        place = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        master_log = _start(stack, folder, "master", environment, "master.Master", *place)
        master = _awaited(master_log, r"Starting Spark master at (spark://\S+)")
        for number in range(WORKERS):
            name = f"worker-{number}"
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / name))
            log = _start(stack, folder, name, environment, "worker.Worker", *place, *size, master)
            _awaited(log, r"(Successfully registered with master)")
        yield Standalone(master, folder)


def _start(stack: ExitStack, folder: Path, name: str, environment: Mapping[str, str], role: str, *more: str) -> Path:
    """Start a part of the cluster, to be ended when `stack` closes, and give its log."""
    log = folder / f"{name}.log"
    command = [str(spark_home() / "bin/spark-class"), f"org.apache.spark.deploy.{role}", *more]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT)
    stack.callback(_end, process)
    return log


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a part of the cluster. Workers end their executors; those whose worker was killed end by themselves."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _awaited(log: Path, pattern: str) -> str:
    """Give the first group of `pattern` as soon as `log` shows it."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.2)
    raise TimeoutError(f"{log.stem} did not start: {log.read_text(errors='replace')[-2000:]}")


def executors_of_tasks(events: Path) -> list[str]:
    """The executor of each task that came to its end, from the event log of the one application in `events`."""
    found = []
    for file in sorted(path for path in events.rglob("events_*") if path.is_file()):
        for line in file.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd" and event["Task End Reason"]["Reason"] == "Success":
                found.append(event["Task Info"]["Executor ID"])
    return found
