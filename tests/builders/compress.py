"""Compressed payloads in the forms that Kafka's clients, brokers and other producers write."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable

import lz4.block
import snappy
import zstandard

from tests.reference.checksums import xxh32

Compressor = Callable[[bytes], bytes]
CODEC_NUMBERS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
XERIAL_HEADER = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)


def pieces(data: bytes, count: int) -> list[bytes]:
    """Split `data` into `count` parts of about equal size; some may be empty."""
    size = -(-len(data) // count)
    return [data[i * size : (i + 1) * size] for i in range(count)]


def gzip_members(data: bytes, *, members: int = 1, level: int = 6) -> bytes:
    """Compress with gzip, in one or several members."""
    return b"".join(gzip.compress(piece, level, mtime=0) for piece in pieces(data, members))


def snappy_raw(data: bytes) -> bytes:
    """Compress to one raw block, as librdkafka does."""
    return bytes(snappy.compress(data))


def snappy_xerial(data: bytes, *, block: int = 32 * 1024, streams: int = 1) -> bytes:
    """Compress to the block stream of snappy-java, or `streams` consecutive ones."""
    out = bytearray()
    for piece in pieces(data, streams):
        out += XERIAL_HEADER
        for at in range(0, len(piece), block):
            packed = snappy_raw(piece[at : at + block])
            out += struct.pack(">i", len(packed)) + packed
    return bytes(out)


def lz4_frame(
    data: bytes,
    *,
    old_header_checksum: bool = False,
    block_size_code: int = 4,
    block_checksums: bool = False,
    content_checksum: bool = False,
    content_size: bool = False,
    independent: bool = True,
    compress_blocks: bool = True,
) -> bytes:
    """Compress to an LZ4 frame; `old_header_checksum` is the wrong one that magic 0 always has."""
    magic = b"\x04\x22\x4d\x18"
    flags = 0x40 | independent << 5 | block_checksums << 4 | content_size << 3 | content_checksum << 2
    descriptor = bytes([flags, block_size_code << 4])
    if content_size:
        descriptor += struct.pack("<Q", len(data))
    summed = magic + descriptor if old_header_checksum else descriptor
    out = bytearray(magic + descriptor + bytes([xxh32(summed) >> 8 & 0xFF]))
    block = 1 << (2 * block_size_code + 8)
    for at in range(0, len(data), block):
        out += _lz4_block(data[at : at + block], compress_blocks, block_checksums)
    out += bytes(4)
    if content_checksum:
        out += struct.pack("<I", xxh32(data))
    return bytes(out)


def _lz4_block(plain: bytes, compress: bool, checksum: bool) -> bytes:
    packed = bytes(lz4.block.compress(plain, store_size=False))
    word = len(packed)
    if not compress or len(packed) >= len(plain):
        packed, word = plain, len(plain) | 1 << 31
    out = struct.pack("<I", word) + packed
    return out + struct.pack("<I", xxh32(packed)) if checksum else out


def zstd_frames(
    data: bytes,
    *,
    frames: int = 1,
    content_size: bool = True,
    skippable: bool = False,
    checksum: bool = False,
) -> bytes:
    """Compress with zstd, in one or several frames, each after a skippable frame if `skippable`."""
    packer = zstandard.ZstdCompressor(write_content_size=content_size, write_checksum=checksum)
    aside = struct.pack("<II", 0x184D2A53, 5) + b"aside" if skippable else b""
    out = bytearray()
    for piece in pieces(data, frames):
        stream = packer.compressobj(size=len(piece)) if content_size else packer.compressobj()
        out += aside + stream.compress(piece) + stream.flush()
    return bytes(out)


def zstd_plain_frame(data: bytes, *, window_log: int) -> bytes:
    """Return a frame of one raw block that needs a window of 2^`window_log` bytes."""
    header = b"\x28\xb5\x2f\xfd" + bytes([0, (window_log - 10) << 3])
    return header + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def compressor(codec: str, magic: int) -> Compressor:
    """Return the compression of Kafka's own producer for `codec`."""
    by_codec: dict[str, Compressor] = {
        "none": bytes,
        "gzip": gzip_members,
        "snappy": snappy_xerial,
        "lz4": lambda data: lz4_frame(data, old_header_checksum=magic == 0),
        "zstd": lambda data: zstd_frames(data, content_size=False),
    }
    return by_codec[codec]
