"""File system access that stays within the given paths and never blocks.

Every failure of the operating system becomes a `LogDirError` with the path and
a remedy. No file is opened here, so that a FIFO cannot block.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from kafkalog_source.errors import LogDirError, PermissionDeniedError, kind_of, printable

__all__ = ["Root", "check_readable", "entries", "file_kind", "files", "is_within", "os_error", "status"]

_READABLE_BY_ALL = stat.S_IROTH

_KINDS = (
    (stat.S_ISREG, "a regular file"),
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)


def file_kind(mode: int) -> str:
    """The kind of file that a ``st_mode`` stands for, with its article."""
    return next((words for test, words in _KINDS if test(mode)), "not a regular file")


def os_error(path: str, error: OSError) -> LogDirError:
    """Convert a failure of the operating system into an error with a remedy."""
    if isinstance(error, PermissionError):
        return PermissionDeniedError(
            "permission denied",
            file=path,
            remedy="Read as the user that the broker runs as, or grant read permission on that path",
        )
    if isinstance(error, FileNotFoundError):
        return LogDirError(
            "no such file or directory",
            file=path,
            remedy="Check the path. A running broker renames and deletes files: read a snapshot of its disk",
        )
    return kind_of(error)(f"cannot be read: {error.strerror or error}", file=path)


def status(path: str) -> os.stat_result:
    """``stat`` a path, following links."""
    try:
        return os.stat(path)
    except OSError as error:
        raise os_error(path, error) from error


def entries(path: str) -> Iterator[os.DirEntry[str]]:
    """Yield a directory's entries in no particular order."""
    try:
        with os.scandir(path) as found:
            yield from found
    except OSError as error:
        raise os_error(path, error) from error


def files(path: str) -> list[os.DirEntry[str]]:
    """The regular files in a directory, and links to some, by name."""
    try:
        return sorted((entry for entry in entries(path) if entry.is_file()), key=lambda entry: entry.name)
    except OSError as error:
        raise os_error(path, error) from error


def check_readable(path: str, mode: int) -> None:
    """Raise if this process may not read the file; costs a system call only for restrictive modes."""
    if not mode & _READABLE_BY_ALL and not os.access(path, os.R_OK):
        raise os_error(path, PermissionError())


def is_within(path: str, directory: str) -> bool:
    """Whether a resolved path is a resolved directory or is inside it."""
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


@dataclass(frozen=True, slots=True)
class Root:
    """A path given by the user, resolved, and whether links may lead out of it."""

    real: str
    follow_symlinks: bool

    def admit(self, path: str) -> None:
        """Raise for a symbolic link that leads out of this root or is broken.

        Such a link is not skipped, since its rows would be lost silently.
        """
        target = os.path.realpath(path)
        if not self.follow_symlinks and not is_within(target, self.real):
            raise LogDirError(
                f"is a symbolic link that leads out of {printable(self.real)}",
                file=path,
                found=printable(target),
                remedy="Set followSymlinks=true if you trust the link, or give its target as a path",
            )
        if not os.path.exists(target):
            raise LogDirError(
                "is a symbolic link to something that does not exist",
                file=path,
                found=printable(target),
                remedy="Restore the target or remove the link",
            )
