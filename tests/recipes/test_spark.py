"""The queries of the page give the same rows in Spark as in DuckDB, with the one change that the page names."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source import scan
from tests.docs.blocks import ROOT
from tests.recipes.page import PAGE, RECIPES, Recipe

ONLY_DUCKDB = {"Growth and retention by topic", "What another codec would save"}


class Named:
    """What a block of the page scans."""

    def __init__(self, path: Any, **options: Any) -> None:
        self.path, self.options = path, options


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Give the names of an interpreter in which scans and queries are only noted."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(kafkalog_source, "scan", Named)
    monkeypatch.setitem(sys.modules, "duckdb", SimpleNamespace(sql=lambda query: ""))
    return {"__name__": "page"}


def views_of(recipe: Recipe, names: dict[str, Any]) -> Iterator[tuple[str, Named]]:
    """Run the page up to the recipe, and give the views that the recipe uses."""
    for block in PAGE.blocks("python"):
        own: dict[str, Any] = {}
        if "pyspark" not in block.code and "compare_codecs" not in block.code:
            before = dict(names)
            exec(compile(block.code, recipe.heading, "exec"), names)
            own = {
                name: each for name, each in names.items() if isinstance(each, Named) and before.get(name) is not each
            }
        if block.code == recipe.code:
            yield from own.items()
            return


@pytest.mark.parametrize("heading", [heading for heading in RECIPES if heading not in ONLY_DUCKDB])
def test_spark_gives_the_same_rows(heading: str, names: dict[str, Any], spark: Any) -> None:
    recipe = RECIPES[heading]
    views = dict(views_of(recipe, names))
    assert views
    for name, view in views.items():
        paths = [str(each) for each in ([view.path] if isinstance(view.path, str | Path) else view.path)]
        spark.read.format("kafkalog").options(**view.options).load(paths).createOrReplaceTempView(name)
    query = re.sub(r"(\w+) ->> ('[^']+')", r"get_json_object(\1, \2)", recipe.query)
    rows = [tuple(row) for row in spark.sql(query).collect()]
    expected = recipe.ask(**{name: scan(view.path, **view.options) for name, view in views.items()})
    assert expected
    assert [in_utc(row) for row in rows] == [in_utc(row) for row in expected]


def in_utc(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give times with their zone; those of Spark are of this machine's, and do not say so."""
    return tuple(each.astimezone(UTC) if isinstance(each, datetime) else each for each in row)


def test_the_page_says_which_recipes_are_for_duckdb_alone() -> None:
    assert RECIPES.keys() >= ONLY_DUCKDB
    for heading in RECIPES:
        assert ("::" in RECIPES[heading].query) <= (heading in ONLY_DUCKDB)
