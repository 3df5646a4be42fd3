"""A log dir with real records, and the command run in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from kafkalog_source.cli.main import main


@dataclass(frozen=True)
class Run:
    """What one run of the command gave."""

    status: int
    out: str
    err: str


@pytest.fixture
def kafkalog(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Run the command as a terminal would."""

    def run(*arguments: object) -> Run:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as left:
            assert isinstance(left.code, int)
            status = left.code
        captured = capsys.readouterr()
        return Run(status, captured.out, captured.err)

    return run
