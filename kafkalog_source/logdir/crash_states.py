"""Decides which files a broker would keep on startup after an interrupted compaction.

The log cleaner writes ``.cleaned`` files, renames them all to ``.swap`` when they
are complete, marks the segments that they replace ``.deleted``, and removes the
suffix ``.swap``. A crash can leave files in any of these states. On startup Kafka's
``LogLoader`` deletes and renames them; this module only computes the outcome.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import FileIO

from kafkalog_source.errors import CorruptBatchError, LogDirError
from kafkalog_source.format import (
    LOG_OVERHEAD,
    MAGIC_OFFSET,
    V0_MIN_LENGTH,
    V2_HEADER_SIZE,
    V2_LAST_OFFSET_DELTA_OFFSET,
)
from kafkalog_source.logdir.access import os_error
from kafkalog_source.logdir.names import parse_log_file

__all__ = ["NO_CRASH", "CrashState", "crash_state", "next_offset"]

_ENTRY_HEADER = struct.Struct(">qi")
_LAST_OFFSET_DELTA = struct.Struct(">i")


@dataclass(frozen=True, slots=True)
class CrashState:
    """Which files of a partition directory a broker would keep on startup.

    Attributes
    ----------
    first_cleaned : int or None
        Smallest base offset of any ``.cleaned`` file.
    replaced_from, replaced_to : int
        Plain files whose base offset is in this half-open range are replaced by the ``.swap`` files.
    """

    first_cleaned: int | None
    replaced_from: int
    replaced_to: int

    def swap_is_finished(self, base_offset: int) -> bool:
        """Whether a ``.swap`` is kept: from the first ``.cleaned`` on, it may be half of a split segment."""
        return self.first_cleaned is None or base_offset < self.first_cleaned

    def is_replaced(self, base_offset: int) -> bool:
        """Whether a plain file has been replaced by ``.swap`` files."""
        return self.replaced_from <= base_offset < self.replaced_to


NO_CRASH = CrashState(None, 0, 0)
"""The state of a partition directory without ``.swap`` and ``.cleaned`` files."""


def crash_state(
    swap_logs: Iterable[tuple[int, str]], first_cleaned: int | None, next_offset: Callable[[str], int]
) -> CrashState:
    """Decide which segments the ``.swap`` segments of a directory replace.

    Parameters
    ----------
    swap_logs : iterable of (int, str)
        Base offset and path of every ``.log.swap``.
    first_cleaned : int or None
        Smallest base offset of any ``.cleaned`` file.
    next_offset : callable
        Returns the offset after the last one of a segment, given its path.
    """
    state = CrashState(first_cleaned, 0, 0)
    finished = [(base, path) for base, path in swap_logs if state.swap_is_finished(base)]
    if not finished:
        return state
    # One range from the lowest to the highest swap, as in LogLoader: segments between two of
    # them were part of the same round of cleaning.
    return CrashState(first_cleaned, min(finished)[0], max(next_offset(path) for _, path in finished))


def next_offset(path: str) -> int:
    """Walk the batch headers of a segment and return the offset after its last batch.

    Returns
    -------
    int
        The base offset in its name if the segment holds no whole batch.

    Raises
    ------
    CorruptBatchError
        For an entry with an impossible length, with which a broker refuses to start as well.
    """
    name = parse_log_file(os.path.basename(path))
    if name is None:
        raise LogDirError("does not have the name of a segment", file=path)
    try:
        with open(path, "rb", buffering=0) as file:
            return _walk(path, file, name.base_offset)
    except OSError as error:
        raise os_error(path, error) from error


def _walk(path: str, file: FileIO, base_offset: int) -> int:
    following, position = base_offset, 0
    size = os.fstat(file.fileno()).st_size
    while position + MAGIC_OFFSET < size:
        file.seek(position)
        header = file.read(V2_HEADER_SIZE)
        if len(header) <= MAGIC_OFFSET or not any(header):
            break
        offset, length = _ENTRY_HEADER.unpack_from(header)
        if length < V0_MIN_LENGTH:
            raise _bad_length(path, position, offset, length)
        if position + LOG_OVERHEAD + length > size:
            break
        following = offset + _last_offset_delta(header) + 1
        position += LOG_OVERHEAD + length
    return following


def _last_offset_delta(header: bytes) -> int:
    # Before v2 the offset of an entry is already that of its last message.
    if header[MAGIC_OFFSET] < 2 or len(header) < V2_HEADER_SIZE:
        return 0
    delta: int = _LAST_OFFSET_DELTA.unpack_from(header, V2_LAST_OFFSET_DELTA_OFFSET)[0]
    return delta


def _bad_length(path: str, position: int, offset: int, length: int) -> CorruptBatchError:
    return CorruptBatchError(
        "an entry of a segment left by an interrupted compaction is shorter than any message",
        file=path,
        position=position,
        base_offset=offset,
        found=f"length {length}",
        expected=f"at least {V0_MIN_LENGTH}",
        remedy="Give the paths of the segments to read",
    )
