"""A broker for the tests that want one; it takes some seconds to start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.broker.broker import Broker, UnavailableError, class_path, running


@pytest.fixture(scope="session")
def jars() -> str:
    """The class path of the broker and its clients; without it these tests are skipped."""
    try:
        return class_path()
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def start_broker(jars: str, tmp_path: Path) -> Iterator[Callable[..., Broker]]:
    """Start a broker with further settings; it is ended with the test."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(
            running(tmp_path, {name.replace("_", "."): value for name, value in settings.items()})
        )
