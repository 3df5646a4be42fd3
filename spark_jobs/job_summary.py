"""What the jobs print at the end: plain text tables for people, the same as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["size_text", "table_text"]

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
    widths = [max(len(line[column]) for line in [list(heads), *cells]) for column in range(len(heads))]
    return "\n".join(_line(line, widths) for line in [list(heads), *cells])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if index else cell.ljust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()
