"""Prints what the times of a command line mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalog_source.cli.text import complain

__all__ = ["show_times"]


def show_times(given: Mapping[str, Any], times: Mapping[str, str]) -> None:
    """Print on standard error, in UTC, each time that was given by a word or as ISO 8601.

    Parameters
    ----------
    given : mapping
        Options as the user gave them.
    times : mapping
        Times in UTC by option, as ``Scan.times``.
    """
    # A program that gives milliseconds knows what they mean.
    milliseconds = {name.lower() for name, value in given.items() if isinstance(value, str) and value.strip().isdigit()}
    for option, time in times.items():
        if option.lower() not in milliseconds:
            complain(f"{option}={time}")
