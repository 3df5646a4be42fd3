"""Parses the values of options, given as text (by Spark) or as Python values.

Every parser takes the name of the option, for its message, and the value as given.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection

from kafkalog_source.errors import OptionError, did_you_mean, printable

__all__ = [
    "INT32_MAX",
    "INT64_MAX",
    "invalid",
    "one_of",
    "parse_bool",
    "parse_duration_ms",
    "parse_non_negative_size",
    "parse_positive_int32",
    "parse_positive_int64",
    "parse_positive_size",
    "shown",
    "whole_number",
]

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
_SHOWN_CHARACTERS = 80
# A longer digit string exceeds an int64, and very long ones are slow to convert.
_INT = re.compile(r"[-+]?[0-9]{1,30}")
_QUANTITY = re.compile(r"([0-9]{1,30})\s?([a-z]+)?")
_SIZE_UNITS = {"b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4, "p": 5, "pb": 5}
_DURATION_US = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}


def shown(value: object) -> str:
    """Render a value for a message: escaped, quoted if it is text, and truncated if it is long."""
    text = printable(value if isinstance(value, str) else repr(value))
    cut = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."
    return f"'{cut}'" if isinstance(value, str) else cut


def invalid(name: str, problem: str, value: object, expected: str, words: Collection[str] = ()) -> OptionError:
    """The error for a value that its option does not accept, which suggests the nearest of the words that it does."""
    remedy = did_you_mean(value, words) if isinstance(value, str) else None
    return OptionError(f"option {name} {problem}", found=shown(value), expected=expected, remedy=remedy)


def parse_bool(name: str, value: object) -> bool:
    """Parse ``true`` or ``false`` in any case."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise invalid(name, "is neither true nor false", value, "true or false")


def parse_int(name: str, value: object, low: int, high: int, expected: str) -> int:
    """Parse an integer between two inclusive bounds."""
    number = whole_number(value)
    if number is None:
        raise invalid(name, "is not an integer", value, expected)
    if not low <= number <= high:
        raise invalid(name, "is out of range", value, expected)
    return number


def whole_number(value: object) -> int | None:
    """Convert an integer, or its digits, into an int; None for anything else."""
    if isinstance(value, str):
        text = value.strip()
        return int(text) if _INT.fullmatch(text) else None
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def parse_positive_int32(name: str, value: object) -> int:
    """Parse an integer from 1 to 2^31-1, as Spark's ``minPartitions``."""
    return parse_int(name, value, 1, INT32_MAX, f"an integer from 1 to {INT32_MAX}")


def parse_positive_int64(name: str, value: object) -> int:
    """Parse an integer from 1 to 2^63-1, as Spark's ``maxRecordsPerPartition``."""
    return parse_int(name, value, 1, INT64_MAX, f"an integer from 1 to {INT64_MAX}")


def parse_positive_size(name: str, value: object) -> int:
    """Parse a size of at least one byte in Spark's notation (``128m``)."""
    return _parse_size(name, value, 1)


def parse_non_negative_size(name: str, value: object) -> int:
    """Parse a size that may be zero in Spark's notation (``4m``)."""
    return _parse_size(name, value, 0)


def _parse_size(name: str, value: object, low: int) -> int:
    expected = f"bytes as in 1048576, 512k, 128m or 1g, {low} or more"
    size: int | None = None
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value.strip().lower())
        if match is not None and (match[2] or "b") in _SIZE_UNITS:
            size = int(match[1]) << (10 * _SIZE_UNITS[match[2] or "b"])
    else:
        size = whole_number(value)
    if size is None:
        raise invalid(name, "is not a size", value, expected)
    if not low <= size <= INT64_MAX:
        raise invalid(name, "is out of range", value, expected)
    return size


def parse_duration_ms(name: str, value: object) -> int:
    """Parse a duration in Spark's notation (``15m``); a plain number is milliseconds."""
    expected = "a duration as in 500ms, 30s, 15m, 2h or 1d"
    duration_us: int | None = None
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value.strip().lower())
        if match is not None and (match[2] or "ms") in _DURATION_US:
            duration_us = int(match[1]) * _DURATION_US[match[2] or "ms"]
    else:
        number = whole_number(value)
        duration_us = None if number is None else number * 1_000
    if duration_us is None or not 0 <= duration_us // 1_000 <= INT64_MAX:
        raise invalid(name, "is not a duration", value, expected)
    return duration_us // 1_000


def one_of(*choices: str) -> Callable[[str, object], str]:
    """Make a parser that accepts one of some words in any case and returns its usual spelling."""
    spelled = {choice.lower(): choice for choice in choices}

    def parse(name: str, value: object) -> str:
        word = spelled.get(value.strip().lower()) if isinstance(value, str) else None
        if word is None:
            raise invalid(name, "has an unknown value", value, f"one of {', '.join(choices)}", choices)
        return word

    return parse
