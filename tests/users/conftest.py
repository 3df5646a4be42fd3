"""A terminal: commands as a user types them, and what comes back."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SPARK_JOBS = Path(__file__).resolve().parents[2] / "spark_jobs"
SAMPLE = SPARK_JOBS / "sample" / "kafka-logs"
GROUPS = SPARK_JOBS / "sample-groups"

# The tests configure Spark, and most users do not.
OF_THE_TESTS = ("SPARK_CONF_DIR", "SPARK_HOME", "SPARK_LOCAL_IP", "PYSPARK_PYTHON", "PYTHONPATH")


@dataclass(frozen=True)
class Answer:
    """What one command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def rows(self) -> list[list[str]]:
        """The cells of a printed table, without those that hold spaces."""
        return [line.split() for line in self.lines]


@dataclass
class Terminal:
    """Runs the installed commands in one directory, and remembers them with their times."""

    directory: Path
    commands: list[tuple[str, float]] = field(default_factory=list)

    def __call__(self, line: str) -> Answer:
        """Run a command line without a shell; whatever happens, nobody is to see a traceback."""
        words = shlex.split(line)
        environment = {name: value for name, value in os.environ.items() if name not in OF_THE_TESTS}
        began = time.monotonic()
        done = subprocess.run(
            [str(Path(sys.executable).with_name(words[0])), *words[1:]],
            cwd=self.directory,
            env=environment | {"PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=600,
        )
        self.commands.append((line, time.monotonic() - began))
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return Answer(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """Give a terminal, and print what was typed in it; ``pytest -rP`` shows that."""
    terminal = Terminal(tmp_path)
    yield terminal
    for line, seconds in terminal.commands:
        print(f"{seconds:6.2f} s  {line}")
    print(f"{sum(seconds for _, seconds in terminal.commands):6.2f} s  for {len(terminal.commands)} commands")
