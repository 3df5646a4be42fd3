"""Columns: their enumeration, their table, and what a further one needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from kafkalog_source import _core
from kafkalog_source._core.columns import FIXED

CORE = Path(_core.__path__[0])
ROOM = """

def room():
    cdef Table* table = NULL
    return sizeof(table.fixed) // sizeof(FixedColumn)
"""
TAKEN = """
from kafkalog_source._core.columns import NAMES, Columns, room
from kafkalog_source._core.memory import BlockPool

rows, taken = Columns(NAMES, BlockPool()).take()
print(room(), rows, "further" in taken, sorted(taken) == sorted(NAMES))
"""


def test_the_enumeration_has_the_names_and_their_order() -> None:
    text = (CORE / "columns.pxd").read_text()
    members = re.findall(r"(?m)^    ([A-Z_]+)$", text[text.index("cdef enum Fixed") : text.index("cdef struct")])
    names = [re.sub("[A-Z]", lambda letter: f"_{letter[0]}", name).upper() for name, _ in FIXED]
    assert members == [*names, "FIXED_COUNT"]


def compiled_with(place: Path, *, in_enumeration: bool, in_names: bool) -> subprocess.CompletedProcess[str]:
    """Compile the columns with one more of them, and take what it holds."""
    core = place / "kafkalog_source" / "_core"
    core.mkdir(parents=True)
    for path in (*CORE.glob("*.pxd"), *CORE.glob("memory.*.so"), CORE / "columns.pyx"):
        shutil.copy(path, core)
    (core.parent / "__init__.py").touch()
    (core / "__init__.py").touch()
    if in_enumeration:
        replace(core / "columns.pxd", "    FIXED_COUNT\n", "    FURTHER\n    FIXED_COUNT\n")
    if in_names:
        replace(
            core / "columns.pyx", '    ("batchBaseOffset", 8),\n', '    ("batchBaseOffset", 8),\n    ("further", 8),\n'
        )
    replace(core / "columns.pyx", "\n\ncdef bint grow(", f"{ROOM}\n\ncdef bint grow(")
    command = [sys.executable, "-m", "Cython.Build.Cythonize", "-i", "-q", "kafkalog_source/_core/columns.pyx"]
    subprocess.run(command, cwd=place, env={**os.environ, "CFLAGS": "-O0"}, check=True)
    environment = {**os.environ, "PYTHONPATH": str(place)}
    run = [sys.executable, "-P", "-c", TAKEN]
    return subprocess.run(run, env=environment, capture_output=True, text=True, check=False)


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_a_further_column_has_its_room_in_the_table(tmp_path: Path) -> None:
    ran = compiled_with(tmp_path, in_enumeration=True, in_names=True)
    assert (ran.returncode, ran.stdout.split()) == (0, [str(len(FIXED) + 1), "0", "True", "True"]), ran.stderr


def test_a_column_that_the_enumeration_lacks_is_refused(tmp_path: Path) -> None:
    ran = compiled_with(tmp_path, in_enumeration=False, in_names=True)
    assert ran.returncode == 1
    assert f"ImportError: {len(FIXED) + 1} columns in FIXED, and {len(FIXED)} in columns.pxd" in ran.stderr
