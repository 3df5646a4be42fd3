"""Text for terminals and programs: nothing in it that a terminal would act upon."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

from kafkalog_source.errors import printable

__all__ = ["complain", "json_line", "one_line", "quoted", "table"]


_WIDEST = 64
"""A topic's name may have 249 characters; such a row sticks out and leaves the others as they are."""


def one_line(text: str) -> str:
    """Bring a message into one line, with control characters escaped."""
    return printable(" ".join(text.split("\n")))


def complain(message: str) -> None:
    """Say something on the standard error stream, in one line."""
    print(f"kafkalog: {one_line(message)}", file=sys.stderr)


def json_line(value: object) -> str:
    """Write a value as JSON in one line, readable but for what a terminal would act upon."""
    return _escaped(json.dumps(value, ensure_ascii=False))


def quoted(text: str) -> str:
    """Put text into double quotes, escaped as in JSON."""
    return json_line(text)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], right: frozenset[str]) -> Iterator[str]:
    """Lay rows out under heads; the columns whose heads are in `right` are flush right."""
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    widths = [min(max(len(row[column]) for row in cells), _WIDEST) for column in range(len(heads))]
    for row in cells:
        padded = (
            cell.rjust(width) if head in right else cell.ljust(width)
            for head, cell, width in zip(heads, row, widths, strict=True)
        )
        yield "  ".join(padded).rstrip()


def _escaped(text: str) -> str:
    """Escape as JSON does; outside its strings JSON has no character that needs it."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _code_units(c) for c in text)


def _code_units(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))
