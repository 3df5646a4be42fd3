"""Spark finds the data source by a module that imports little and never raises."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from kafkalog_source.spark import KafkaLogDataSource

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "kafkalog_source/spark/registration"


def in_a_fresh_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(SOURCES)!r}, {str(ROOT)!r}]\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_default_source_is_ours() -> None:
    assert in_a_fresh_python("import pyspark_kafkalog as p; print(p.DefaultSource.name())") == "kafkalog"
    assert KafkaLogDataSource.name() == "kafkalog"


def test_the_top_level_module_is_mapped_to_its_folder() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folder = setuptools.get("package-dir", {}).get("pyspark_kafkalog", "pyspark_kafkalog")
    assert "pyspark_kafkalog" in setuptools["packages"]
    assert (ROOT / folder / "__init__.py").is_file()


def test_finding_the_source_imports_neither_arrow_nor_the_core() -> None:
    code = (
        "import pyspark_kafkalog; "
        "print([m for m in sys.modules if m == 'pyarrow' or m.startswith('kafkalog_source._core')])"
    )
    assert in_a_fresh_python(code) == "[]"


BROKEN = """
import warnings
sys.modules["kafkalog_source.errors"] = None
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import pyspark_kafkalog
print(hasattr(pyspark_kafkalog, "DefaultSource"), any("cannot be used" in str(w.message) for w in seen))
"""


def test_a_broken_installation_warns_and_does_not_raise() -> None:
    assert in_a_fresh_python(BROKEN) == "False True"
