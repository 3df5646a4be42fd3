"""gzip payloads: one member or several, one after another (``GzipCompression``, Java's ``GZIPInputStream``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isal import isal_zlib
from isal.igzip_lib import IsalError

from kafkalog_source.errors import CodecError, LimitError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_GZIP = 31
"""zlib's number for gzip's framing and the largest window."""


def decompress_gzip(source: Buffer, limit: int) -> bytes:
    """The content of all members of `source`, `limit` bytes at most."""
    content = b""
    rest: Buffer = source
    while True:
        member, rest = _decompress_member(rest, limit - len(content))
        if not rest:
            return content + member if content else member
        content += member


def _decompress_member(source: Buffer, limit: int) -> tuple[bytes, bytes]:
    """The content of the first member, and the bytes after it."""
    decompressor = isal_zlib.decompressobj(wbits=_GZIP)
    try:
        # One byte over the limit tells a payload that is too large from one that just fits.
        content = decompressor.decompress(source, limit + 1)
    except IsalError as error:
        raise CodecError("the gzip payload is damaged", found=str(error)) from None
    if len(content) > limit:
        raise LimitError(
            "the gzip payload decompresses to more than is allowed",
            expected=f"at most {limit} bytes",
            remedy="Raise maxDecompressedBatchBytes if the batch is known to be good",
        )
    if not decompressor.eof:
        raise CodecError("the gzip payload is damaged: a member is cut")
    return content, decompressor.unused_data
