"""The paths that a user gives, literally or as a glob of ``*``, ``?`` and ``[…]``."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass

from kafkalog_source.errors import LogDirError, printable
from kafkalog_source.logdir.access import Root, entries

__all__ = ["GivenPath", "expand"]


@dataclass(frozen=True, slots=True)
class GivenPath:
    """One path to list.

    Attributes
    ----------
    path : str
        Absolute, not resolved: if it is a link, its own name may be that of a partition where the target's is not.
    root : Root
        The directory that symbolic links must not lead out of.
    pattern : str or None
        The last component of the glob that matched it; None if the path was given literally.
    """

    path: str
    root: Root
    pattern: str | None


def expand(path: str, follow_symlinks: bool) -> list[GivenPath]:
    """Expand a path or glob into the existing paths that it stands for, sorted.

    A path that exists is taken literally, even if it contains glob characters.
    """
    if not path or "\0" in path:
        raise LogDirError("a path is empty or contains a null character", found=repr(path))
    absolute = os.path.abspath(path)
    if os.path.lexists(absolute):
        return [GivenPath(absolute, Root(os.path.realpath(absolute), follow_symlinks), None)]
    if not glob.has_magic(path):
        raise _missing(path, absolute)
    fixed, parts = _split(absolute)
    if not os.path.isdir(fixed):
        raise _missing(path, fixed)
    root = Root(os.path.realpath(fixed), follow_symlinks)
    matches = sorted(_matches(fixed, parts, root))
    if not matches:
        raise LogDirError("no file or directory matches this glob", file=path, remedy=_PATH_REMEDY)
    return [GivenPath(match, root, parts[-1]) for match in matches]


_PATH_REMEDY = "Give a broker log dir, a topic-partition directory, a .log or .kafka segment, or a glob of these"


def _missing(given: str, missing: str) -> LogDirError:
    parent = os.path.dirname(missing)
    while not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    return LogDirError(
        "no such file or directory",
        file=given,
        found=f"{printable(parent)} as the last part of it that exists",
        remedy=_PATH_REMEDY,
    )


def _split(path: str) -> tuple[str, list[str]]:
    """Split a glob into the directory before its first component with a pattern, and the remaining components."""
    parts = path.split(os.sep)
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return os.sep.join(parts[:first]) or os.sep, parts[first:]


def _matches(directory: str, parts: list[str], root: Root) -> Iterator[str]:
    """Yield the paths that match, component by component.

    The standard library's glob silently skips directories that it may not read, which would lose their rows.
    """
    pattern, rest = parts[0], parts[1:]
    for name in _names(directory, pattern):
        path = os.path.join(directory, name)
        if not rest:
            yield path
        elif os.path.isdir(path):
            if os.path.islink(path):
                root.admit(path)
            yield from _matches(path, rest, root)


def _names(directory: str, pattern: str) -> list[str]:
    if not glob.has_magic(pattern):
        return [pattern] if os.path.lexists(os.path.join(directory, pattern)) else []
    hidden = pattern.startswith(".")
    found = (entry.name for entry in entries(directory))
    return [name for name in found if fnmatch.fnmatchcase(name, pattern) and name.startswith(".") <= hidden]
