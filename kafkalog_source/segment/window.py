"""The part of a file in memory. It moves along the file and keeps bytes that were already read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.segment.source import shorter_error

if TYPE_CHECKING:
    from kafkalog_source._core.memory import Scratch
    from kafkalog_source.segment.source import LocalFile

_PIECE_SIZE = 1 << 20
_ENOUGH = 8 << 20
"""Memory that is always kept; what only a large batch needed is freed."""


class Window:
    """Bytes [position, position + size) of a file, at the start of scratch memory.

    Parameters
    ----------
    source : LocalFile
    memory : Scratch
        Reused from file to file. Nothing else may write to it meanwhile.
    end : int
        The position where the readable part of the file ends.
    """

    def __init__(self, source: LocalFile, memory: Scratch, end: int) -> None:
        self.memory = memory
        self.position = 0
        self.size = 0
        self._source = source
        self._end = end

    def fill(self, position: int, want: int) -> None:
        """Load `want` bytes from `position` on, or fewer at the end.

        Raises
        ------
        FileChangedError
            The file has become shorter than `end`.
        """
        size = min(want, self._end - position)
        kept = self._keep_from(position)
        if self.memory.capacity > 2 * max(size, _ENOUGH):
            self.memory.shrink(max(size, _ENOUGH), keep=kept)
        if size > kept:
            self.memory.reserve(size, keep=kept)
            with self.memory.view(kept, size) as room:
                got = self._source.read_into(position + kept, room)
            if got < size - kept:
                raise shorter_error(self._source.path, position + kept + got, self._end)
        self.position, self.size = position, size

    def is_outdated(self, position: int, most: int | None = None) -> bool:
        """Whether the file has changed since the bytes from `position` on were read, because it is being written to.

        At most `most` bytes are compared, by default all in the window.
        """
        start = position - self.position
        end = self.size if most is None else min(self.size, start + most)
        for at in range(start, end, _PIECE_SIZE):
            size = min(_PIECE_SIZE, end - at)
            with self.memory.view(at, at + size) as held:
                # Comparing bytes is fast; comparing a memoryview goes byte by byte.
                if bytes(held) != self._source.read(self.position + at, size):
                    return True
        return False

    def _keep_from(self, position: int) -> int:
        """Move the bytes from `position` on to the start, and return how many there are."""
        start = position - self.position
        if not 0 <= start < self.size:
            return 0
        self.memory.move(start, self.size)
        return self.size - start
