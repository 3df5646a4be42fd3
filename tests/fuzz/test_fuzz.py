"""Short runs of the fuzzer: some thousand inputs with every test run, and the sanitizers where they are asked for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz import knobs, sanitized
from tests.fuzz.case import Case
from tests.fuzz.seeds import all_seeds
from tests.fuzz.targets import Targets

INPUTS = 600
FEW_CASES = ("codec-variants", "compact-2.8", "txn-4.4")


@pytest.fixture(scope="module")
def targets() -> Iterator[Targets]:
    yield Targets(all_seeds(FEW_CASES))
    knobs.restore()


@pytest.mark.parametrize("seed", range(4))
def test_mutated_input_gives_rows_or_one_of_our_errors(targets: Targets, seed: int) -> None:
    rows = sum(targets.check(targets.make(seed, number)).rows for number in range(INPUTS))
    assert rows > 0


def test_a_case_comes_from_its_number_alone_and_survives_being_written_down(targets: Targets) -> None:
    for number in range(50):
        case = targets.make(7, number)
        assert case == targets.make(7, number)
        assert case == Case.from_json(case.to_text())


@pytest.mark.fuzz
@pytest.mark.skipif(shutil.which(sanitized.COMPILER) is None, reason="the sanitizers come with gcc")
def test_nothing_is_found_under_the_sanitizers(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz.run", "--seconds", "20", "--keep", str(tmp_path)]
    done = subprocess.run(
        command, cwd=sanitized.ROOT, env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "under ASan and UBSan" in done.stdout
