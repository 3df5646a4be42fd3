"""The densest legal streams of each codec, put together without compressing anything, and streams that only claim."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from tests.builders.compress import XERIAL_HEADER, gzip_members, snappy_raw
from tests.reference.checksums import xxh32

MIB = 1 << 20
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_BLOCK = 128 * 1024
_ZSTD_LAST = b"\1\0\0"
"""A raw block without a byte, the last of its frame."""


def gzip_bomb(size: int) -> bytes:
    """About 1,030 to one. A member of 1 MiB of zeros has no end of its own inside a larger one, so it is made whole."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = bytes(min(size, MIB))
    return b"".join(packer.compress(piece) for _ in range(size // len(piece))) + packer.flush()


def gzip_member_bomb(size: int) -> bytes:
    """Members of 1 MiB each, one behind another."""
    return gzip_members(bytes(MIB), level=9) * (size // MIB)


def snappy_bomb(size: int) -> bytes:
    """One raw block: a byte, and copies of 64 bytes that take three each."""
    copies = size // 64
    return _uvarint(copies * 64 + 1) + b"\0x" + b"\xfe\1\0" * copies


def snappy_stream_bomb(size: int) -> bytes:
    """xerial's framing with blocks of 1 MiB."""
    block = snappy_raw(bytes(MIB))
    return XERIAL_HEADER + (struct.pack(">i", len(block)) + block) * (size // MIB)


def lz4_bomb(size: int) -> bytes:
    """Blocks of 4 MiB, each a byte and one match; 255 to one."""
    block_size = 4 * MIB
    # A token, one literal, a match at distance 1 whose length goes on and on, and the five literals that end a block.
    length = block_size - 1 - 5 - 4 - 15
    block = b"\x1fx\1\0" + b"\xff" * (length // 255) + bytes([length % 255]) + b"\x50xxxxx"
    return lz4_head() + (struct.pack("<I", len(block)) + block) * (size // block_size) + bytes(4)


def lz4_head(*, content_size: int | None = None) -> bytes:
    """The header of a frame with independent blocks of 4 MiB."""
    descriptor = bytes([0x60 | (content_size is not None) << 3, 7 << 4])
    if content_size is not None:
        descriptor += struct.pack("<Q", content_size)
    return b"\x04\x22\x4d\x18" + descriptor + bytes([xxh32(descriptor) >> 8 & 0xFF])


def zstd_bomb(size: int, window_log: int = 20) -> bytes:
    """Run-length blocks of 128 KiB, which take four bytes."""
    block = struct.pack("<I", _ZSTD_BLOCK << 3 | 1 << 1)[:3] + b"x"
    return zstd_head(window_log) + block * (size // _ZSTD_BLOCK) + _ZSTD_LAST


def zstd_head(window_log: int = 20) -> bytes:
    """The header of a frame that does not know its content's size."""
    return ZSTD_MAGIC + bytes([0, (window_log - 10) << 3])


def zstd_claim(claimed: int, *, single_segment: bool) -> bytes:
    """A frame of five bytes that claims `claimed`."""
    flags = 3 << 6 | single_segment << 5
    return (
        ZSTD_MAGIC + bytes([flags]) + (b"" if single_segment else b"\x50") + struct.pack("<Q", claimed) + _plain_end()
    )


def _plain_end() -> bytes:
    return struct.pack("<I", 5 << 3 | 1)[:3] + b"small"


def tiny_zstd_frames(count: int, window_log: int = 20) -> bytes:
    """Frames without content."""
    return (zstd_head(window_log) + _ZSTD_LAST) * count


def one_byte_zstd_frames(count: int) -> bytes:
    """Frames of a byte."""
    return (zstd_head() + struct.pack("<I", 1 << 3 | 1)[:3] + b"x") * count


def skippable_zstd_frames(count: int) -> bytes:
    """Frames that hold nothing by definition."""
    return struct.pack("<II", 0x184D2A50, 0) * count


def tiny_gzip_members(count: int) -> bytes:
    """Members without content."""
    return gzip_members(b"") * count


def tiny_lz4_blocks(count: int) -> bytes:
    """Stored blocks of a byte."""
    return lz4_head() + (struct.pack("<I", 1 | 1 << 31) + b"x") * count + bytes(4)


def tiny_snappy_blocks(count: int) -> bytes:
    """xerial's framing with blocks of a byte."""
    block = snappy_raw(b"x")
    return XERIAL_HEADER + (struct.pack(">i", len(block)) + block) * count


def snappy_headers(count: int) -> bytes:
    """xerial's header again and again, as where streams are joined."""
    return XERIAL_HEADER * count


def _uvarint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


BOMBS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "gzip": ("gzip", gzip_bomb),
    "gzip members": ("gzip", gzip_member_bomb),
    "snappy": ("snappy", snappy_bomb),
    "snappy stream": ("snappy", snappy_stream_bomb),
    "lz4": ("lz4", lz4_bomb),
    "zstd": ("zstd", zstd_bomb),
    "zstd wide": ("zstd", lambda size: zstd_bomb(size, 27)),
    "zstd frames": ("zstd", lambda size: zstd_bomb(size // 4) * 4),
    "zstd wide frames": ("zstd", lambda size: zstd_bomb(size // 4, 27) * 4),
}
"""Codec and payload for a size, by name."""
CLAIMS: dict[str, tuple[str, bytes]] = {
    "zstd 2 GiB": ("zstd", zstd_claim(1 << 31, single_segment=False)),
    "zstd 2 GiB at once": ("zstd", zstd_claim(1 << 31, single_segment=True)),
    "zstd 2^63": ("zstd", zstd_claim(1 << 63, single_segment=False)),
    "zstd 2^64-1": ("zstd", zstd_claim((1 << 64) - 1, single_segment=True)),
    "zstd window 2^31": ("zstd", zstd_head(31) + _plain_end()),
    "zstd window 2^41": ("zstd", ZSTD_MAGIC + b"\0\xf8" + _plain_end()),
    "zstd skippable 4 GiB": ("zstd", struct.pack("<II", 0x184D2A50, (1 << 32) - 1)),
    "lz4 2^63": ("lz4", lz4_head(content_size=1 << 63) + struct.pack("<I", 5 | 1 << 31) + b"small"),
    "lz4 block 2 GiB": ("lz4", lz4_head() + struct.pack("<I", (1 << 31) - 1) + b"small" + bytes(4)),
    "snappy 2 GiB": ("snappy", _uvarint(1 << 31) + b"\0x"),
    "snappy 4 GiB": ("snappy", _uvarint((1 << 32) - 1) + b"\0x"),
    "snappy 2^35": ("snappy", _uvarint((1 << 35) - 1) + b"\0x"),
    "snappy stream 2 GiB": ("snappy", XERIAL_HEADER + struct.pack(">i", (1 << 31) - 1) + snappy_raw(b"x")),
    "snappy stream -1": ("snappy", XERIAL_HEADER + struct.pack(">i", -1) + snappy_raw(b"x")),
    "snappy stream of 2 GiB": ("snappy", XERIAL_HEADER + struct.pack(">i", 7) + _uvarint(1 << 31) + b"\0x"),
}
"""Small streams that say they are large, and want a window or a block that nobody has."""
MANY: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "empty zstd frames": ("zstd", tiny_zstd_frames),
    "empty wide zstd frames": ("zstd", lambda count: tiny_zstd_frames(count, 27)),
    "zstd frames of a byte": ("zstd", one_byte_zstd_frames),
    "skippable zstd frames": ("zstd", skippable_zstd_frames),
    "empty gzip members": ("gzip", tiny_gzip_members),
    "lz4 blocks of a byte": ("lz4", tiny_lz4_blocks),
    "snappy blocks of a byte": ("snappy", tiny_snappy_blocks),
    "snappy headers": ("snappy", snappy_headers),
}
"""Streams of so many parts, which are legal, and hold next to nothing."""
