"""One Spark session for all tests of the data source."""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

REGISTRATION = Path(__file__).parents[2] / "kafkalog_source/spark/registration"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts a JVM, and keep it in one process under pytest-xdist."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Give a plain session with default configuration, small and quiet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        if "pyspark_kafkalog" not in {module.name for module in pkgutil.iter_modules()}:
            # An editable install maps folders by an import hook, and Spark looks through directories.
            old = os.environ.get("PYTHONPATH")
            patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(REGISTRATION), old])))
        session = (
            SparkSession.builder.master("local[2]")
            .appName("kafkalog tests")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.session.timeZone", "UTC")
            # On a machine with much else to do the worker may take longer than 15 s to connect.
            .config("spark.python.authenticate.socketTimeout", "600s")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
