"""One decompressor for each reading thread: it owns the memory that payloads are written to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cramjam
import lz4.block
import xxhash

from kafkalog_source._core.framing import Lz4Frames, SnappyStream
from kafkalog_source._core.memory import Scratch
from kafkalog_source.codecs.gzip import decompress_gzip
from kafkalog_source.codecs.zstd import ZstdStream
from kafkalog_source.errors import UnsupportedFormatError
from kafkalog_source.format import Codec

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kafkalog_source._core.memory import View

DEFAULT_LIMIT = 256 << 20
"""Most bytes that one batch may decompress to unless the caller says otherwise."""
_ROOMS = 64
"""As many payloads as the core holds at once, `MOST_PAYLOADS` in ``_core/payloads.pxd``."""


class Decompressor:
    """Decompresses payloads of any of Kafka's codecs.

    Parameters
    ----------
    limit : int
        Most bytes that one payload may decompress to; kept as an attribute.

    Attributes
    ----------
    rooms : list of Scratch
        Memory to decompress to that is used again.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self.rooms = [Scratch() for _ in range(_ROOMS)]
        self._lz4 = Lz4Frames(lz4.block.decompress, xxhash.xxh32_intdigest)
        self._snappy = SnappyStream(cramjam.snappy.decompress_raw_into)
        self._zstd = ZstdStream()

    def __call__(
        self, codec: int, magic: int, source: View, room: Scratch | None = None, limit: int | None = None
    ) -> Buffer:
        """Decompress the payload of a batch of format `magic`, to `limit` bytes at most if that is below the usual.

        What is returned lies in `room`, by default the first of `rooms`, until that is used again, or is bytes of its
        own.

        Raises
        ------
        CodecError
            The payload is not what its codec writes.
        LimitError
            It decompresses to more than the limit.
        """
        room = self.rooms[0] if room is None else room
        limit = self.limit if limit is None else min(limit, self.limit)
        if codec == Codec.LZ4:
            return self._lz4.decompress(source, room, limit, magic > 0)
        if codec == Codec.ZSTD:
            return self._zstd.decompress(source, room, limit)
        if codec == Codec.SNAPPY:
            return self._snappy.decompress(source, room, limit)
        if codec == Codec.GZIP:
            return decompress_gzip(source, room, limit)
        raise UnsupportedFormatError("the batch names a codec that does not exist", found=codec, expected="0 to 4")
