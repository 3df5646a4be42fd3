"""Nested message sets, as Kafka 0.7 allows, with one limit for all levels together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.memory import Scratch
from kafkalog_source.codecs.decompressor import Decompressor
from kafkalog_source.errors import LimitError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kafkalog_source._core.memory import View


_LARGEST_KEPT = 1 << 20


class NestedDecompressor:
    """Decompresses the set of a top-level message and the sets nested in it.

    Parameters
    ----------
    outermost : Decompressor
        For the outermost set. Its limit applies to all sets of one top-level message together.
    """

    def __init__(self, outermost: Decompressor) -> None:
        self._outermost = outermost
        self._inner: Decompressor | None = None
        self._left = outermost.limit

    def __call__(self, codec: int, source: View, nested: bool) -> Buffer:
        """Decompress one payload. That of a nested set gets memory of its own and stays valid.

        Raises
        ------
        CodecError
            The payload is not valid for its codec.
        LimitError
            The sets of this top-level message decompress to more than the limit.
        """
        if not nested:
            # Memory of a large set of the previous message must not add to that of this message's nested sets.
            self._outermost.rooms[0].shrink(_LARGEST_KEPT)
            content = self._outermost(codec, 0, source)
            self._left = self._outermost.limit - len(memoryview(content))
            return content
        if self._inner is None:
            self._inner = Decompressor(self._outermost.limit)
        try:
            inner = self._inner(codec, 0, source, Scratch(), self._left)
        except LimitError:
            raise LimitError(
                "the nested message sets of a message decompress to more than is allowed in total",
                expected=f"at most {self._outermost.limit} bytes",
                remedy="Raise maxDecompressedBatchBytes if the message is known to be good",
            ) from None
        self._left -= len(memoryview(inner))
        return inner
