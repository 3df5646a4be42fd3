"""Every block of the README runs, and prints what the README shows."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import OptionError, scan
from kafkalog_source.arrow.schema import COLUMN_TYPES
from kafkalog_source.reading.options import OPTION_NAMES, parse_options
from tests.readme.blocks import Block, blocks_of, is_as_shown
from tests.readme.conftest import ROOT

README = ROOT / "README.md"
BLOCKS = blocks_of(README)
NOT_YET = "not supported yet"


def chosen(language: str, *, fresh: bool = False) -> list[Any]:
    """Give the blocks of a language as parameters of a test."""
    found = [
        block
        for block in BLOCKS
        if block.language == language and block.is_run and ("fresh clone" in block.marks) == fresh
    ]
    return [
        pytest.param(block, id=block.name, marks=[pytest.mark.slow] if "slow" in block.marks else []) for block in found
    ]


def check_output(block: Block, printed: str) -> None:
    if block.output is not None:
        assert is_as_shown(printed, block.output), f"line {block.line} prints:\n{printed}"


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.mark.parametrize("block", chosen("python"))
def test_python_block(block: Block, spark: Any, in_utc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # Paths in the README start at the top level of the project, and so does the JVM of the tests.
    monkeypatch.chdir(ROOT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.code, f"README.md, line {block.line}", "exec"), {"spark": spark, "__name__": "readme"})
    check_output(block, printed.getvalue())


def run_shell(code: str, directory: Path, **environment: str) -> str:
    # What the tests' own run is told must not reach a run inside of it.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SPARK_", "PYSPARK_"))}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=directory,
        env=kept | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def path_with(folder: Path) -> str:
    return os.pathsep.join((str(folder), os.environ["PATH"]))


@pytest.mark.parametrize("block", chosen("sh"))
def test_shell_block(block: Block, copy_of_samples: Path) -> None:
    printed = run_shell(block.code, copy_of_samples, PATH=path_with(Path(sys.executable).parent))
    check_output(block, printed)


@pytest.mark.parametrize("block", chosen("sh", fresh=True))
def test_shell_block_in_a_fresh_clone(block: Block, fresh_clone: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "environment"], check=True)
    printed = run_shell(block.code, fresh_clone, PATH=path_with(tmp_path / "environment" / "bin"))
    check_output(block, printed)


def test_blocks_are_found() -> None:
    assert {block.language for block in BLOCKS} == {"python", "sh"}
    fences = [line for line in README.read_text(encoding="utf-8").splitlines() if line in ("```python", "```sh")]
    assert len(fences) == len(BLOCKS)


def table_rows() -> dict[str, str]:
    """Give the lines of the README's tables by the names in their first column."""
    lines = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return {name: line for line in lines for name in re.findall(r"`([^`]+)`", line.split("|")[1])}


def is_built(name: str, value: str) -> bool:
    """Whether an option's value is accepted; what is not built is refused in the README's words."""
    try:
        parse_options({name: value}, "/logs")
    except OptionError as error:
        assert NOT_YET in str(error)
        return False
    return True


@pytest.mark.parametrize("name", COLUMN_TYPES)
def test_column_is_told_and_whether_it_is_built(name: str) -> None:
    try:
        scan("/logs", columns=[name])
        built = True
    except OptionError:
        built = False
    assert built != (NOT_YET in table_rows()[name])


# A value of each option that is not its default.
VALUES = {
    "isolationLevel": ["read_committed"],
    "readUpTo": ["highWatermark"],
    "includeDeleted": ["true"],
    "mode": ["DROPMALFORMED", "PERMISSIVE", "RECOVER"],
    "view": ["batches", "damage", "segments"],
    "filterPushdown": ["true"],
    "maxOffsetsPerTrigger": ["10"],
    "maxBytesPerTrigger": ["10"],
    "minOffsetsPerTrigger": ["10"],
    "maxTriggerDelay": ["1m"],
}


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_option_is_told_and_whether_it_is_built(name: str) -> None:
    built = [is_built(name, value) for value in VALUES.get(name, [])]
    assert all(built) != (NOT_YET in table_rows()[name])
