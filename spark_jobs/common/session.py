"""The Spark session of a job: its own, or the active one, which is left as it was."""

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
    """Give a Spark session for as long as a job needs it.

    A session that the job starts is stopped at the end. One that is active already
    goes on, with the settings it had before.

    Parameters
    ----------
    name : str
        The job's name, as Spark's pages show it.
    settings : mapping, optional
        What is set in the session, such as ``spark.sql.session.timeZone``.
    at_start : mapping, optional
        What only a new session takes, such as ``spark.sql.extensions``; an active one keeps its own.

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
        # Not started by spark-submit: workers are this Python, where kafkalog is, unless another is named.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    # Spark draws its bar of finished tasks by itself, and only a terminal can show it.
    builder = builder.config("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@contextmanager
def set_for_now(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set what a session takes while it runs, and put back what was there."""
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
