"""Bytes at a position: the interface through which all data is read."""

from __future__ import annotations

import errno
import os
import stat
from typing import Protocol, Self

from kafkalog_source.errors import DataLossError, KafkaLogError, LogDirError, kind_of

_COPY_SIZE = 64 << 20
_BUFFER_SIZE = 1 << 20
_GONE = (errno.ENOENT, errno.ESTALE)
"""A removed file; a network file system reports the second for an open one."""


class Source(Protocol):
    """A file of known size.

    Attributes
    ----------
    path : str
        The name shown in errors.
    size : int
        Bytes in the file when it was opened.
    bytes_read : int
        Bytes read so far.
    """

    path: str
    size: int
    bytes_read: int

    def read_into(self, position: int, buffer: memoryview) -> int:
        """Fill `buffer` from `position` on, and return the bytes read; fewer only at the end of the file."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class FileChangedError(DataLossError):
    """A file has changed since it was listed: it is gone, replaced by another one, or shorter."""


class LocalFile:
    """A regular file, read with ``pread`` and never mapped into memory.

    Raises
    ------
    LogDirError
        The file cannot be opened, or is not a regular file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.bytes_read = 0
        try:
            # Without O_NONBLOCK, opening a FIFO would block until a writer opens it.
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise _cannot_read(path, error) from error
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise LogDirError("this is not a regular file", file=path, remedy="Name a segment file or a directory")
        self.size = status.st_size
        self.mtime_ns = status.st_mtime_ns
        self.inode = status.st_ino

    def read_into(self, position: int, buffer: memoryview) -> int:
        """Fill `buffer` from `position` on; see `Source`."""
        size, got = len(buffer), 0
        while got < size:
            try:
                count = os.preadv(self._descriptor, [buffer[got:] if got else buffer], position + got)
            except OSError as error:
                raise _cannot_read(self.path, error, position + got) from error
            if count == 0:
                break
            got += count
        self.bytes_read += got
        return got

    def fileno(self) -> int:
        """Return the descriptor of the open file, for reads by the core. They are not in `bytes_read` yet."""
        return self._descriptor

    def next_data(self, position: int) -> int:
        """Return the first position from `position` on that is not in a hole of the file, which reads as zeros."""
        if position >= self.size:
            return self.size
        try:
            return min(os.lseek(self._descriptor, position, os.SEEK_DATA), self.size)
        except OSError as error:
            # ENXIO: a hole up to the end of the file. Anything else: the file system does not support holes.
            return self.size if error.errno == errno.ENXIO else position

    def read(self, position: int, size: int) -> bytes:
        """Read at most `size` bytes from `position` on."""
        buffer = memoryview(bytearray(max(0, min(size, self.size - position))))
        return bytes(buffer[: self.read_into(position, buffer)])

    def copy_to(self, descriptor: int, position: int, size: int) -> None:
        """Append `size` bytes from `position` on to another open file, with ``copy_file_range`` where possible.

        Raises
        ------
        LogDirError
            The file cannot be read at that position, or has become shorter.
        OSError
            The other file cannot be written.
        """
        end = position + size
        while position < end:
            count = _copied_by_system(self._descriptor, descriptor, position, min(end - position, _COPY_SIZE))
            if count is None:
                data = self.read(position, min(end - position, _BUFFER_SIZE))
                count = os.write(descriptor, data) if data else 0
            if count == 0:
                raise LogDirError("the file has become shorter", file=self.path, position=position)
            position += count

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _copied_by_system(source: int, target: int, position: int, size: int) -> int | None:
    """Bytes copied by ``copy_file_range``; None if it is not supported and the bytes have to be read and written."""
    if not hasattr(os, "copy_file_range"):
        return None
    try:
        # Some file systems share the blocks instead of copying them.
        return os.copy_file_range(source, target, size, offset_src=position)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        return None


def shorter_error(path: str, position: int, expected: int) -> FileChangedError:
    """Return the error for a file that ends at `position` but had `expected` bytes when it was listed."""
    return FileChangedError(
        "the file is shorter than when the read was planned",
        file=path,
        position=position,
        expected=f"{expected} bytes",
        remedy="It was truncated or replaced meanwhile: read again, or read a snapshot of the directory",
    )


def is_gone(error: KafkaLogError) -> bool:
    """Whether an error means that a listed file no longer exists."""
    cause = error.__cause__
    return isinstance(error, LogDirError) and isinstance(cause, OSError) and cause.errno in _GONE


def open_if_there(path: str) -> LocalFile | None:
    """Open a listed file; None if it no longer exists."""
    try:
        return LocalFile(path)
    except LogDirError as error:
        if is_gone(error):
            return None
        raise


def _cannot_read(path: str, error: OSError, position: int | None = None) -> LogDirError:
    if error.errno in _GONE:
        return LogDirError(
            f"the file does not exist: {error.strerror}",
            file=path,
            position=position,
            remedy="If it was there before, retention or compaction removed it: read again, or read a snapshot",
        )
    return kind_of(error)(
        f"the file cannot be read: {error.strerror}",
        file=path,
        position=position,
        remedy="Check that it exists, that its permissions allow reading, and that the disk is sound",
    )
