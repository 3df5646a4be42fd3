"""Files and directories that appear under their names only when they are complete.

They are written under another name beside the target, and renamed at the end. After an error, or when the user
interrupts, nothing is left of them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING, BinaryIO

from kafkalog_source.errors import LogDirError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["new_directory", "new_file"]


@contextlib.contextmanager
def new_file(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` when the block ends without an error."""
    unfinished = _unfinished(path)
    try:
        with _explained(path):
            file = open(unfinished, "xb")  # noqa: SIM115
        with file:
            yield file
            with _explained(path):
                file.flush()
                os.fsync(file.fileno())
        with _explained(path):
            os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished)
        raise


@contextlib.contextmanager
def new_directory(path: str) -> Iterator[str]:
    """Create a directory that becomes `path`, which is new or empty, when the block ends without an error."""
    unfinished = _unfinished(path)
    try:
        with _explained(path):
            os.mkdir(unfinished)
        yield unfinished
        with _explained(path):
            os.replace(unfinished, path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _unfinished(path: str) -> str:
    return os.path.join(os.path.dirname(path), f".kafkalog-export-{os.getpid()}")


@contextlib.contextmanager
def _explained(path: str) -> Iterator[None]:
    """Raise a failure of the operating system as an error with the path that the user gave, and a remedy."""
    try:
        yield
    except OSError as error:
        raise LogDirError(
            f"cannot be written: {error.strerror or error}",
            file=path,
            remedy="Give a path in a directory that exists and that this user may write to, with enough free space",
        ) from error
