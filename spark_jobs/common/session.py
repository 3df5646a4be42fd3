"""The Spark session of a job: its own, or the active one, whose settings are restored."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spark_jobs.common.config import ConfigError
from spark_jobs.common.plan import ReadPlan
from spark_jobs.environment.jvm import start_jvm
from spark_jobs.environment.progress import progress_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_jobs.environment.progress import Progress

__all__ = ["job_session", "set_for_now"]

# Up to this much input, a session is set up for a run of seconds.
_SMALL = 64 << 20
_FOR_SMALL = {"spark.sql.shuffle.partitions": "2"}


@contextmanager
def job_session(
    name: str,
    settings: Mapping[str, str] | None = None,
    *,
    at_start: Mapping[str, str] | None = None,
    plan: ReadPlan | None = None,
    verb: str = "",
) -> Iterator[SparkSession]:
    """Provide a Spark session for the duration of a job.

    A session that the job starts is stopped at the end. An active one stays, with the
    settings that it had before.

    Parameters
    ----------
    name : str
        The application name in Spark's UI.
    settings : mapping, optional
        Runtime settings, such as ``spark.sql.session.timeZone``.
    at_start : mapping, optional
        Settings of a new session, such as ``spark.sql.extensions``; an active session keeps its own.
    plan : ReadPlan, optional
        What is read. A new session is set up for its size, and its warnings, which the job
        prints in its summary, are not printed a second time.
    verb : str
        What the job does, for a line of progress in a new session; empty for none.

    Yields
    ------
    SparkSession
        The session.

    Raises
    ------
    ConfigError
        If pyspark is not installed, or Java cannot be started.
    """
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyspark":
            raise
        raise ConfigError("pyspark is not installed; install it with: pip install 'pyspark>=4.0'") from error
    active = SparkSession.getActiveSession()
    own = _session_of_job(name, at_start or {}, plan, verb) if active is None else _unchanged(active)
    with own as spark, set_for_now(spark, settings or {}):
        yield spark


@contextmanager
def _unchanged(spark: SparkSession) -> Iterator[SparkSession]:
    yield spark


@contextmanager
def _session_of_job(name: str, at_start: Mapping[str, str], plan: ReadPlan | None, verb: str) -> Iterator[SparkSession]:
    """Start a session, and stop it at the end."""
    with _interrupts_not_logged(), _progress(verb) as progress:
        spark = _started(name, at_start, plan)
        if progress is not None:
            progress.follow(spark)
        try:
            yield spark
        finally:
            if progress is not None:
                progress.unfollow()
            spark.stop()


@contextmanager
def _interrupts_not_logged() -> Iterator[None]:
    """Leave out the stack traces that Py4J logs if a call to Java is interrupted; `run_job` reports that."""

    def is_no_interrupt(record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], KeyboardInterrupt))

    # Py4J logs them by the root logger.
    root = logging.getLogger()
    root.addFilter(is_no_interrupt)
    try:
        yield
    finally:
        root.removeFilter(is_no_interrupt)


@contextmanager
def _progress(verb: str) -> Iterator[Progress | None]:
    if not verb:
        yield None
        return
    with progress_line(verb) as progress:
        yield progress


def _started(name: str, settings: Mapping[str, str], plan: ReadPlan | None) -> SparkSession:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    if "SPARK_ENV_LOADED" not in os.environ:
        # Not started by spark-submit: workers run this Python, which has kafkalog, unless another one is set.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Spark's own bars, one for each stage, would be drawn over the job's line, and into log files.
    settings = {"spark.app.name": name, "spark.ui.showConsoleProgress": "false", **settings}
    small = plan is not None and plan.bytes <= _SMALL
    try:
        start_jvm(settings, quick=small, known=() if plan is None else plan.warnings)
    except PySparkRuntimeError as error:
        raise ConfigError("Spark could not start Java; install Java 17 or newer, or set JAVA_HOME") from error
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    _write_no_checksum_files(spark)
    if small:
        _set_unless_configured(spark, _FOR_SMALL)
    return spark


def _set_unless_configured(spark: SparkSession, settings: Mapping[str, str]) -> None:
    configured = spark.sparkContext.getConf()
    for key, value in settings.items():
        if not configured.contains(key):
            spark.conf.set(key, value)


def _write_no_checksum_files(spark: SparkSession) -> None:
    """Let Hadoop write no hidden ``.crc`` file beside each file of an output. Parquet has checksums of its own."""
    context = spark.sparkContext
    jvm = context._jvm
    assert jvm is not None
    local = jvm.org.apache.hadoop.fs.FileSystem.get(
        jvm.java.net.URI.create("file:///"), context._jsc.hadoopConfiguration()
    )
    # Hadoop keeps one instance, which Spark's writers get too.
    local.setWriteChecksum(False)


@contextmanager
def set_for_now(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set runtime settings of a session for the ``with`` block, then restore the previous ones."""
    before = {key: spark.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)
