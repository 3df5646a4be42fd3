"""Java properties files, as ``Properties.load`` of Java 17 reads them: ``meta.properties`` is one."""

from __future__ import annotations

import re

__all__ = ["parse_properties"]

_END_OF_LINE = re.compile(r"\r\n|\r|\n")
_KEY = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BLANKS = " \t\f"


def parse_properties(data: bytes) -> dict[str, str]:
    r"""The properties in a file's content; a later one of the same name wins.

    Parameters
    ----------
    data : bytes
        Latin-1 text, with other characters as ``\uXXXX``.
    """
    found = {}
    for line in _logical_lines(data.decode("latin-1")):
        match = _KEY.fullmatch(line)
        if match is not None:
            found[_unescaped(match[1])] = _unescaped(match[2])
    return found


def _logical_lines(text: str) -> list[str]:
    """The lines that are no comment, each joined with those that continue it."""
    lines: list[str] = []
    goes_on = False
    for raw in _END_OF_LINE.split(text):
        line = raw.lstrip(_BLANKS)
        if not goes_on and (not line or line[0] in "#!"):
            continue
        continues = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        part = line[:-1] if continues else line
        if goes_on:
            lines[-1] += part
        else:
            lines.append(part)
        goes_on = continues
    return lines


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    escaped = match[1]
    if len(escaped) == 5:
        return chr(int(escaped[1:], 16))
    return _CONTROL.get(escaped, escaped)
