"""Files and directories that are on disk when they are done."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kafkalog_source.errors import LogDirError


@contextmanager
def new_file(path: str) -> Iterator[int]:
    """Make a file that was not there; yields its descriptor, and has it written to disk at the end."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        yield descriptor
        os.fsync(descriptor)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        os.close(descriptor)


def write_file(path: str, content: bytes) -> None:
    """Make a small file."""
    with new_file(path) as descriptor:
        view = memoryview(content)
        while len(view):
            view = view[os.write(descriptor, view) :]


def write_text(path: str, text: str) -> None:
    """Make a small file of text."""
    write_file(path, text.encode("utf-8"))


def make_directory(path: str) -> None:
    """Make a directory that was not there."""
    try:
        os.mkdir(path, 0o755)
    except OSError as error:
        raise cannot_write(path, error) from error


def sync_directory(path: str) -> None:
    """Have a directory's names written to disk."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: str, error: OSError) -> LogDirError:
    """The error for what cannot be written."""
    return LogDirError(
        f"cannot be written: {error.strerror}",
        file=path,
        remedy="Give a directory on a disk with enough room that this user may write to",
    )
