"""Compressed payloads: the framing is parsed here in Python; the codec libraries get only whole blocks."""

from __future__ import annotations

import zlib

import cramjam
import lz4.block
import zstandard

from tests.reference.checksums import xxh32
from tests.reference.cursor import Bad, Cursor

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MOST_OUTPUT = 256 << 20
"""Limit on the decompressed size of a payload, in bytes."""
XERIAL_MAGIC = b"\x82SNAPPY\x00"
LZ4_MAGIC = b"\x04\x22\x4d\x18"
ZSTD_WINDOW = 1 << 27
ZSTD_STEP = 64
"""Bytes of a frame that are decompressed at a time. Four bytes can expand to 128 KiB, so thousands would exceed
MOST_OUTPUT by far before that is noticed."""


def codec_name(attributes: int, magic: int) -> str:
    """Return the codec in the low three bits of the attributes; zstd is valid only in v2."""
    number = attributes & 7
    if number >= len(CODECS):
        raise Bad(f"codec {number} does not exist")
    if CODECS[number] == "zstd" and magic < 2:
        raise Bad(f"zstd is invalid in magic {magic}")
    return CODECS[number]


def decompress(codec: str, payload: bytes, magic: int) -> bytes:
    """Decompress `payload`, to at most MOST_OUTPUT bytes."""
    if codec == "none":
        return payload
    if codec == "gzip":
        return gunzip(payload)
    if codec == "snappy":
        return unsnappy(payload)
    if codec == "lz4":
        return unlz4(payload, verify_header=magic > 0)
    return unzstd(payload)


def gunzip(payload: bytes) -> bytes:
    """Decompress one or several gzip members, with nothing after them."""
    out, rest = bytearray(), payload
    while True:
        member = zlib.decompressobj(wbits=31)
        try:
            out += member.decompress(rest, MOST_OUTPUT + 1 - len(out))
        except zlib.error as error:
            raise Bad(f"gzip: {error}") from error
        _bounded(len(out))
        if not member.eof:
            raise Bad("gzip member is truncated")
        rest = member.unused_data
        if not rest:
            return bytes(out)


def unsnappy(payload: bytes) -> bytes:
    """Decompress a xerial block stream, whose header may be repeated; a payload without one is a raw block."""
    if not payload.startswith(XERIAL_MAGIC):
        return _snappy_block(payload, room=MOST_OUTPUT)
    out, cursor = bytearray(), Cursor(payload)
    _xerial_header(cursor)
    while cursor.left >= 4:
        if payload.startswith(XERIAL_MAGIC, cursor.at):
            _xerial_header(cursor)
            continue
        out += _snappy_block(cursor.take(cursor.int32("chunk length"), "snappy chunk"), MOST_OUTPUT - len(out))
    return bytes(out)


def _xerial_header(cursor: Cursor) -> None:
    cursor.take(len(XERIAL_MAGIC), "xerial magic")
    version, _ = cursor.int32("version"), cursor.int32("compatible version")
    if version < 1:
        raise Bad(f"xerial version {version}")


def _snappy_block(block: bytes, room: int) -> bytes:
    length, shift = 0, 0
    for byte in block[:5]:
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if length > room:
        raise Bad(f"snappy block claims {length} bytes, {room} are allowed")
    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise Bad(f"snappy: {error}") from error


def unlz4(payload: bytes, *, verify_header: bool) -> bytes:
    """Decompress the first LZ4 frame; bytes after its end mark are ignored, as by Kafka."""
    cursor = Cursor(payload)
    if cursor.take(4, "lz4 magic") != LZ4_MAGIC:
        raise Bad("no lz4 frame")
    descriptor = cursor.take(2, "lz4 descriptor")
    flags, block_descriptor = descriptor
    if flags & 0b11100011 != 0b01100000:
        raise Bad(f"lz4 flags {flags:#x}: expected version 1 and independent blocks")
    if block_descriptor & 0b10001111 or not 4 <= block_descriptor >> 4 <= 7:
        raise Bad(f"lz4 block descriptor {block_descriptor:#x}")
    if flags & 0x08:
        descriptor += cursor.take(8, "lz4 content size")
    checksum = cursor.take(1, "lz4 header checksum")[0]
    if verify_header and checksum != xxh32(descriptor) >> 8 & 0xFF:
        raise Bad("lz4 header checksum is wrong")
    return _lz4_blocks(cursor, largest=1 << (2 * (block_descriptor >> 4) + 8), checked=bool(flags & 0x10))


def _lz4_blocks(cursor: Cursor, largest: int, checked: bool) -> bytes:
    out = bytearray()
    while True:
        word = int.from_bytes(cursor.take(4, "lz4 block size"), "little")
        size, plain = word & 0x7FFFFFFF, bool(word >> 31)
        if size == 0:
            return bytes(out)
        if size > largest:
            raise Bad(f"lz4 block of {size} bytes, at most {largest} are allowed")
        block = cursor.take(size, "lz4 block")
        if checked and int.from_bytes(cursor.take(4, "lz4 block checksum"), "little") != xxh32(block):
            raise Bad("lz4 block checksum is wrong")
        out += block if plain else _lz4_block(block, largest)
        _bounded(len(out))


def _lz4_block(block: bytes, largest: int) -> bytes:
    try:
        return bytes(lz4.block.decompress(block, uncompressed_size=largest))
    except lz4.block.LZ4BlockError as error:
        raise Bad(f"lz4: {error}") from error


def unzstd(payload: bytes) -> bytes:
    """Decompress one or several zstd frames, which may be skippable."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    out, at = bytearray(), 0
    while True:
        if payload[at + 1 : at + 4] == b"\x2a\x4d\x18" and payload[at] & 0xF0 == 0x50:
            cursor = Cursor(payload[at + 4 :])
            cursor.take(int.from_bytes(cursor.take(4, "skippable size"), "little"), "skippable frame")
            at += 4 + cursor.at
        else:
            at = _zstd_frame(decompressor, payload, at, out)
        if at == len(payload):
            return bytes(out)


def _zstd_frame(decompressor: zstandard.ZstdDecompressor, payload: bytes, at: int, out: bytearray) -> int:
    """Append the content of the frame at `at` to `out`, and return the position after it."""
    frame = decompressor.decompressobj()
    while at < len(payload):
        piece = payload[at : at + ZSTD_STEP]
        try:
            out += frame.decompress(piece)
        except zstandard.ZstdError as error:
            raise Bad(f"zstd: {error}") from error
        _bounded(len(out))
        at += len(piece)
        if frame.eof:
            return at - len(frame.unused_data)
    raise Bad("zstd frame is truncated")


def _bounded(size: int) -> None:
    if size > MOST_OUTPUT:
        raise Bad(f"more than {MOST_OUTPUT} decompressed bytes")
