"""Which directories may be read and written, and how the new one gets its name only when it is complete."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from kafkalog_source.errors import LogDirError, printable
from kafkalog_source.logdir.access import is_within, os_error
from kafkalog_source.logdir.diagnose import is_log_dir
from kafkalog_source.salvage.writing import cannot_write, make_directory, sync_directory

_UNFINISHED = ".kafkalog-salvage"
_OF_FILE_SYSTEM = frozenset({"lost+found"})
_LOCK_FILE = ".lock"
# Type, whence, start, length, process: ``struct flock`` of Linux on 64 bits.
_FLOCK = struct.Struct("hhqqi4x")
_LAST = (".kafka_cleanshutdown", "meta.properties")
"""A broker does not start on a directory without the second, and trusts its indexes by the first."""


def check_source(path: str) -> str:
    """Resolve the log dir to be read.

    Raises
    ------
    LogDirError
        It is no log dir, or a broker is at work on it.
    """
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        found = "a file" if os.path.exists(real) else "nothing"
        raise LogDirError("is not a directory", file=path, found=found, expected="a broker's log dir")
    if not is_log_dir(real):
        raise LogDirError(
            "is not a log dir",
            file=path,
            expected="a directory with topic-partition directories in it",
            remedy="Give the log dir itself; --subscribe and --assign choose what is salvaged of it",
        )
    if _is_in_use(os.path.join(real, _LOCK_FILE)):
        raise LogDirError(
            "a running broker has locked this log dir",
            file=path,
            remedy="Stop the broker, or give a snapshot of its disk",
        )
    return real


def check_target(path: str, source: str) -> str:
    """Resolve the directory to be written.

    Raises
    ------
    LogDirError
        It is not empty, or one of the two lies in the other.
    """
    real = os.path.realpath(path)
    if is_within(real, source) or is_within(source, real):
        raise LogDirError(
            "the old and the new log dir lie in each other",
            file=path,
            found=printable(source),
            remedy="Nothing is ever written to the old one: give a directory apart from it",
        )
    if os.path.lexists(real) and not os.path.isdir(real):
        raise LogDirError("is there and is not a directory", file=path, remedy="Give a new directory")
    if os.path.isdir(real):
        there = _names(real)
        if _UNFINISHED in there:
            raise _left_over(os.path.join(real, _UNFINISHED))
        if there - _OF_FILE_SYSTEM:
            raise LogDirError(
                "is not empty",
                file=path,
                found=printable(min(there - _OF_FILE_SYSTEM)),
                remedy="Give a new or an empty directory",
            )
    elif not os.path.isdir(os.path.dirname(real)):
        raise LogDirError("the directory that it would be made in does not exist", file=path)
    return real


@contextmanager
def unfinished(target: str) -> Iterator[str]:
    """Give a directory to write to, which becomes `target` when the block ends well and is removed if it does not.

    It lies on the same file system. A target that is there already, as a mount point is, is filled at the end by
    renaming, the files without which no broker starts on it last.
    """
    within = os.path.isdir(target)
    path = os.path.join(target, _UNFINISHED) if within else target + _UNFINISHED
    if os.path.lexists(path):
        raise _left_over(path)
    make_directory(path)
    try:
        yield path
        _finish(path, target, within)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


def _finish(path: str, target: str, within: bool) -> None:
    sync_directory(path)
    try:
        if within:
            names = sorted(_names(path), key=lambda name: (name in _LAST, name))
            for name in names:
                os.rename(os.path.join(path, name), os.path.join(target, name))
            os.rmdir(path)
            sync_directory(target)
        else:
            os.rename(path, target)
        sync_directory(os.path.dirname(target))
    except OSError as error:
        raise cannot_write(target, error) from error


def _names(path: str) -> set[str]:
    try:
        return set(os.listdir(path))
    except OSError as error:
        raise os_error(path, error) from error


def _left_over(path: str) -> LogDirError:
    return LogDirError(
        "an earlier salvage was interrupted and left this behind",
        file=path,
        remedy="Remove it, if no other salvage is at work on it",
    )


def _is_in_use(lock_file: str) -> bool:
    """Whether another process holds the lock that a broker takes on its log dir; asking takes no lock."""
    if not hasattr(fcntl, "F_GETLK") or not os.path.isfile(lock_file):
        return False
    try:
        descriptor = os.open(lock_file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        asked = _FLOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        answer: int = _FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))[0]
        return answer != fcntl.F_UNLCK
    except (OSError, struct.error):
        # Another system may lay this out otherwise, and not knowing is no reason to refuse.
        return False
    finally:
        os.close(descriptor)
