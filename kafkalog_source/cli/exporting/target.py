"""The target of an export: a file, a directory with a file for each topic, or standard output."""

from __future__ import annotations

import os
from dataclasses import dataclass

from kafkalog_source.errors import KafkaLogError, OptionError, printable
from kafkalog_source.logdir.access import is_within
from kafkalog_source.logdir.globs import expand

__all__ = ["FORMATS", "Target", "check_outside", "parse_target"]

FORMATS = ("parquet", "csv", "jsonl", "arrow")
_STDOUT = "-"
_SUFFIXES = ", ".join(f".{name}" for name in FORMATS)


@dataclass(frozen=True, slots=True)
class Target:
    """Where to write, and in which format.

    Attributes
    ----------
    path : str or None
        Resolved; None for standard output.
    format : str
        One of `FORMATS`.
    is_directory : bool
        Whether it is a directory with a file for each topic.
    """

    path: str | None
    format: str
    is_directory: bool = False


def parse_target(out: str, given: str | None) -> Target:
    """Determine the target from the text of ``-o`` and the format that is given, if any.

    Raises
    ------
    OptionError
        If the format is unknown, or the path is neither that of a file nor of a new or empty directory.
    """
    if given is not None and given not in FORMATS:
        raise OptionError("--format is unknown", found=printable(given), expected=", ".join(FORMATS))
    if out == _STDOUT:
        return Target(None, given or "jsonl")
    path = os.path.realpath(out)
    if out.endswith(os.sep) or os.path.isdir(path):
        _check_directory(path)
        return Target(path, given or "parquet", is_directory=True)
    if os.path.lexists(path) and not os.path.isfile(path):
        raise OptionError("-o is not a file", found=printable(out), remedy="Use -o - for standard output")
    suffix = os.path.splitext(out)[1].lower().removeprefix(".")
    if given is None and suffix not in FORMATS:
        raise OptionError(
            "-o shows no format that can be written",
            found=printable(out),
            expected=f"a file name that ends in {_SUFFIXES}; DIR/ for a file for each topic; or - for standard output",
            remedy="Give --format for any other name; options of the read are given by --option NAME=VALUE here",
        )
    return Target(path, given or suffix)


def check_outside(target: Target, paths: tuple[str, ...], *, follow_symlinks: bool) -> None:
    """Refuse to write to what is read.

    Raises
    ------
    OptionError
    """
    if target.path is None:
        return
    for each in (found for path in paths for found in _existing(path, follow_symlinks)):
        if is_within(target.path, each) or (target.is_directory and is_within(each, target.path)):
            raise OptionError(
                "-o is inside of what is read",
                found=printable(target.path),
                expected=f"a path outside of {printable(each)}, to which nothing is ever written",
            )


def _existing(path: str, follow_symlinks: bool) -> list[str]:
    try:
        return [os.path.realpath(each.path) for each in expand(path, follow_symlinks)]
    except KafkaLogError:
        # The read reports it.
        return []


def _check_directory(path: str) -> None:
    if os.path.isdir(path) and os.listdir(path):
        raise OptionError(
            "-o is a directory that is not empty",
            found=printable(path),
            expected="a new or an empty directory, which gets a file for each topic",
        )
