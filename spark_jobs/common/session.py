"""The Spark session of a job: its own, or the active one, whose settings are restored."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["job_session", "set_for_now"]


@contextmanager
def job_session(
    name: str, settings: Mapping[str, str] | None = None, *, at_start: Mapping[str, str] | None = None
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

    Yields
    ------
    SparkSession
        The session.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    spark = active or _started(name, at_start or {})
    try:
        with set_for_now(spark, settings or {}):
            yield spark
    finally:
        if active is None:
            spark.stop()


def _started(name: str, settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    if "SPARK_ENV_LOADED" not in os.environ:
        # Not started by spark-submit: workers run this Python, which has kafkalog, unless another one is set.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    # Spark would draw its progress bar into a log file too.
    builder = builder.config("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


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
