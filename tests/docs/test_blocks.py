"""Every block of the README and of the pages in docs/ runs, and prints what its page shows.

A page is one unit: its blocks run in their order, those of a shell in one shell and those of Python in one
interpreter, and they use nothing of another page.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import PAGES, README, ROOT, Block, Page, is_as_shown
from tests.docs.shell import run_blocks

COMMANDS = Path(sys.executable).parent
FRESH, SLOW = "fresh clone", "slow"


def pages_with(language: str, mark: str = "", without: tuple[str, ...] = ()) -> list[Any]:
    """Give the pages that have such blocks, as parameters of a test."""
    found = {page.name: page for page in PAGES if any(mark in ("", *b.marks) for b in page.blocks(language, without))}
    return [pytest.param(page, id=name) for name, page in found.items()]


def check_output(page: Page, block: Block, printed: str) -> None:
    if block.output is not None:
        assert is_as_shown(printed, block.output), f"{page.name}, line {block.line} prints:\n{printed}"


def check_shell(page: Page, blocks: Sequence[Block], directory: Path, path: Path | None) -> None:
    for block, printed in zip(blocks, run_blocks(blocks, directory, path), strict=True):
        check_output(page, block, printed)


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """Give the commands of a Python where nothing is installed; a page may say to activate another."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "environment"], check=True)
    return tmp_path / "environment" / "bin"


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_blocks(page: Page, spark: Any, in_utc: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # Paths in the pages start at the top level of the project, and so does the JVM of the tests, whose session is the
    # one that a page gets.
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {"__name__": "page"}
    for block in page.blocks("python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.code, f"{page.name}, line {block.line}", "exec"), names)
        check_output(page, block, printed.getvalue())


@pytest.mark.parametrize("page", pages_with("sh", without=(SLOW, FRESH)))
def test_shell_blocks(page: Page, copy_of_samples: Path) -> None:
    check_shell(page, page.blocks("sh", without=(SLOW, FRESH)), copy_of_samples, COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("sh", SLOW, without=(FRESH,)))
def test_shell_blocks_with_the_slow_ones(page: Page, copy_of_samples: Path) -> None:
    check_shell(page, page.blocks("sh", without=(FRESH,)), copy_of_samples, COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in pages_with("sh", FRESH) if page.values[0] != README])
def test_shell_blocks_in_a_fresh_clone(page: Page, fresh_clone: Path, bare_python: Path) -> None:
    check_shell(page, page.blocks("sh"), fresh_clone, bare_python)


@pytest.mark.slow
def test_whole_readme_in_one_shell_in_a_fresh_clone(fresh_clone: Path, bare_python: Path) -> None:
    check_shell(README, README.blocks(), fresh_clone, bare_python)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_are_found(page: Page) -> None:
    fences = [line for line in page.text.splitlines() if line.startswith("```") and line not in ("```", "```text")]
    assert len(fences) == len(page.all_blocks)


def test_both_languages_are_run() -> None:
    assert {block.language for block in README.blocks()} == {"python", "sh"}
    assert len(pages_with("python")) > 5
    assert len(pages_with("sh", without=(SLOW, FRESH))) > 5


def test_a_block_that_fails_is_found(tmp_path: Path) -> None:
    good, bad = Block("sh", "echo one\n", None, (), 1), Block("sh", "false\necho two\n", None, (), 5)
    assert run_blocks([good], tmp_path) == ["one\n"]
    with pytest.raises(AssertionError, match="line 5, exit status 1"):
        run_blocks([good, bad, good], tmp_path)


def test_the_status_that_a_page_tells_is_compared(tmp_path: Path) -> None:
    assert run_blocks([Block("sh", "echo one\n(exit 1)\n", None, ("exit 1",), 1)], tmp_path) == ["one\n"]
    for code in ("true", "(exit 2)"):
        with pytest.raises(AssertionError, match="line 1, exit status 99"):
            run_blocks([Block("sh", f"{code}\n", None, ("exit 1",), 1)], tmp_path)


def test_a_shell_keeps_its_state_and_starts_python(tmp_path: Path) -> None:
    blocks = [
        Block("sh", "export PLACE=here\nmkdir sub\ncd sub\ncat\n", None, (), 1),
        Block("python", "import os\nprint(os.environ['PLACE'], os.path.basename(os.getcwd()))\n", None, (), 9),
    ]
    assert run_blocks(blocks, tmp_path, COMMANDS) == ["", "here sub\n"]


def test_what_is_shown_is_compared() -> None:
    assert is_as_shown("a  \nb 12 s\n\n", "a\nb … s\n")
    assert not is_as_shown("a\nb\n", "a\n")
