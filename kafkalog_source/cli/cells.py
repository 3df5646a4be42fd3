"""The values of a row as text for people and as JSON for programs."""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from kafkalog_source.cli.text import json_line, quoted
from kafkalog_source.errors import printable

__all__ = ["NOT_TEXT", "as_text", "column_values", "iso_utc", "json_value", "text_value"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The Gregorian calendar repeats after 400 years, so that any year maps to one within the range of datetime.
_CYCLE_YEARS = 400
_CYCLE_US = 146_097 * 86_400 * 1_000_000
_US_PER_UNIT = {"s": 1_000_000, "ms": 1_000, "us": 1}
NOT_TEXT = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
"""Control characters other than tab and line ends: bytes that contain one are binary data, not text."""
_NOT_TEXT = re.compile(NOT_TEXT)
_PLAIN_NAME = re.compile(r"[\w.:-]+")


def column_values(column: pa.Array) -> list[object]:
    """Return a column's values as Python objects, timestamps as ISO 8601 text in UTC."""
    if not pa.types.is_timestamp(column.type):
        values: list[object] = column.to_pylist()
        return values
    to_us = _US_PER_UNIT[column.type.unit]
    times = column.cast(pa.int64()).to_pylist()
    return [None if time is None else iso_utc(time * to_us) for time in times]


def iso_utc(timestamp_us: int) -> str:
    """Format a timestamp as ISO 8601 in UTC, with milliseconds, or microseconds if it has any.

    Every 64-bit value has a text. Years before 0 or after 9999 carry a sign, as ISO 8601 requires.
    """
    # Mapped to the years 2000 to 2399.
    since_2000 = timestamp_us - 946_684_800_000_000
    cycles, rest = divmod(since_2000, _CYCLE_US)
    near = _EPOCH + timedelta(microseconds=946_684_800_000_000 + rest)
    year = near.year + cycles * _CYCLE_YEARS
    written = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}"
    precision = "milliseconds" if near.microsecond % 1000 == 0 else "microseconds"
    return written + near.replace(tzinfo=None).isoformat(timespec=precision)[4:] + "Z"


def json_value(value: object) -> object:
    """Convert a value for JSON: bytes to text, or to ``{"base64": "…"}`` if they are not text."""
    if isinstance(value, bytes):
        text = as_text(value)
        return {"base64": base64.b64encode(value).decode("ascii")} if text is None else text
    if isinstance(value, list):
        return [json_value(part) for part in value]
    if isinstance(value, dict):
        return {name: json_value(part) for name, part in value.items()}
    return value


def text_value(value: object) -> str:
    """Format a value as text: bytes in quotes, or as ``base64:…`` if they are not text; a struct as JSON."""
    if isinstance(value, bytes):
        text = as_text(value)
        return "base64:" + base64.b64encode(value).decode("ascii") if text is None else quoted(text)
    if isinstance(value, list):
        return "[" + ", ".join(_list_part(part) for part in value) + "]"
    if isinstance(value, dict):
        return json_line(json_value(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else printable(str(value))


def _list_part(part: object) -> str:
    """Format one element of a list; a record header as ``name=value``."""
    if isinstance(part, dict) and part.keys() == {"key", "value"}:
        return f"{_header_name(part['key'])}={text_value(part['value'])}"
    return text_value(part)


def _header_name(name: object) -> str:
    text = str(name)
    return text if _PLAIN_NAME.fullmatch(text) and text.isprintable() else quoted(text)


def as_text(value: bytes) -> str | None:
    """Decode bytes, None if they are not UTF-8 or contain control characters."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if _NOT_TEXT.search(text) else text
