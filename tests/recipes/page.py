"""The queries of docs/recipes.md, to be asked about other logs than those of the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import duckdb

from tests.docs.blocks import ROOT, Page

PAGE = Page(ROOT / "docs" / "recipes.md")
_QUERY = re.compile(r'duckdb\.sql\("""(.*?)"""\)', re.DOTALL)


@dataclass(frozen=True)
class Recipe:
    """A block of the page that asks a question.

    Attributes
    ----------
    heading : str
        The heading of its section; with a number from the second one of a section on.
    code : str
        The whole block.
    query : str
        Its SQL.
    """

    heading: str
    code: str
    query: str

    def ask(self, **views: Any) -> list[tuple[Any, ...]]:
        """Give the rows of the answer. The views are Arrow tables or scans, under the names of the query."""
        connection = duckdb.connect()
        connection.execute("SET TimeZone = 'UTC'")
        for name, view in views.items():
            connection.register(name, view)
        return connection.execute(self.query).fetchall()

    def about(self, **replaced: str) -> Recipe:
        """Give the recipe with other literals: each name is replaced, as a reader would, by its value."""
        query = self.query
        for old, new in replaced.items():
            assert old in query
            query = query.replace(old, new)
        return Recipe(self.heading, self.code, query)


def _recipes() -> dict[str, Recipe]:
    found: dict[str, Recipe] = {}
    for block in PAGE.blocks("python"):
        query = _QUERY.search(block.code)
        if query is None:
            continue
        heading = re.findall(r"^## (.*)$", "\n".join(PAGE.text.splitlines()[: block.line]), re.MULTILINE)[-1]
        count = sum(each.heading.startswith(heading) for each in found.values())
        heading += f" {count + 1}" if count else ""
        found[heading] = Recipe(heading, block.code, query[1])
    return found


RECIPES = _recipes()
