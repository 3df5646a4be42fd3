"""zstd payloads: one or several frames, usually without a content size (``ZstdCompression``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import zstandard

from kafkalog_source._core.framing import zstd_frames
from kafkalog_source.errors import CodecError, LimitError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kafkalog_source._core.memory import Scratch, View

MAX_WINDOW_SIZE = 1 << 27
"""Largest window that Kafka's reader accepts: zstd's default, 2^27."""
_AT_ONCE = 4 << 20
"""Memory reserved without proof; for a larger payload the buffer grows with the data."""
_MOST_BESIDE = 32 << 20
"""A stream keeps its window in addition to its output. Both together may exceed the limit by this much: less than the
64 MiB that a read may take, part of which the buffers of other codecs use."""


class ZstdStream:
    """Reads the zstd frames of a payload."""

    def __init__(self) -> None:
        self._context = _new_context()

    def decompress(self, source: View, scratch: Scratch, limit: int) -> Buffer:
        """Return the content of `source`, at most `limit` bytes, in `scratch` unless it is small."""
        frames, bound, window = zstd_frames(source)
        if window > MAX_WINDOW_SIZE:
            raise CodecError(
                "the zstd payload needs a larger window than Kafka's readers support",
                found=f"{window} bytes",
                expected=f"at most {MAX_WINDOW_SIZE}",
            )
        problem = None
        try:
            if frames == 1 and bound > 0:
                claimed = zstandard.frame_content_size(memoryview(source))
                # In one call, the library ignores the blocks of a frame of content size 0, and rejects other empty
                # frames.
                if 0 < bound <= min(limit, _AT_ONCE) and claimed != 0:
                    _check_claim(claimed, bound)
                    return self._context.decompress(memoryview(source), max_output_size=bound)
                if window > _MOST_BESIDE and _AT_ONCE < claimed <= min(bound, limit):
                    # Decompressing into memory of the right size needs no window.
                    scratch.shrink(_AT_ONCE)
                    return self._context.decompress(memoryview(source))
            most = _most_content(limit, window)
            written = self._read(source, scratch, bound, most, window)
        except zstandard.ZstdError as error:
            problem = str(error)
        if problem is not None:
            # Raised here and not in the handler, so that its traceback does not keep the library's memory alive.
            raise CodecError("the zstd payload is damaged", found=problem)
        if written > most:
            raise LimitError(
                "the zstd payload decompresses to more than is allowed",
                expected=f"at most {most} bytes",
                remedy="Raise maxDecompressedBatchBytes if the batch is known to be good",
            )
        return scratch.view(0, written)

    def _read(self, source: View, scratch: Scratch, bound: int, limit: int, window: int) -> int:
        context = self._context
        if window > _MOST_BESIDE:
            # With so large a window, free what another payload left; a new context frees the window afterwards.
            scratch.shrink(_AT_ONCE)
            context = _new_context()
        reader = context.stream_reader(memoryview(source), read_across_frames=True)
        written = 0
        # One byte over the limit distinguishes a payload that is too large from one that just fits; one over the bound
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


def _new_context() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_SIZE)


def _most_content(limit: int, window: int) -> int:
    """The limit on a stream's content: `limit`, or less if the window is so large that it counts too."""
    return min(limit, max((limit + _MOST_BESIDE) // 2, limit + _MOST_BESIDE - window))


def _check_claim(claimed: int, bound: int) -> None:
    if claimed > bound:
        raise CodecError(
            "the zstd payload is damaged: a frame claims more than its blocks can hold",
            found=f"{claimed} bytes",
            expected=f"at most {bound}",
        )
