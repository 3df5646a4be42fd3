"""Windows for searching a file for a position where a batch may begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.memory import Scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.segment.source import LocalFile


def search_windows(
    source: LocalFile, start: int, stop: int, end: int, header_size: int, first_size: int, largest_size: int
) -> Iterator[tuple[int, Scratch, int]]:
    """Yield overlapping windows of [start, end), so that each header that begins before `stop` is complete in one.

    Parameters
    ----------
    source : LocalFile
    start, stop, end : int
    header_size : int
        The largest size of a header, in bytes.
    first_size, largest_size : int
        The size of the first window, and the limit for later windows, which grow.

    Yields
    ------
    tuple of (int, Scratch, int)
        The position of the window in the file, the window, and its size in bytes.
    """
    window, size, end = Scratch(), first_size, min(end, stop + header_size)
    while start < stop:
        # No header begins in a hole of the file, which reads as zeros.
        start = max(start, min(source.next_data(start) - header_size, stop))
        wanted = min(size, end - start)
        window.reserve(wanted)
        with window.view(0, wanted) as room:
            got = source.read_into(start, room)
        yield start, window, got
        if got < header_size or start + got >= end:
            return
        # Consecutive windows overlap by a header less one byte.
        start += got - header_size + 1
        size = min(4 * size, largest_size)
