"""The README is short, the site names every page, and no link of a page leads nowhere."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import DOCS, README, ROOT, Page

# `make docs` checks the links of the pages in docs/ as well; of these files nothing else does.
LINKED = (*DOCS, README, Page(ROOT / "tests" / "README.md"))
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def links_of(page: Page) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", _FENCED.sub("", page.text))


def anchors_of(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", _FENCED.sub("", file.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def pages_in(part: object) -> Iterator[str]:
    """Give the files that a part of the site's navigation names."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for inner in part.values():
            yield from pages_in(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from pages_in(inner)


def test_readme_is_short() -> None:
    assert len(README.text.splitlines()) <= 250


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Page) -> None:
    for link in links_of(page):
        if re.match(r"https?://", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.file.parent / name).resolve() if name else page.file
        assert target.is_file(), link
        assert not anchor or anchor in anchors_of(target), link


def test_site_names_every_page_once() -> None:
    nav = tomllib.loads((ROOT / ".zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    assert sorted(pages_in(nav)) == sorted(page.file.relative_to(ROOT / "docs").as_posix() for page in DOCS)


def test_the_table_of_contents_names_every_page() -> None:
    contents = next(page for page in DOCS if page.name == "docs/index.md")
    named = set(links_of(contents))
    pages = {page.file.relative_to(ROOT / "docs").as_posix() for page in DOCS}
    # The jobs have a table of their own.
    assert pages - named == {"index.md", *(name for name in pages if name.startswith("jobs/"))} - {"jobs/index.md"}


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_page_begins_with_a_heading_and_what_its_reader_wants(page: Page) -> None:
    assert re.match(r"# [^\n]+\n\nYou ", page.text)
