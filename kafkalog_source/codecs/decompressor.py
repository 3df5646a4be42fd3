"""The decompressor of one reading thread, which owns the buffers for decompressed payloads."""

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
"""Default limit on the decompressed size of a batch, in bytes."""
_BUFFERS = 64
"""The number of payloads that the core keeps at once, `MOST_PAYLOADS` in ``_core/payloads.pxd``."""


class Decompressor:
    """Decompresses payloads of any of Kafka's codecs.

    Parameters
    ----------
    limit : int
        Limit on the decompressed size of a payload, in bytes; also an attribute.

    Attributes
    ----------
    rooms : list of Scratch
        Reusable decompression buffers.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self.rooms = [Scratch() for _ in range(_BUFFERS)]
        self._lz4 = Lz4Frames(lz4.block.decompress, xxhash.xxh32_intdigest)
        self._snappy = SnappyStream(cramjam.snappy.decompress_raw_into)
        self._zstd = ZstdStream()

    def __call__(
        self, codec: int, magic: int, source: View, room: Scratch | None = None, limit: int | None = None
    ) -> Buffer:
        """Decompress the payload of a batch of format `magic`.

        Parameters
        ----------
        codec, magic : int
        source : View
        room : Scratch, optional
            The buffer to decompress to, by default the first of `rooms`.
        limit : int, optional
            A limit below that of the decompressor, in bytes.

        Returns
        -------
        Buffer
            The content: a view of `room`, valid until that is reused, or an object of its own.

        Raises
        ------
        CodecError
            The payload is not valid for its codec.
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
        raise UnsupportedFormatError("the batch's codec does not exist", found=codec, expected="0 to 4")
