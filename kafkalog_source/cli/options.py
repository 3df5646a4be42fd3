"""Flags of the command line that are options of a read."""

from __future__ import annotations

import argparse
from typing import Any

from kafkalog_source.errors import OptionError, printable

__all__ = [
    "add_generic_option",
    "add_path_arguments",
    "add_range_flags",
    "add_threads_flag",
    "add_topic_flags",
    "read_options",
]

_TOPIC_FLAGS = (
    ("--subscribe", "subscribe", "TOPICS", "read these topics, with commas between them"),
    ("--subscribe-pattern", "subscribePattern", "REGEX", "read the topics whose whole name this matches"),
    ("--assign", "assign", "JSON", 'read these partitions: {"orders":[0,1]}'),
)
_RANGE_FLAGS = (
    ("--starting-offsets", "startingOffsets", "WHERE", 'earliest, or {"orders":{"0":23,"1":-2}}'),
    ("--ending-offsets", "endingOffsets", "WHERE", 'latest, or {"orders":{"0":50,"1":-1}}; not included'),
    ("--starting-timestamp", "startingTimestamp", "MS", "from the first record of this time on, in ms"),
    ("--ending-timestamp", "endingTimestamp", "MS", "up to the first record of this time, in ms"),
    ("--isolation-level", "isolationLevel", "LEVEL", "read_uncommitted or read_committed"),
    ("--mode", "mode", "MODE", "what to do with damage: FAILFAST, DROPMALFORMED, PERMISSIVE or RECOVER"),
    ("--view", "view", "VIEW", "records, or a line for each of the batches or for each damaged region (damage)"),
)


def add_path_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paths, and whether links may lead out of them."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="log dir, partition directory, segment or glob")
    parser.add_argument(
        "--follow-symlinks",
        dest="followSymlinks",
        action="store_const",
        const="true",
        help="follow symbolic links that lead out of PATH",
    )


def add_topic_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that choose topics and partitions."""
    _add(parser, "what to read", _TOPIC_FLAGS)


def add_range_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that choose records, and the one that turns markers into rows."""
    group = _add(parser, "which records", _RANGE_FLAGS)
    group.add_argument(
        "--include-control-records",
        dest="includeControlRecords",
        action="store_const",
        const="true",
        help="show transaction markers and the like as records",
    )


def add_threads_flag(parser: argparse.ArgumentParser) -> None:
    """Add the number of threads."""
    parser.add_argument(
        "--threads", metavar="N", type=_threads, help="threads that work; by default as many as there are cores"
    )


def _threads(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 1024):
        raise argparse.ArgumentTypeError("is no number of threads")
    return int(text)


def add_generic_option(parser: argparse.ArgumentParser) -> None:
    """Add ``-o name=value``, for any option of a read."""
    parser.add_argument(
        "-o",
        "--option",
        dest="generic",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="any option of a read, such as maxDecompressedBatchBytes=1g; may be given several times",
    )


def read_options(chosen: argparse.Namespace) -> dict[str, Any]:
    """Gather the options of a read from the flags; their values are checked by the read itself."""
    names = [name for _, name, _, _ in (*_TOPIC_FLAGS, *_RANGE_FLAGS)]
    names += ["followSymlinks", "includeControlRecords"]
    flags = {name: getattr(chosen, name, None) for name in names}
    options = {name: value for name, value in flags.items() if value is not None}
    for text in getattr(chosen, "generic", []):
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise OptionError("-o is not followed by name=value", found=printable(text))
        if any(name.strip().lower() == known.lower() for known in options):
            raise OptionError(f"option {printable(name.strip())} is given twice", remedy="Leave one of them out")
        options[name.strip()] = value
    return options


def _add(
    parser: argparse.ArgumentParser, title: str, flags: tuple[tuple[str, str, str, str], ...]
) -> argparse._ArgumentGroup:
    group = parser.add_argument_group(title)
    for flag, name, metavar, words in flags:
        group.add_argument(flag, dest=name, metavar=metavar, help=words)
    return group
