"""Writes files and directories durably: they are synced to disk when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from kafkalog_source.errors import LogDirError


@contextmanager
def new_file(path: str) -> Iterator[int]:
    """Create a file that must not exist; yields its descriptor, and syncs it to disk at the end."""
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
    """Write a small file that must not exist."""
    with new_file(path) as descriptor:
        view = memoryview(content)
        while len(view):
            view = view[os.write(descriptor, view) :]


def write_text(path: str, text: str) -> None:
    """Write a small text file that must not exist, in UTF-8."""
    write_file(path, text.encode("utf-8"))


def make_directory(path: str) -> None:
    """Create a directory that must not exist."""
    try:
        os.mkdir(path, 0o755)
    except OSError as error:
        raise cannot_write(path, error) from error


def sync_directory(path: str) -> None:
    """Sync the entries of a directory to disk."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: str, error: OSError) -> LogDirError:
    """The error for a file or directory that cannot be written."""
    return LogDirError(
        f"cannot be written: {error.strerror}",
        file=path,
        remedy="Give a directory that this user may write to, on a disk with enough free space",
    )
