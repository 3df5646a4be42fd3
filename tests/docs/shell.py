"""The blocks of a page in one shell, as they are when somebody pastes them one after another."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import QUICK_JVM
from tests.docs.blocks import Block

_END = "--- the end of a block ---"
_WRONG_STATUS = 99


def run_blocks(blocks: Sequence[Block], directory: Path, path: Path | None = None) -> list[str]:
    """Run blocks of shell and of Python in one shell.

    Parameters
    ----------
    blocks : sequence of Block
        In their order. One of Python is what a Python started in this shell reads.
    directory : Path
        The working directory of the shell when it starts.
    path : Path, optional
        A folder whose commands win over all others.

    Returns
    -------
    list of str
        The standard output of each block.

    Raises
    ------
    AssertionError
        A block ended with another status than its page says, and the shell with it.
    """
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input="\n".join(_script(block) for block in blocks),
        cwd=directory,
        env=_environment(path),
        capture_output=True,
        text=True,
        check=False,
    )
    printed = done.stdout.split(f"{_END}\n")
    at = blocks[min(len(printed), len(blocks)) - 1]
    assert done.returncode == 0, f"line {at.line}, exit status {done.returncode}:\n{done.stdout}{done.stderr}"
    assert len(printed) == len(blocks) + 1, done.stdout + done.stderr
    return printed[:-1]


def _script(block: Block) -> str:
    # The shell reads all of a block in braces before it runs it, and its commands read nothing of the script.
    whole = f"{{\n{block.code}}} </dev/null" if block.language == "sh" else f"python - <<'PYTHON'\n{block.code}PYTHON"
    if block.status:
        whole = f"set +e\n{whole}\n[ $? -eq {block.status} ] || exit {_WRONG_STATUS}\nset -e"
    return f"{whole}\nprintf '%s\\n' '{_END}'\n"


def _environment(path: Path | None) -> dict[str, str]:
    # What the tests' own run is told must not reach a run inside of it.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SPARK_", "PYSPARK_"))}
    kept["SPARK_SUBMIT_OPTS"] = QUICK_JVM
    if path is not None:
        kept["PATH"] = os.pathsep.join((str(path), kept["PATH"]))
    return kept
