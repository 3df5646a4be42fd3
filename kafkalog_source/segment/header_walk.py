"""Headers of a part of a file, window by window; the payloads of large batches are passed over.

Whoever follows headers (for the batches view, for transactions, to find an offset)
takes the windows from here and hands in the walker that reads the headers in them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.peeks import peek_headers
from kafkalog_source.segment.source import shorter_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source._core.memory import Scratch
    from kafkalog_source.segment.source import LocalFile

_FIRST_SIZE = 1 << 12
_WINDOW_SIZE = 1 << 18
_PEEK_SIZE = 1 << 8
"""Holds a header, and most often the marker after a batch whose payload was passed over."""
_SPARSE = 1 << 14
"""From this mean size of a batch on, reading each header alone costs less than reading everything."""
_LARGEST_WHOLE = 1 << 20
"""A batch of which a walker needs more bytes than these ends the walk."""
_END, _INCOMPLETE = CODE["end"], CODE["incomplete"]


class Walker(Protocol):
    """Reads the headers in a window. `Entries`, `HeaderCollector` and `TransactionTracker` of the core are walkers.

    Attributes
    ----------
    count : int
        Batches that the last walk passed.
    walked : int
        Where the next batch begins, counted from the window's first byte; it may lie after the window.
    next_size : int
        Bytes of the next batch that have to be in the window, if the last walk's code was INCOMPLETE.
    """

    @property
    def count(self) -> int: ...  # noqa: D102

    @property
    def walked(self) -> int: ...  # noqa: D102

    @property
    def next_size(self) -> int: ...  # noqa: D102

    def walk(self, window: Scratch, size: int, left: int) -> int:
        """Walk the headers in `size` bytes of a window, whose last batch may reach up to `left`; gives a code."""
        ...


class Headers(NamedTuple):
    """The headers that one window holds, valid until the next event is asked for.

    Attributes
    ----------
    position : int
        Of the window's first byte in the file.
    size : int
        Bytes of the window.
    end : int
        The position after the last batch, which may lie after the window.
    """

    position: int
    size: int
    end: int


class HeaderStop(NamedTuple):
    """A place before the range's end at which no batch can be walked; no event comes after it.

    Attributes
    ----------
    position : int
    code : int
        Of the core: what is wrong there, or INCOMPLETE for a batch that passes the end or is too large for a window.
    next_size : int
        The size of that batch if `code` is INCOMPLETE.
    """

    position: int
    code: int
    next_size: int


def header_windows(
    source: LocalFile, memory: Scratch, walker: Walker, start: int, end: int, *, peeks: int = 0
) -> Iterator[Headers | HeaderStop]:
    """Take a walker from `start` to `end`, both positions, or to the first place where no batch can be walked.

    Windows grow while batches are small. Where they are large, little more than each header is read.

    Parameters
    ----------
    source : LocalFile
    memory : Scratch
        For the windows, used again from range to range.
    walker : Walker
    start, end : int
    peeks : int
        How many large batches may pass between two events, if the walker alone needs their headers.

    Raises
    ------
    FileChangedError
        The file has become shorter than `end`.
    """
    position, want = start, _FIRST_SIZE
    memory.shrink(_WINDOW_SIZE)
    while position < end:
        size = min(want, end - position)
        memory.reserve(size)
        with memory.view(0, size) as room:
            got = source.read_into(position, room)
        if got < size:
            raise shorter_error(source.path, position + got, end)
        code = walker.walk(memory, size, end - position)
        next_size = walker.next_size
        at, position = position, position + walker.walked
        is_sparse = position - at > _SPARSE * walker.count
        want = _PEEK_SIZE if is_sparse else min(max(4 * want, _FIRST_SIZE), _WINDOW_SIZE)
        if code == _INCOMPLETE:
            want = max(want, next_size)
        elif is_sparse and code == _END:
            position = _peek(source, memory, walker, position, end, peeks)
        if position > at:
            yield Headers(at, size, position)
        goes_on = code == _END or (code == _INCOMPLETE and next_size <= min(end - position, _LARGEST_WHOLE))
        if not goes_on:
            yield HeaderStop(position, code, next_size)
            return


def _peek(source: LocalFile, memory: Scratch, walker: Walker, position: int, end: int, most: int) -> int:
    """Walk up to `most` large batches, each with a read of its own that does no more; gives where they end."""
    position, reads = peek_headers(source.fileno(), memory, walker, position, end, most, _PEEK_SIZE, _SPARSE)
    source.bytes_read += reads * _PEEK_SIZE
    return position
