"""Each recipe is complete: it runs alone, when it is pasted without those before it."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT
from tests.recipes.page import PAGE, RECIPES

PREPARED = "build/replica"


def run(code: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, PAGE.name, "exec"), {"__name__": "page"})
    return printed.getvalue()


@pytest.mark.parametrize("heading", RECIPES)
def test_it_runs_alone(heading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code = RECIPES[heading].code
    if PREPARED in code:
        # Somewhere else, because tests of the page write it at the same time.
        shutil.copytree(ROOT / "spark_jobs" / "sample-groups", tmp_path / "spark_jobs" / "sample-groups")
        monkeypatch.chdir(tmp_path)
        run(next(block.code for block in PAGE.blocks("python") if PREPARED in block.code))
    assert "│" in run(code)


def test_every_question_has_a_section() -> None:
    assert len({heading.removesuffix(" 2") for heading in RECIPES}) == len(RECIPES) - 1 == 10
