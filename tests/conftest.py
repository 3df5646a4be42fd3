"""Fixtures that every test may use."""

from __future__ import annotations

import fcntl
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.data.archive import unpack

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# How much Hypothesis tries: ``--hypothesis-profile=thorough`` is for a long run.
settings.register_profile("brief", max_examples=60, deadline=None)
settings.register_profile("thorough", max_examples=3000, deadline=None)
settings.load_profile("brief")

DATA = Path(__file__).parent / "data"
REGISTRATION = Path(__file__).parents[1] / "kafkalog_source" / "spark" / "registration"

# No JVM of a test lives long enough for its second compiler to pay: without it a test of Spark takes half of the
# processor time. Spark's scripts hand this to each JVM of a driver.
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_JVM)


class FailuresAtOnce:
    """Prints each failure when it happens: a run that is ended from outside would otherwise hide which test failed."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write_line(f"\nFAILED {report.nodeid} ({report.when})\n{report.longreprtext}")


def pytest_configure(config: pytest.Config) -> None:
    """Print failures at once, in the process that writes to the terminal; keep groups of tests on one worker."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(config))
    # Otherwise each worker would start a JVM, and set up the same long fixtures.
    if config.getoption("dist", None) == "load":
        config.option.dist = "loadgroup"


# First, because pytest-xdist reads the groups in a hook of its own that would otherwise run before.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses the shared session of Spark, and keep it in one process under pytest-xdist."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.xdist_group("spark"))


def unpack_once(name: str, shared: Path) -> Path:
    """Unpack the case `name` below `shared` unless that has been done; several processes may ask at once."""
    target = shared / name
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            scratch = shared / f"{name}.unpacking"
            scratch.mkdir(exist_ok=True)
            unpack(DATA / f"{name}.tar.gz", scratch)
            (scratch / name).rename(target)
    return target


@pytest.fixture(scope="session")
def fixture_case(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the directory of a packed case, with its ``log`` and ``oracle`` folders.

    A case is unpacked once in a session, also under pytest-xdist, whose workers
    share the parent of their temporary directories. Tests must not write there.
    """
    shared = tmp_path_factory.getbasetemp()
    if shared.name.startswith("popen-"):
        shared = shared.parent
    cases = shared / "cases"
    cases.mkdir(exist_ok=True)
    return lambda name: unpack_once(name, cases)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Give the one session of all tests: plain, small and quiet."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        # Workers are this Python, where kafkalog is installed, and not the first one on the PATH.
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
            # A shuffle of a few rows is not worth the default of 200 tasks.
            .config("spark.sql.shuffle.partitions", "2")
            # On a machine with much else to do the worker may take longer than 15 s to connect.
            .config("spark.python.authenticate.socketTimeout", "600s")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
