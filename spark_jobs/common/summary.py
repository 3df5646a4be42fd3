"""What the jobs print at the end: plain text tables for people, the same as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kafkalog_source.cli.text import table

__all__ = ["print_json", "size_text", "table_text"]

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(size: int) -> str:
    """Give a number of bytes as people read it: ``1.5 MiB``."""
    amount = float(size)
    for unit in _UNITS:
        if amount < 1024 or unit == _UNITS[-1]:
            return f"{size} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError("the last unit takes any size")


def table_text(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Lay out rows under their heads: the first column to the left, numbers to the right.

    Parameters
    ----------
    heads : sequence of str
        One for each column.
    rows : sequence of sequences
        Values; a number is printed with thousands apart.

    Returns
    -------
    str
        Lines without a final newline.
    """
    cells = [[f"{value:,}" if isinstance(value, int) else str(value) for value in row] for row in rows]
    return "\n".join(table(heads, cells, frozenset(heads[1:])))


def print_json(value: object) -> None:
    """Print a summary for programs."""
    print(json.dumps(value, indent=2, default=str))
