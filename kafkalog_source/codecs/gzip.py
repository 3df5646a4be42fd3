"""gzip payloads: one member or several, one after another (``GzipCompression``, Java's ``GZIPInputStream``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isal import isal_zlib

from kafkalog_source.errors import CodecError, LimitError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_IsalError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # the stub takes the class for an instance
_GZIP = 31
"""zlib's number for gzip's framing and the largest window."""
_FIRST_PIECE = 256


def decompress_gzip(source: Buffer, limit: int) -> bytes:
    """The content of all members of `source`, `limit` bytes at most."""
    decompressor = isal_zlib.decompressobj(wbits=_GZIP)
    content = _decompress(decompressor, source, limit)
    if not decompressor.eof:
        raise _cut()
    rest = decompressor.unused_data
    return _with_further_members(content, rest, limit) if rest else content


def _with_further_members(content: bytes, rest: bytes, limit: int) -> bytes:
    """`content` and that of the members in `rest`.

    They are fed in pieces, because the library copies whatever it was given behind the end of a member: a payload of
    many small members would be copied once for each.
    """
    joined = bytearray(content)
    with memoryview(rest) as source:
        at = 0
        while at < len(source):
            decompressor = isal_zlib.decompressobj(wbits=_GZIP)
            size = _FIRST_PIECE
            while not decompressor.eof:
                if at == len(source):
                    raise _cut()
                piece = source[at : at + size]
                joined += _decompress(decompressor, piece, limit - len(joined))
                at += len(piece) - len(decompressor.unused_data)
                size *= 2
    return bytes(joined)


def _decompress(decompressor: Any, source: Buffer, limit: int) -> bytes:
    """What `source` adds to a member's content."""
    try:
        # One byte over the limit tells a payload that is too large from one that just fits.
        content: bytes = decompressor.decompress(source, limit + 1)
    except _IsalError as error:
        raise CodecError("the gzip payload is damaged", found=str(error)) from None
    if len(content) > limit:
        raise LimitError(
            "the gzip payload decompresses to more than is allowed",
            expected=f"at most {limit} bytes",
            remedy="Raise maxDecompressedBatchBytes if the batch is known to be good",
        )
    return content


def _cut() -> CodecError:
    return CodecError("the gzip payload is damaged: a member is cut")
