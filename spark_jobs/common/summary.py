"""What the jobs print at the end: plain text tables for people, the same as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

__all__ = ["print_json", "size_text", "table_text"]

_WIDEST = 64
"""The widest that a column gets. A topic name can have 249 characters; its row overflows, and widens no other."""
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(size: int) -> str:
    """Format a number of bytes: ``1.5 MiB``."""
    amount = float(size)
    for unit in _UNITS:
        if amount < 1024 or unit == _UNITS[-1]:
            return f"{size} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError("the last unit takes any size")


def table_text(heads: Sequence[str], rows: Sequence[Sequence[object]], right: Collection[str] | None = None) -> str:
    """Align rows under their heads.

    Parameters
    ----------
    heads : sequence of str
        One for each column.
    rows : sequence of sequences
        Values; numbers are printed with thousands separators.
    right : collection of str, optional
        Heads of the right-aligned columns; by default all but the first.

    Returns
    -------
    str
        Lines, without a final newline.
    """
    cells = [list(heads), *([f"{value:,}" if isinstance(value, int) else str(value) for value in row] for row in rows)]
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*cells, strict=True)]
    right = heads[1:] if right is None else right
    align = [str.rjust if head in right else str.ljust for head in heads]
    lines = ([put(cell, width) for put, cell, width in zip(align, row, widths, strict=True)] for row in cells)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def print_json(value: object) -> None:
    """Print a summary for programs."""
    print(json.dumps(value, indent=2, default=str))
