"""Checks the source and target directories of a salvage, and makes the target appear only when it is complete."""

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
from kafkalog_source.logdir.names import CHECKPOINT_NAMES, CLEAN_SHUTDOWN, META_PROPERTIES, parse_partition
from kafkalog_source.salvage.writing import cannot_write, make_directory, sync_directory

_UNFINISHED = ".kafkalog-salvage"
_OF_FILE_SYSTEM = frozenset({"lost+found"})
_LOCK_FILE = ".lock"
# Type, whence, start, length, process: ``struct flock`` of Linux on 64 bits.
_FLOCK = struct.Struct("hhqqi4x")
_LAST = (CLEAN_SHUTDOWN, META_PROPERTIES)
"""Renamed last: by the first a broker trusts the indexes, and without the second it does not start."""


def check_source(path: str) -> tuple[str, str]:
    """Resolve the log dir or partition directory to read.

    Returns
    -------
    (str, str)
        The log dir, and what to read in it: the log dir itself, or one partition directory.

    Raises
    ------
    LogDirError
        If it is neither, or its log dir is locked by a running broker.
    """
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        found = "a file" if os.path.exists(real) else "nothing"
        raise LogDirError(
            "is not a directory", file=path, found=found, expected="a broker's log dir, or a partition directory"
        )
    log_dir = real
    if not is_log_dir(real):
        if parse_partition(os.path.basename(real)) is None:
            raise LogDirError(
                "is neither a log dir nor a partition directory",
                file=path,
                expected="a directory that contains topic-partition directories, or one of these",
            )
        log_dir = os.path.dirname(real)
    if _is_in_use(os.path.join(log_dir, _LOCK_FILE)):
        raise LogDirError(
            "a running broker has locked this log dir",
            file=path,
            remedy="Stop the broker, or give a snapshot of its disk",
        )
    return log_dir, real


def is_of_broker(path: str) -> bool:
    """Whether a directory holds the files of a broker's log dir, and not just a copy of a partition directory."""
    return bool(_names(path) & {*CHECKPOINT_NAMES, *_LAST})


def check_target(path: str, source: str) -> str:
    """Resolve the directory to write.

    Raises
    ------
    LogDirError
        If it is not empty, or one of the two directories is inside the other.
    """
    real = os.path.realpath(path)
    if is_within(real, source) or is_within(source, real):
        raise LogDirError(
            "the new log dir is inside the old one, or the other way round",
            file=path,
            found=f"{printable(source)} as the old one",
            remedy="Nothing is ever written to the old log dir: give a directory outside it",
        )
    if os.path.lexists(real) and not os.path.isdir(real):
        raise LogDirError("exists and is not a directory", file=path, remedy="Give a new directory")
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
        raise LogDirError("its parent directory does not exist", file=path, remedy="Create it, or give another path")
    return real


@contextmanager
def unfinished(target: str) -> Iterator[str]:
    """Create a directory to write to, which becomes `target` if the block succeeds and is removed if it fails.

    It is on the same file system. A target that exists already, such as a mount point, is filled at the end by renaming
    files into it, last those without which a broker does not start.
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
        "is left over from an interrupted salvage",
        file=path,
        remedy="Remove it, unless another salvage is running",
    )


def _is_in_use(lock_file: str) -> bool:
    """Whether another process holds the lock that a broker takes on its log dir; does not take the lock itself."""
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
        # The layout may differ on another system; an unknown state of the lock is no reason to refuse.
        return False
    finally:
        os.close(descriptor)
