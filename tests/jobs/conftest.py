"""One Spark session for the tests of the jobs, which take an active session as it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="package")
def job_spark() -> Iterator[SparkSession]:
    """Start Spark, or take the session that other tests of this process have started."""
    # Workers are this Python, where kafkalog is installed, and not the first one on the PATH.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    others = SparkSession.getActiveSession()
    spark = others or (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield spark
    if others is None:
        spark.stop()
