"""Where the blocks of the pages run: the project's top level, or a copy of what they read."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT


@pytest.fixture
def copy_of_samples(tmp_path: Path) -> Path:
    """Give a directory with what the commands of the pages name, so that they may write beside it."""
    for name in ("conf", "spark_jobs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.fixture
def fresh_clone(tmp_path: Path) -> Path:
    """Give a copy of the files that git would commit, with nothing built or installed in it."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    clone = tmp_path / "clone" / "kafkalog"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    return clone
