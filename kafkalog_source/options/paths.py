"""Parses the paths to read: one, a comma-separated list, Spark's JSON array or a Python list; also ``file:`` URIs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from urllib.parse import unquote

from kafkalog_source.errors import OptionError
from kafkalog_source.options.values import invalid

__all__ = ["parse_path_option", "parse_paths_option", "paths_from_python"]

# One letter before the colon would be a Windows drive, so a scheme has at least two.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
# file:/x, file:///x and file://localhost/x; but file://other/x is on another machine.
_FILE_URI = re.compile(r"file:(?:/|///+|//localhost/+)(?!/)(.*)", re.IGNORECASE | re.DOTALL)
_EXPECTED = "a log directory, a topic-partition directory or a segment"


def parse_path_option(name: str, value: object) -> tuple[str, ...]:
    """Parse the option ``path``: one path, or several separated by commas."""
    if not isinstance(value, str):
        return paths_from_python(value, name)
    if not value.strip():
        raise invalid(name, "is empty", value, _EXPECTED)
    return tuple(_local(name, part) for part in _split_at_commas(value))


def parse_paths_option(name: str, value: object) -> tuple[str, ...]:
    """Parse the option ``paths``, which Spark sets for ``load([a, b])``: a JSON array of strings."""
    if not isinstance(value, str):
        return paths_from_python(value, name)
    try:
        parts = json.loads(value)
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise OptionError(f"option {name} is not a JSON array of paths", expected='["/first","/second"]')
    return paths_from_python(parts, name)


def paths_from_python(value: object, name: str = "path") -> tuple[str, ...]:
    """Parse one path or several, as strings or path objects; in a list a comma is part of a name."""
    if isinstance(value, str):
        return parse_path_option(name, value)
    if isinstance(value, os.PathLike):
        value = [value]
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise invalid(name, "is not a path", value, _EXPECTED)
    return tuple(_local(name, _text(name, part)) for part in value)


def _text(name: str, part: object) -> str:
    text = os.fspath(part) if isinstance(part, os.PathLike) else part
    if not isinstance(text, str) or not text.strip():
        raise invalid(name, "contains a value that is not a path", part, _EXPECTED)
    return text


def _split_at_commas(text: str) -> list[str]:
    """Split at commas outside brackets, unless the whole text is a file that exists."""
    if "," not in text or ("\0" not in text and os.path.exists(_without_file_scheme(text))):
        return [text]
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth:
        parts = text.split(",")
    return [part.strip() for part in parts if part.strip()]


def _local(name: str, text: str) -> str:
    """Convert a ``file:`` URI into a path. Errors do not show the URI, which may contain a password."""
    if "\0" in text:
        raise OptionError(f"option {name} contains a null character", expected=_EXPECTED)
    path = _without_file_scheme(text)
    scheme = _SCHEME.match(path)
    if scheme is None:
        return path
    if scheme[1].lower() == "file":
        raise OptionError(f"option {name} has a file URI that names another machine", expected="file:///path")
    raise OptionError(
        f"option {name} has the scheme {scheme[1].lower()}: object stores are not supported yet",
        remedy="Give a path of a local or mounted file system",
    )


def _without_file_scheme(text: str) -> str:
    match = _FILE_URI.fullmatch(text)
    if match is None:
        return text
    path = "/" + match[1]
    # Spark takes a percent sign literally, while Python's Path.as_uri() encodes: use the path that exists.
    if "%" in path and not os.path.exists(path) and os.path.exists(unquote(path)):
        return unquote(path)
    return path
