"""Text output. Control characters are escaped, so that no name or value controls the terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

import click

from kafkalog_source.errors import printable

__all__ = ["complain", "is_coloured", "json_line", "one_line", "painted", "quoted", "table"]


_WIDEST = 64
"""The widest that a column gets. A topic name can have 249 characters; its row overflows, and widens no other."""


def one_line(text: str) -> str:
    """Join a message into one line, with control characters escaped."""
    return printable(" ".join(text.split("\n")))


def complain(message: str) -> None:
    """Print a message to standard error, as one line: a warning in yellow, an error in red, on a terminal."""
    colour = "yellow" if message.startswith("warning: ") else "red"
    print(painted(f"kafkalog: {one_line(message)}", colour, sys.stderr), file=sys.stderr)


def is_coloured(out: TextIO) -> bool:
    """Whether output is shown in colours: on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str, colour: str, out: TextIO) -> str:
    """Give text a colour if `out` shows colours."""
    return click.style(text, fg=colour) if is_coloured(out) else text


def json_line(value: object) -> str:
    """Encode a value as one line of JSON; of non-ASCII characters only those that are not printable are escaped."""
    return _escaped(json.dumps(value, ensure_ascii=False))


def quoted(text: str) -> str:
    """Quote text as a JSON string."""
    return json_line(text)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], right: frozenset[str]) -> Iterator[str]:
    """Align rows under heads; columns whose heads are in `right` are right-aligned."""
    cells = [list(heads), *([str(cell) for cell in row] for row in rows)]
    widths = [min(max(len(row[column]) for row in cells), _WIDEST) for column in range(len(heads))]
    for row in cells:
        padded = (
            cell.rjust(width) if head in right else cell.ljust(width)
            for head, cell, width in zip(heads, row, widths, strict=True)
        )
        yield "  ".join(padded).rstrip()


def _escaped(text: str) -> str:
    """Escape as in a JSON string; outside of strings, JSON has no character that needs it."""
    return text if text.isprintable() else "".join(c if c.isprintable() else _code_units(c) for c in text)


def _code_units(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))
