"""One measured run in a process of its own: start it, read the JSON lines it prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 1800


class RunError(RuntimeError):
    """A run failed; the message is one line that says why."""


def run(command: Sequence[str]) -> list[dict[str, Any]]:
    """Run a command from the project's root and return the JSON objects it printed, one a line.

    Raises
    ------
    RunError
        It could not be started, failed, ran too long, or printed nothing.
    """
    environment = {"SPARK_LOCAL_IP": "127.0.0.1", **os.environ}
    environment |= {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except FileNotFoundError as error:
        raise RunError(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise RunError(f"{command[0]} ran for more than {TIMEOUT_S} s") from error
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise RunError(failure(done.stderr) or f"{command[0]} ended with status {done.returncode}")
    return lines


def child(module: str, *arguments: str) -> dict[str, Any]:
    """Run a module of this package in a fresh Python and return what it measured."""
    return run([sys.executable, "-m", f"tests.bench.{module}", *arguments])[-1]


def failure(text: str) -> str:
    """The line of standard error that names the error, or its last line where none does."""
    named = re.findall(r"^(?:: )?([\w.]*(?:Error|Exception): .*)$", text, re.MULTILINE)
    lines = named or text.split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][:300] if said else ""
