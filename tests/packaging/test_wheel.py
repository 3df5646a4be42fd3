"""The content of the wheel in dist/, which `make test-wheel` builds and then gives to these tests."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel() -> zipfile.ZipFile:
    wheels = list((ROOT / "dist").glob("*.whl"))
    assert len(wheels) == 1, "run `make wheel` first"
    return zipfile.ZipFile(wheels[0])


def test_top_level_is_the_packages_and_the_metadata(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "kafkalog_source",
        "pyspark_kafkalog",
        "spark_jobs",
    }


def test_every_python_file_and_table_of_the_packages_is_in_it(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    files = [
        *ROOT.glob("kafkalog_source/**/*.py"),
        *ROOT.glob("kafkalog_source/**/*.pyi"),
        *ROOT.glob("kafkalog_source/**/*.toml"),
        *ROOT.glob("spark_jobs/**/*.py"),
    ]
    expected = {str(path.relative_to(ROOT)) for path in files if "pyspark_kafkalog" not in path.parts}
    assert expected - names == set()


def test_every_compiled_module_is_in_it(wheel: zipfile.ZipFile) -> None:
    compiled = {name.split(".")[0] for name in wheel.namelist() if name.endswith((".so", ".pyd"))}
    sources = {str(path.relative_to(ROOT).with_suffix("")) for path in ROOT.glob("kafkalog_source/**/*.pyx")}
    assert compiled == sources


def test_it_is_typed(wheel: zipfile.ZipFile) -> None:
    assert "kafkalog_source/py.typed" in wheel.namelist()


def test_nothing_that_was_generated_or_is_only_for_tests_is_in_it(wheel: zipfile.ZipFile) -> None:
    unwanted = (".c", ".cpp", ".log", ".index", ".pyc")
    assert [name for name in wheel.namelist() if name.endswith(unwanted) or name.startswith("tests/")] == []


def test_no_file_names_the_place_it_was_built_in(wheel: zipfile.ZipFile) -> None:
    place = f"{ROOT}/".encode()
    assert [name for name in wheel.namelist() if place in wheel.read(name)] == []


def test_the_licence_and_the_command_are_in_the_metadata(wheel: zipfile.ZipFile) -> None:
    metadata = {name.split("/", 1)[1]: name for name in wheel.namelist() if ".dist-info/" in name}
    assert "licenses/LICENSE" in metadata
    assert "kafkalog = kafkalog_source.cli.main:main" in wheel.read(metadata["entry_points.txt"]).decode()
