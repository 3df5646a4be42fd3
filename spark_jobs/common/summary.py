"""What the jobs print at the end: plain text tables for people, the same as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from kafkalog_source.errors import size_text

__all__ = ["print_json", "size_text", "table_text"]

_WIDEST = 64
"""The widest that a column gets. A topic name can have 249 characters; its row overflows, and widens no other."""


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
