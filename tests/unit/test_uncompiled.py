"""A checkout that was never compiled, in the way of the installed package, is one line that says what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("checkout")
    for package in ("kafkalog_source", "spark_jobs"):
        shutil.copytree(ROOT / package, place / package, ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
    return place


def run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=checkout, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "program", [["kafkalog_source.cli", "ls", "."], ["spark_jobs.topic_profile", "--help"]], ids=["command", "job"]
)
def test_a_program_ends_with_one_line(checkout: Path, program: list[str]) -> None:
    done = run(checkout, "-m", *program)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert f"kafkalog_source in {checkout / 'kafkalog_source' / '_core'} is source code that is not compiled" in line
    assert "Run Python from another directory" in line


def test_an_import_says_it_in_its_error(checkout: Path) -> None:
    done = run(checkout, "-c", "import kafkalog_source; kafkalog_source.scan('.')")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: kafkalog_source in ")
    assert "During handling" not in done.stderr
