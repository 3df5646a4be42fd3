"""The settings of the lag history that are times and intervals."""

from __future__ import annotations

import re
from collections.abc import Callable

from kafkalog_source.errors import OptionError
from spark_jobs.common.config import ConfigError

__all__ = ["parse_interval", "parse_time"]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_INTERVAL = re.compile(r"([0-9]{1,9})([smhd])")


def parse_interval(text: str) -> int | None:
    """Convert the setting `every` into seconds; None for ``commit``.

    Raises
    ------
    ConfigError
        If it is neither.
    """
    if text == "commit":
        return None
    found = _INTERVAL.fullmatch(text)
    seconds = 0 if found is None else int(found[1]) * _UNITS[found[2]]
    if seconds == 0:
        raise ConfigError(f"every {text!r} is neither commit nor an interval such as 30s, 5m, 1h or 1d")
    return seconds


def parse_time(name: str, text: str, milliseconds: Callable[[str], int]) -> int | None:
    """Convert a time into milliseconds since 1970 by the given function; None if it is empty.

    Raises
    ------
    ConfigError
        If it is not a time.
    """
    if not text:
        return None
    try:
        return milliseconds(text)
    except OptionError as error:
        raise ConfigError(f"{name}: {error}") from error
