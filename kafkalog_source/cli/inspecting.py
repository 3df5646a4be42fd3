"""The options of commands that take whole partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkalog_source.errors import OptionError, did_you_mean, printable
from kafkalog_source.options.read_options import ReadOptions, parse_options
from kafkalog_source.planning.missing_topics import check_named

__all__ = ["inspecting_options", "refuse_ranges"]

_ALLOWED = ("subscribe", "subscribePattern", "assign", "places", "followSymlinks", "maxDecompressedBatchBytes")


def inspecting_options(given: Mapping[str, Any], paths: Sequence[str], command: str) -> ReadOptions:
    """Parse the options of a command that takes whole partitions, and check that those that are named exist.

    Raises
    ------
    OptionError
        Also for options of a read that do not apply to the command.
    LogDirError
    """
    allowed = [name.lower() for name in _ALLOWED]
    for name in given:
        if name.lower() not in allowed:
            raise OptionError(
                f"option {printable(name)} does not apply to {command}",
                expected=", ".join(_ALLOWED),
                remedy=did_you_mean(name, _ALLOWED),
            )
    options = parse_options(given, paths)
    refuse_ranges(options, command)
    check_named(options)
    return options


def refuse_ranges(options: ReadOptions, command: str) -> None:
    """Refuse places with a range for a command that takes whole partitions."""
    if not all(place.is_whole for place in options.places or ()):
        raise OptionError(
            f"{command} takes whole partitions, and no range of a place",
            remedy="Give topics and partitions only, as in orders or orders:3",
        )
