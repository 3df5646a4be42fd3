"""Small files beside a segment that are read as a whole."""

from __future__ import annotations

from kafkalog_source.errors import LogDirError
from kafkalog_source.segment.source import LocalFile

_MOST_BYTES = 64 << 20
"""More than a broker ever writes to one of them; what is larger is not what its name says."""


class SideFileError(Exception):
    """A side file is not what its name says; the message says why."""


def read_file(path: str) -> bytes:
    """All of a side file.

    Raises
    ------
    LogDirError
        It cannot be read, or is too large to be one.
    """
    with LocalFile(path) as source:
        if source.size > _MOST_BYTES:
            raise LogDirError(f"it has {source.size} bytes", file=path, expected=f"at most {_MOST_BYTES}")
        return source.read(0, source.size)


def read_side_file(path: str) -> bytes:
    """All of a side file that is used only if it is sound.

    Raises
    ------
    SideFileError
        It cannot be read, or is too large to be one.
    """
    try:
        return read_file(path)
    except LogDirError as error:
        raise SideFileError(error.problem) from error
