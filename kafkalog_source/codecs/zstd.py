"""zstd payloads: one frame or several, most often without a content size (``ZstdCompression``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import zstandard

from kafkalog_source._core.framing import zstd_frames
from kafkalog_source.errors import CodecError, LimitError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kafkalog_source._core.memory import Scratch, View

MAX_WINDOW_SIZE = 1 << 27
"""Largest window that Kafka's reader takes: zstd's own default, 2^27."""
_AT_ONCE = 4 << 20
"""Room made without further thought; a larger payload has to prove its size step by step."""


class ZstdStream:
    """Reads the zstd frames of a payload."""

    def __init__(self) -> None:
        self._context = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_SIZE)

    def decompress(self, source: View, scratch: Scratch, limit: int) -> Buffer:
        """The content of `source`, `limit` bytes at most; in `scratch` unless it is small."""
        frames, bound = zstd_frames(source)
        try:
            claimed = zstandard.frame_content_size(memoryview(source))
            # At once the library does not look into a frame that claims to be empty, and takes no other empty one.
            if frames == 1 and 0 < bound <= min(limit, _AT_ONCE) and claimed != 0:
                # The library makes room for what the frame's header claims, whatever that is.
                _check_claim(claimed, bound)
                return self._context.decompress(memoryview(source), max_output_size=bound)
            written = self._read(source, scratch, bound, limit)
        except zstandard.ZstdError as error:
            raise CodecError("the zstd payload is damaged", found=str(error)) from None
        if written > limit:
            raise LimitError(
                "the zstd payload decompresses to more than is allowed",
                expected=f"at most {limit} bytes",
                remedy="Raise maxDecompressedBatchBytes if the batch is known to be good",
            )
        return scratch.view(0, written)

    def _read(self, source: View, scratch: Scratch, bound: int, limit: int) -> int:
        reader = self._context.stream_reader(memoryview(source), read_across_frames=True)
        written = 0
        # One byte over the limit tells a payload that is too large from one that just fits; one over the bound
        # makes the library read to the end of the last frame, where its checksum is.
        most = min(bound, limit) + 1
        scratch.reserve(min(most, _AT_ONCE))
        while written < most:
            if written == scratch.capacity:
                scratch.reserve(min(most, 2 * scratch.capacity), keep=written)
            with scratch.view(written, min(scratch.capacity, most)) as room:
                got = reader.readinto(room)
            if got == 0:
                break
            written += got
        return written


def _check_claim(claimed: int, bound: int) -> None:
    if claimed > bound:
        raise CodecError(
            "the zstd payload is damaged: a frame claims more than its blocks can hold",
            found=f"{claimed} bytes",
            expected=f"at most {bound}",
        )
