"""Message sets inside message sets, as Kafka 0.7 allows: bounded all together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.codecs.decompressor import Decompressor
from kafkalog_source.errors import LimitError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kafkalog_source._core.memory import View


class NestedDecompressor:
    """Decompresses the set of a top-level message, and then those inside it.

    Parameters
    ----------
    outermost : Decompressor
        For the first of them; its limit holds for all sets of one top-level message together.
    """

    def __init__(self, outermost: Decompressor) -> None:
        self._outermost = outermost
        self._inner: Decompressor | None = None
        self._left = outermost.limit

    def __call__(self, codec: int, source: View, nested: bool) -> Buffer:
        """Decompress one payload. That of a nested set is bytes of its own, which stay as they are.

        Raises
        ------
        CodecError
            The payload is not what its codec writes.
        LimitError
            The sets of this top-level message decompress to more than the limit.
        """
        if not nested:
            content = self._outermost(codec, 0, source)
            self._left = self._outermost.limit - len(memoryview(content))
            return content
        if self._inner is None:
            self._inner = Decompressor(self._outermost.limit)
        try:
            inner = bytes(self._inner(codec, 0, source, limit=self._left))
        except LimitError:
            raise LimitError(
                "the message sets inside a message decompress to more than is allowed, all together",
                expected=f"at most {self._outermost.limit} bytes",
                remedy="Raise maxDecompressedBatchBytes if the message is known to be good",
            ) from None
        self._left -= len(inner)
        return inner
