"""gzip payloads: one or several consecutive members (``GzipCompression``, Java's ``GZIPInputStream``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isal import isal_zlib

from kafkalog_source.errors import CodecError, LimitError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kafkalog_source._core.memory import Scratch

_IsalError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # the stub declares the class as an instance
_GZIP = 31
"""zlib's ``wbits`` for gzip framing and the largest window."""
_SMALL = 1 << 16
_FIRST_PIECE, _LARGEST_PIECE = 1 << 8, 1 << 16
_OUTPUT_SIZE = 1 << 20


def decompress_gzip(source: Buffer, scratch: Scratch, limit: int) -> Buffer:
    """Return the content of all members of `source`, at most `limit` bytes, in `scratch` unless it is small."""
    with memoryview(source) as view:
        if len(view) <= _SMALL:
            decompressor = isal_zlib.decompressobj(wbits=_GZIP)
            # One byte over the limit distinguishes a payload that is too large from one that just fits.
            content = _decompress(decompressor, view, min(limit + 1, _OUTPUT_SIZE))
            if decompressor.eof and not decompressor.unused_data:
                return _checked(content, limit)
        return _Members(view, scratch, limit).read()


class _Members:
    """Reads consecutive members in pieces.

    The library copies all input after the end of a member, or after the point where its output was full. With the
    input as a whole, a payload of many small members would be copied once for each.
    """

    def __init__(self, source: memoryview, scratch: Scratch, limit: int) -> None:
        self._source = source
        self._scratch = scratch
        self._limit = limit
        self._written = 0

    def read(self) -> Buffer:
        at = 0
        while at < len(self._source):
            decompressor = isal_zlib.decompressobj(wbits=_GZIP)
            size = _FIRST_PIECE
            while not decompressor.eof:
                if at == len(self._source):
                    raise CodecError("the gzip payload is damaged: a member is truncated")
                piece = self._source[at : at + size]
                self._read_piece(decompressor, piece)
                at += len(piece) - len(decompressor.unused_data)
                size = min(2 * size, _LARGEST_PIECE)
        if len(self._source) == 0:
            raise CodecError("the gzip payload is damaged: a member is truncated")
        return self._scratch.view(0, self._written)

    def _read_piece(self, decompressor: Any, piece: Buffer) -> None:
        while True:
            most = min(self._limit + 1 - self._written, _OUTPUT_SIZE)
            content = _decompress(decompressor, piece, most)
            self._keep(content)
            if len(content) < most or decompressor.eof:
                return
            piece = decompressor.unconsumed_tail

    def _keep(self, content: bytes) -> None:
        end = self._written + len(content)
        if end > self._limit:
            raise _too_large(self._limit)
        if end > self._scratch.capacity or self._scratch.capacity == 0:
            wanted = max(end, min(2 * self._scratch.capacity, self._limit), _FIRST_PIECE)
            self._scratch.reserve(wanted, keep=self._written)
        with self._scratch.view(self._written, end) as room:
            room[:] = content
        self._written = end


def _decompress(decompressor: Any, source: Buffer, most: int) -> bytes:
    """Decompress at most `most` bytes of a member's content from `source`."""
    try:
        content: bytes = decompressor.decompress(source, most)
    except _IsalError as error:
        raise CodecError("the gzip payload is damaged", found=str(error)) from None
    return content


def _checked(content: bytes, limit: int) -> bytes:
    if len(content) > limit:
        raise _too_large(limit)
    return content


def _too_large(limit: int) -> LimitError:
    return LimitError(
        "the gzip payload decompresses to more than is allowed",
        expected=f"at most {limit} bytes",
        remedy="Raise maxDecompressedBatchBytes if the batch is known to be good",
    )
