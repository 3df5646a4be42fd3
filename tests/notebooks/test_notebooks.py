"""The notebooks as they are committed, and as a clean kernel runs them."""

from __future__ import annotations

import base64
import getpass
import socket
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import scan

pytest.importorskip("nbclient", reason="the notebook extra is not installed")
pytest.importorskip("matplotlib", reason="the notebook extra is not installed")

from tests.notebooks.executing import NOTEBOOKS, ROOT, execute, read, texts

SAMPLE = ROOT / "spark_jobs" / "sample" / "kafka-logs"
EXPLORE = ROOT / "spark_jobs" / "notebooks" / "explore.ipynb"
each_notebook = pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def pictures(cell: Any) -> list[bytes]:
    data = [output.get("data", {}) for output in cell.outputs]
    return [base64.b64decode(each["image/png"]) for each in data if "image/png" in each]


def size_of(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@each_notebook
def test_it_is_committed_as_one_run_left_it(file: Path) -> None:
    cells = code_cells(read(file))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert "error" not in kinds
    assert [cell.metadata for cell in cells if "execution" in cell.metadata] == []
    assert [output for cell in cells for output in cell.outputs if output.get("name") == "stderr"] == []


@each_notebook
def test_it_names_nothing_of_the_machine_it_ran_on(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    places = {str(ROOT), str(Path.home()), tempfile.gettempdir() + "/", sys.prefix, "/root", "/home/"}
    names = {name for name in (socket.gethostname(), getpass.getuser()) if len(name) > 4}
    assert [place for place in places | names if place in text] == []


@each_notebook
def test_it_is_small_enough_to_be_shown_where_it_is_kept(file: Path) -> None:
    assert file.stat().st_size < 500_000


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@each_notebook
def test_a_clean_kernel_gives_what_is_committed(file: Path) -> None:
    committed, ran = (code_cells(notebook) for notebook in (read(file), execute(file)))
    for before, now in zip(committed, ran, strict=True):
        assert texts(now) == texts(before), before.source
        # What a picture looks like depends on versions and fonts; that it is there, and how large, does not.
        for old, new in zip(pictures(before), pictures(now), strict=True):
            assert all(0.8 < there / here < 1.25 for there, here in zip(size_of(old), size_of(new), strict=True))
            assert len(new) > 5_000


def test_the_tables_of_the_exploration_say_what_is_in_the_sample() -> None:
    said = "\n".join(text for cell in code_cells(read(EXPLORE)) for text in texts(cell))
    report = scan(str(SAMPLE)).report() | {"records": scan(str(SAMPLE)).to_table().num_rows}
    assert f"records      {report['records']:>9,}\n" in said
    for partition in (0, 1):
        wanted = {"assign": {"tx-a": [partition]}, "columns": ["offset"]}
        both = [scan(str(SAMPLE), isolationLevel=f"read_{level}", **wanted) for level in ("uncommitted", "committed")]
        counts = [str(read.to_table().num_rows) for read in both]
        assert any(line.split()[-3:-1] == counts for line in said.splitlines()), partition
    assert "sound: 7 partitions, 22 segments" in said
    assert "CorruptBatchError: v2-mixed-0/00000000000000000060.log, position 0" in said


def test_the_exploration_shows_its_pictures() -> None:
    assert sum(len(pictures(cell)) for cell in code_cells(read(EXPLORE))) == 5
