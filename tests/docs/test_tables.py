"""The tables of the pages name every column and option, and say which are not built yet."""

from __future__ import annotations

import re

import pytest

from kafkalog_source import OptionError, scan
from kafkalog_source.arrow.schema import COLUMN_TYPES, VIEW_TYPES
from kafkalog_source.options.read_options import OPTION_NAMES, parse_options
from tests.docs.blocks import README, ROOT, Page

NOT_YET = "not supported yet"


def rows_of(page: Page) -> dict[str, str]:
    """Give the lines of a page's tables by the names in their first column."""
    lines = [line for line in page.text.splitlines() if line.startswith("| `")]
    return {name: line for line in lines for name in re.findall(r"`([^`]+)`", line.split("|")[1])}


OPTIONS = rows_of(Page(ROOT / "docs" / "options.md"))
COLUMNS = rows_of(Page(ROOT / "docs" / "columns.md"))
VIEWS = rows_of(Page(ROOT / "docs" / "views.md"))


def is_built(name: str, value: str) -> bool:
    """Whether an option's value is accepted; what is not built is refused in the words of the page."""
    try:
        parse_options({name: value}, "/logs")
    except OptionError as error:
        assert NOT_YET in str(error)
        return False
    return True


@pytest.mark.parametrize("name", COLUMN_TYPES)
def test_column_is_told_and_whether_it_is_built(name: str) -> None:
    try:
        scan("/logs", columns=[name])
        built = True
    except OptionError:
        built = False
    assert built != (NOT_YET in COLUMNS[name])


@pytest.mark.parametrize(
    "name", sorted({name for view, names in VIEW_TYPES.items() if view != "records" for name in names})
)
def test_column_of_a_view_is_told(name: str) -> None:
    assert name in VIEWS


# A value of each option that is not its default.
VALUES = {
    "isolationLevel": ["read_committed"],
    "readUpTo": ["highWatermark"],
    "includeDeleted": ["true"],
    "mode": ["DROPMALFORMED", "PERMISSIVE", "RECOVER"],
    "view": [view for view in VIEW_TYPES if view != "records"],
    "includeSecrets": ["true"],
    "filterPushdown": ["true"],
    "maxOffsetsPerTrigger": ["10"],
    "maxBytesPerTrigger": ["10"],
    "minOffsetsPerTrigger": ["10"],
    "maxTriggerDelay": ["1m"],
}


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_option_is_told_and_whether_it_is_built(name: str) -> None:
    built = [is_built(name, value) for value in VALUES.get(name, [])]
    assert all(built) != (NOT_YET in OPTIONS[name])


def test_the_readme_shows_ten_options_with_their_defaults() -> None:
    shown = {name: line for name, line in rows_of(README).items() if name in OPTION_NAMES}
    defaults = {name: line.split("|")[2] for name, line in shown.items()}
    assert len(set(shown.values())) == 10
    assert defaults == {name: OPTIONS[name].split("|")[2] for name in shown}


def test_the_readme_shows_figures_of_the_benchmark() -> None:
    pattern = re.compile(r"^\| (v\d-\w+-\d+) \|(.*)\|$", re.MULTILINE)
    full = {
        name: [cell.strip() for cell in cells.split("|")]
        for name, cells in pattern.findall((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"))
    }
    shown = {name: [cell.strip() for cell in cells.split("|")] for name, cells in pattern.findall(README.text)}
    assert shown
    for name, cells in shown.items():
        assert cells == [cell for at, cell in enumerate(full[name]) if at != 1]
