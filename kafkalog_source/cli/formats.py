"""A line in the format of the user, with the letters of kcat."""

from __future__ import annotations

import re

from kafkalog_source.cli.layouts import Cell, Layout
from kafkalog_source.errors import OptionError, printable

__all__ = ["format_columns", "format_layout"]

_LETTERS = {
    "t": ("topic", "raw", b""),
    "p": ("partition", "int32", b"-1"),
    "o": ("offset", "int64", b"-1"),
    "k": ("key", "raw", b""),
    "s": ("value", "raw", b""),
    "K": ("keySize", "int32", b"-1"),
    "S": ("valueSize", "int32", b"-1"),
    "T": ("timestamp", "milliseconds", b"-1"),
    "h": ("headers", "csv_headers", b""),
}
"""The column of a letter, how it is written, and what stands for null."""
_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}
_PART = re.compile(r"%(?P<letter>.?)|\\x(?P<hex>[0-9a-fA-F]{2})|\\(?P<escape>.?)|(?P<text>[^%\\]+)", re.DOTALL)


def format_layout(pattern: str) -> Layout:
    r"""Compile a format.

    Parameters
    ----------
    pattern : str
        ``%t %p %o %k %s %K %S %T %h``, ``%%``, the escapes ``\n \r \t \\ \xXX``, and anything else as it is.

    Returns
    -------
    Layout
        It writes keys, values and headers byte for byte, and nothing after a record.

    Raises
    ------
    OptionError
        If a letter or an escape has no meaning.
    """
    return Layout(_cells(pattern))


def format_columns(pattern: str) -> list[str]:
    """The columns that a format needs."""
    return list(dict.fromkeys(cell.column for cell in _cells(pattern) if cell.column is not None)) or ["offset"]


def _cells(pattern: str) -> list[Cell]:
    cells: list[Cell] = []
    before = b""
    for part in _PART.finditer(pattern):
        letter = part["letter"]
        if letter in _LETTERS:
            column, kind, null = _LETTERS[letter]
            cells.append(Cell(column, kind, before, null, joined=False))
            before = b""
        else:
            before += _literal(part)
    return [*cells, Cell(None, "literal", before, joined=False)] if before else cells


def _literal(part: re.Match[str]) -> bytes:
    if part["text"] is not None:
        return part["text"].encode("utf-8", "surrogateescape")
    if part["hex"] is not None:
        return bytes.fromhex(part["hex"])
    if part["letter"] == "%":
        return b"%"
    if part["escape"] in _ESCAPES:
        return _ESCAPES[part["escape"]]
    raise OptionError(
        "-f has a letter without a meaning",
        found=printable(part[0]),
        expected=" ".join(f"%{letter}" for letter in _LETTERS) + r" %% \n \r \t \\ \xXX",
    )
