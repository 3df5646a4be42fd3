"""The flags that commands share, most of them options of a read, and the layout of their help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from kafkalog_source.columns import VIEWS
from kafkalog_source.errors import OptionError, printable

__all__ = [
    "PATH",
    "Command",
    "Commands",
    "flag",
    "generic_option",
    "long_generic_option",
    "names_in",
    "offset_flags",
    "one_of",
    "paths_argument",
    "print_flags",
    "range_flags",
    "read_options",
    "threads_flag",
    "topic_flags",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

PATH = click.Path(readable=False)
"""Completed as a path. Whether it can be read is checked where it is opened, and reported as any error of a read."""
_TOPIC_FLAGS = (
    ("--subscribe", "subscribe", "TOPICS", "read these topics, separated by commas"),
    ("--subscribe-pattern", "subscribePattern", "REGEX", "read the topics whose whole name matches"),
    ("--assign", "assign", "JSON", 'read these partitions: {"orders":[0,1]}'),
)
_RANGE_FLAGS = (
    ("--starting-offsets", "startingOffsets", "WHERE", 'earliest, or {"orders":{"0":23,"1":-2}}'),
    ("--ending-offsets", "endingOffsets", "WHERE", 'latest, or {"orders":{"0":50,"1":-1}}; exclusive'),
    (
        "--starting-timestamp",
        "startingTimestamp",
        "TIME",
        "start at the first record of this time or later: 2026-11-20, 2026-11-20T14:30+01:00, yesterday, -2h, or "
        "milliseconds; in UTC without a zone",
    ),
    ("--ending-timestamp", "endingTimestamp", "TIME", "stop before the first record of this time or later"),
    ("--time-zone", "timeZone", "ZONE", "the zone of times without one, such as Europe/Berlin"),
    ("--isolation-level", "isolationLevel", "LEVEL", "read_uncommitted or read_committed"),
    ("--mode", "mode", "MODE", "what to do about damage: FAILFAST, DROPMALFORMED, PERMISSIVE or RECOVER"),
    (
        "--view",
        "view",
        "VIEW",
        "print something else than records: " + ", ".join(name for name in VIEWS if name != "records"),
    ),
)
_OFFSETS = ("startingOffsets", "endingOffsets", "startingTimestamp", "endingTimestamp", "timeZone")
_VALUES = {
    "isolationLevel": ("read_uncommitted", "read_committed"),
    "mode": ("FAILFAST", "DROPMALFORMED", "PERMISSIVE", "RECOVER"),
    "view": tuple(VIEWS),
}
"""What completion offers. The read checks the values, and names the allowed ones."""
_CONTROL_RECORDS = "includeControlRecords"
_PLACES = "places"
_FILTER_FLAGS = (
    ("--grep", "grep", "REGEX", "only records whose key, value or headers match"),
    ("--key", "key", "TERM", "only records with this key: text, hex:..., base64:..., or re:REGEX"),
    ("--value", "value", "TERM", "only records with this value, likewise"),
)
_SECTIONS = {
    **{name: "Topics and partitions" for _, name, _, _ in _TOPIC_FLAGS},
    _PLACES: "Topics and partitions",
    **{name: "Records" for _, name, _, _ in _RANGE_FLAGS},
    _CONTROL_RECORDS: "Records",
    **{name: "Filters" for _, name, _, _ in _FILTER_FLAGS},
    "headers": "Filters",
}


class _Laid(click.Command):
    """A command whose epilog is printed as it is laid out."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog without rewrapping its examples."""
        formatter.write(f"\n{self.epilog}")


class Command(_Laid):
    """A command whose help has a section for each group of flags."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the flags by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                sections.setdefault(_SECTIONS.get(param.name or "", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


class Commands(_Laid, click.Group):
    """A group that lists its commands in the order of their definition."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names as they were added."""
        return list(self.commands)


def flag(name: str, parameter: str, words: str) -> Callable[[_Function], _Function]:
    """Add a flag without a value, passed to the command as the named parameter."""
    return click.option(name, parameter, is_flag=True, help=words)


def paths_argument(command: _Function) -> _Function:
    """Add the paths, and the flag that follows links out of them."""
    command = flag("--follow-symlinks", "followSymlinks", "follow symbolic links that lead out of PATH")(command)
    return click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PATH)(command)


def topic_flags(command: _Function) -> _Function:
    """Add the flags that choose topics and partitions."""
    words = (
        "TOPIC or TOPIC:PARTITION; where records are read, also with a range of offsets or times, whose end is "
        "exclusive: orders:3@1200..1300, orders@yesterday.., orders:3@1200 (a record), orders@2026-11-20 (a day); "
        "may be repeated"
    )
    place = click.option("--place", _PLACES, metavar="PLACE", multiple=True, help=words)
    return _add(place(command), _TOPIC_FLAGS)


def range_flags(command: _Function) -> _Function:
    """Add the flags that choose records, and the one that adds control records."""
    words = "include control records, such as transaction markers"
    return _add(flag("--include-control-records", _CONTROL_RECORDS, words)(command), _RANGE_FLAGS)


def print_flags(*format_names: str) -> Callable[[_Function], _Function]:
    """Add the flags that choose what is printed of which records; a format is given with `format_names`."""

    def add(command: _Function) -> _Function:
        words = "only records with this header and value, which is a TERM too; or with NAME alone. May be repeated"
        command = click.option("--header", "headers", metavar="NAME=VALUE", multiple=True, help=words)(command)
        command = _add(command, _FILTER_FLAGS)
        command = click.option("--columns", metavar="NAMES", help="only these columns, separated by commas")(command)
        words = "print records in this format, with kcat's letters: %t %p %o %k %s %K %S %T %h"
        command = click.option(*format_names, "pattern", metavar="FORMAT", help=words)(command)
        return flag("--json", "as_json", "one JSON object for each line")(command)

    return add


threads_flag = click.option(
    "--threads", metavar="N", type=click.IntRange(1, 1024), help="number of threads; by default the number of cores"
)


def _generic(*names: str) -> Callable[[_Function], _Function]:
    words = "any option of a read, such as maxDecompressedBatchBytes=1g; may be repeated"
    return click.option(*names, "generic", metavar="NAME=VALUE", multiple=True, help=words)


generic_option = _generic("-o", "--option")
long_generic_option = _generic("--option")
"""For a command whose ``-o`` is its output."""


def names_in(text: str | None) -> list[str] | None:
    """The names in a list separated by commas, None if there is no list."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def one_of(*values: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Complete one of some values."""
    return lambda context, parameter, incomplete: [each for each in values if each.startswith(incomplete)]


def offset_flags(command: _Function) -> _Function:
    """Add the flags that choose records by offset or time."""
    return _add(command, tuple(each for each in _RANGE_FLAGS if each[1] in _OFFSETS))


def read_options(given: dict[str, Any]) -> dict[str, Any]:
    """Collect the options of a read from a command's parameters; the read itself checks their values.

    Raises
    ------
    OptionError
        If an ``-o`` is not ``name=value``, or an option is given twice.
    """
    flags = {name: value for name, value in given.items() if name != "generic"}
    options = {
        name: "true" if value is True else value for name, value in flags.items() if value not in (None, False, ())
    }
    for text in given.get("generic", ()):
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise OptionError("-o is not followed by name=value", found=printable(text))
        if any(name.strip().lower() == known.lower() for known in options):
            raise OptionError(f"option {printable(name.strip())} is given twice", remedy="Leave one of them out")
        options[name.strip()] = value
    return options


def _add(command: _Function, flags: tuple[tuple[str, str, str, str], ...]) -> _Function:
    """Add flags that take a value; decorators apply from the last to the first."""
    for name, parameter, metavar, words in reversed(flags):
        command = click.option(name, parameter, metavar=metavar, help=words, shell_complete=_values)(command)
    return command


def _values(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [value for value in _VALUES.get(param.name or "", ()) if value.lower().startswith(incomplete.lower())]
