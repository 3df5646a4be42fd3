"""The packed cases are those of the manifest, and packing loses nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.data.archive import SHORTEST_HOLE, pack, unpack
from tests.data.cases import CASES, FILE_ORACLES, INTERNAL_RECORDS, WITHOUT_ORACLE

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize("case", CASES | WITHOUT_ORACLE | INTERNAL_RECORDS | FILE_ORACLES)
def test_archive_is_the_one_of_the_manifest(case: str) -> None:
    digest = hashlib.sha256((DATA / f"{case}.tar.gz").read_bytes()).hexdigest()
    assert digest in (DATA / "MANIFEST.md").read_text(encoding="utf-8")


def test_packing_keeps_zero_tails_and_empty_directories(tmp_path: Path) -> None:
    files = {
        "case/log/short": b"data" + bytes(SHORTEST_HOLE - 1),
        "case/log/long": b"data" + bytes(1 << 20),
        "case/log/zeros": bytes(1 << 20),
        "case/log/" + "x" * 249 + "-0/file": b"",
        "case/log/empty/": b"",
    }
    pack(files, tmp_path / "case.tar.gz")
    unpack(tmp_path / "case.tar.gz", tmp_path)
    for name, content in files.items():
        assert (tmp_path / name).is_dir() if name.endswith("/") else (tmp_path / name).read_bytes() == content
    assert (tmp_path / "case.tar.gz").stat().st_size < 2000


def test_packing_the_same_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        pack({"b": b"2", "a": b"1"}, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
