"""The session of Spark for the tests of the jobs, which take an active session as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def job_spark(spark: SparkSession) -> SparkSession:
    """Give the session that all tests share, which is the active one."""
    return spark
