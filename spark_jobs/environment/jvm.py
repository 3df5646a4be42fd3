"""The JVM that a job starts: its settings, and what of its output reaches the user.

A job that `spark-submit` starts, or that runs in an active session, uses the JVM that is there.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread

from spark_jobs.environment.shipped import shipped_files

__all__ = ["interrupts_later", "start_jvm", "without_noise"]

# What Java prints about how Spark starts it, and Spark's script if there is no Java, which the job reports. No
# setting turns these off.
_OF_START = re.compile(r"WARNING: Using incubator modules: |\S*/bin/spark-class: line [0-9]+: |JAVA_HOME is not set$")

_TRACEBACK = "Traceback (most recent call last):"
_GONE = ("BrokenPipeError:", "ConnectionResetError:")

# The lines that the jobs of this process print themselves. All of them use one JVM.
_known: set[str] = set()

# A JVM that lives for seconds is done before code of its second compiler would pay.
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def start_jvm(settings: Mapping[str, str], *, quick: bool, known: Collection[str] = ()) -> None:
    """Start the JVM of Spark, unless there is one.

    Parameters
    ----------
    settings : mapping
        Settings of Spark that apply from the start, such as ``spark.driver.memory``.
    quick : bool
        Whether there is little to do.
    known : collection of str
        Lines that the job prints itself, and that are left out when Spark's workers print them.

    Raises
    ------
    PySparkRuntimeError
        If Java cannot be started.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    _known.update(f"kafkalog: {line}" for line in known)
    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    conf = SparkConf()
    for key, value in settings.items():
        conf.set(key, value)
    with interrupts_later(), _environment(quick=quick), _passed_on() as error_stream:
        gateway = launch_gateway(conf, {"stderr": error_stream})  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Raise an interrupt at the end of the ``with`` block: a JVM that has not connected yet would outlive the job."""
    if current_thread() is not main_thread():
        yield
        return
    interrupted = Event()
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted.is_set():
        raise KeyboardInterrupt


@contextmanager
def _environment(*, quick: bool) -> Iterator[None]:
    """Set what the JVM and its Python workers inherit; variables that are set already stay as they are."""
    # Workers would import packages of the current directory first, such as a checkout that is not compiled.
    wanted = {"PYTHONSAFEPATH": "1"}
    if not _has_settings():
        wanted["SPARK_CONF_DIR"] = str(shipped_files())
    if quick:
        wanted["SPARK_SUBMIT_OPTS"] = _QUICK
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _has_settings() -> bool:
    """Return whether the user has settings of Spark: a directory for them, or an installed Spark with its own."""
    home = os.environ.get("SPARK_HOME")
    return "SPARK_CONF_DIR" in os.environ or (home is not None and (Path(home) / "conf").is_dir())


def without_noise(lines: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """Leave out what means nothing to the user of a job.

    Parameters
    ----------
    lines : iterable of str
        What a JVM and its Python workers print, with line ends.
    known : collection of str
        Further lines to leave out, without line ends.

    Yields
    ------
    str
        The other lines, in their order.
    """
    traceback: list[str] = []
    for line in lines:
        # Lines of several processes come mixed: these may stand inside a traceback of another one.
        if _OF_START.match(line) or line.rstrip("\n") in known:
            continue
        if line.startswith(_TRACEBACK):
            traceback = [line]
        elif traceback and line.startswith(" "):
            traceback.append(line)
        elif len(traceback) > 1:
            # The last line names the exception.
            traceback.append(line)
            yield from () if _is_of_daemon(traceback) else traceback
            traceback = []
        else:
            # A first line alone is from a worker that Spark ended while it printed.
            traceback = []
            yield line


def _is_of_daemon(traceback: Sequence[str]) -> bool:
    """Return whether Spark's parent of workers found that Spark has ended, or has ended a worker."""
    places = [line for line in traceback if line.startswith("  File ")]
    return all("pyspark/daemon.py" in line for line in places) and traceback[-1].startswith(_GONE)


@contextmanager
def _passed_on() -> Iterator[int]:
    """Provide a stream for errors of a JVM; what is written there goes to standard error, without the lines to omit."""
    reader, writer = os.pipe()

    def pass_on() -> None:
        with open(reader, encoding="utf-8", errors="backslashreplace") as lines:
            for line in without_noise(lines, _known):
                sys.stderr.write(line)
                sys.stderr.flush()

    # The JVM may outlive the job, and what it prints while it ends concerns nobody.
    thread = Thread(target=pass_on, daemon=True)
    thread.start()
    try:
        yield writer
    finally:
        os.close(writer)
