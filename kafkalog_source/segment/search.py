"""The part of a file that is searched for a place where a batch may begin, window by window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.memory import Scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.segment.source import LocalFile


def search_windows(
    source: LocalFile, start: int, stop: int, end: int, header_size: int, first_size: int, largest_size: int
) -> Iterator[tuple[int, Scratch, int]]:
    """Windows of [start, end), in which every header lies whole that begins before `stop`, as far as it is there.

    Parameters
    ----------
    source : LocalFile
    start, stop, end : int
    header_size : int
        Bytes that a header may have.
    first_size, largest_size : int
        Of the first window, and of later ones, which grow.

    Yields
    ------
    tuple of (int, Scratch, int)
        The position of the window's first byte, the window, and how many bytes it holds.
    """
    window, size, end = Scratch(), first_size, min(end, stop + header_size)
    while start < stop:
        # No header begins in a hole of the file, where all is zero.
        start = max(start, min(source.next_data(start) - header_size, stop))
        wanted = min(size, end - start)
        window.reserve(wanted)
        with window.view(0, wanted) as room:
            got = source.read_into(start, room)
        yield start, window, got
        if got < header_size or start + got >= end:
            return
        # The windows overlap by a header, which may lie across their border.
        start += got - header_size + 1
        size = min(4 * size, largest_size)
