"""Small files beside a segment, read as a whole."""

from __future__ import annotations

from kafkalog_source.errors import LogDirError
from kafkalog_source.segment.source import LocalFile

_MOST_BYTES = 64 << 20
"""A broker never writes more to one of them; a larger file is not a side file."""


class SideFileError(Exception):
    """A side file that cannot be used; the message says why."""


def read_file(path: str) -> bytes:
    """Return the content of a side file.

    Raises
    ------
    LogDirError
        It cannot be read, or is too large to be one.
    """
    with LocalFile(path) as source:
        if source.size > _MOST_BYTES:
            raise LogDirError(f"its size is {source.size} bytes, expected at most {_MOST_BYTES}", file=path)
        return source.read(0, source.size)


def read_side_file(path: str) -> bytes:
    """Return the content of a side file that is used only if it is sound.

    Raises
    ------
    SideFileError
        The file cannot be read, or is too large to be a side file.
    """
    try:
        return read_file(path)
    except LogDirError as error:
        raise SideFileError(error.problem) from error
