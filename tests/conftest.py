"""Fixtures that every test may use."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.data.archive import unpack

# How much Hypothesis tries: ``--hypothesis-profile=thorough`` is for a long run.
settings.register_profile("brief", max_examples=60, deadline=None)
settings.register_profile("thorough", max_examples=3000, deadline=None)
settings.load_profile("brief")

DATA = Path(__file__).parent / "data"


class FailuresAtOnce:
    """Prints each failure when it happens: a run that is ended from outside would otherwise hide which test failed."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write_line(f"\nFAILED {report.nodeid} ({report.when})\n{report.longreprtext}")


def pytest_configure(config: pytest.Config) -> None:
    """Print failures at once, in the process that writes to the terminal."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(config))


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
