"""Where the fields of entries and records lie, and how to make an entry whole again after its bytes were changed."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache

import zstandard
from crc32c import crc32c

from tests.builders.v2 import varint
from tests.reference.compression import decompress
from tests.reference.cursor import Bad

V2_HEADER_SIZE = 61
LOG_OVERHEAD = 12
MOST_PLAIN = 1 << 17
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
COMMON_FIELDS = ((0, "q"), (8, "i"), (12, "i"), (16, "b"))
V2_FIELDS = (*COMMON_FIELDS, (21, "h"), (23, "i"), (27, "q"), (35, "q"), (43, "q"), (51, "h"), (53, "i"), (57, "i"))
LEGACY_FIELDS = {0: (*COMMON_FIELDS, (17, "b"), (18, "i")), 1: (*COMMON_FIELDS, (17, "b"), (18, "q"), (26, "i"))}


def magic_of(entry: bytes | bytearray) -> int:
    """The magic byte, -1 for what is too short to have one."""
    return entry[16] if len(entry) > 16 else -1


def codec_of(entry: bytes | bytearray) -> int:
    """The codec's number in the attributes."""
    place = 22 if magic_of(entry) == 2 else 17
    return entry[place] & 7 if len(entry) > place else 0


def fields_of(entry: bytes | bytearray) -> tuple[tuple[int, str], ...]:
    """(place, struct letter) of the fixed fields that the entry is long enough to have."""
    magic = magic_of(entry)
    fields = V2_FIELDS if magic == 2 else LEGACY_FIELDS.get(magic, COMMON_FIELDS)
    return tuple(field for field in fields if field[0] + struct.calcsize(field[1]) <= len(entry))


def split_entries(data: bytes) -> list[bytes]:
    """`data` cut where its length fields say; what does not end in an entry is the last piece."""
    pieces = []
    at = 0
    while len(data) - at >= 18:
        size = LOG_OVERHEAD + struct.unpack_from(">i", data, at + 8)[0]
        if size < 26 or at + size > len(data):
            break
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]] if at < len(data) else pieces


def mend_length(entry: bytearray) -> None:
    """Let the length field say how long the entry is."""
    if len(entry) >= LOG_OVERHEAD:
        struct.pack_into(">i", entry, 8, len(entry) - LOG_OVERHEAD)


def mend_checksums(data: bytearray) -> None:
    """Give every entry the CRC of the bytes that its length field spans, as far as they are there."""
    at = 0
    while len(data) - at > 21:
        size = LOG_OVERHEAD + struct.unpack_from(">i", data, at + 8)[0]
        if size < 26 or at + size > len(data):
            return
        if data[at + 16] == 2:
            struct.pack_into(">I", data, at + 17, crc32c(data[at + 21 : at + size]))
        else:
            struct.pack_into(">I", data, at + 12, zlib.crc32(data[at + 16 : at + size]))
        at += size


@dataclass(frozen=True)
class Opened:
    """An entry taken apart: what stands before its payload, and the payload decompressed."""

    head: bytes
    plain: bytes
    magic: int
    codec: int

    def close(self, payload: bytes, codec: int) -> bytearray:
        """The entry around `payload`, its lengths right and its CRC not yet."""
        head = bytearray(self.head)
        place = 22 if self.magic == 2 else 17
        head[place] = head[place] & ~7 | codec
        if self.magic < 2:
            struct.pack_into(">i", head, len(head) - 4, len(payload))
        entry = head + payload
        mend_length(entry)
        return entry


@lru_cache(4096)
def open_entry(entry: bytes) -> Opened | None:
    """Take an entry apart, if it has a payload that decompresses (a plain v0 or v1 message has none)."""
    magic, codec = magic_of(entry), codec_of(entry)
    start = payload_start(entry)
    if start is None or codec >= len(CODECS) or (magic < 2 and not codec):
        return None
    try:
        return Opened(entry[:start], _plain(CODECS[codec], entry[start:], magic), magic, codec)
    except (Bad, ValueError, zlib.error, zstandard.ZstdError):
        return None


def _plain(codec: str, payload: bytes, magic: int) -> bytes:
    """The beginning of the decompressed payload; there are bombs among the seeds."""
    if codec == "gzip":
        return zlib.decompressobj(wbits=31).decompress(payload, MOST_PLAIN)
    if codec == "zstd":
        return zstandard.ZstdDecompressor().stream_reader(payload, read_across_frames=True).read(MOST_PLAIN)
    return decompress(codec, payload, magic)[:MOST_PLAIN]


def payload_start(entry: bytes) -> int | None:
    """Where a batch's records or a message's value begin, None in what is too short for them."""
    magic = magic_of(entry)
    if magic == 2:
        return V2_HEADER_SIZE if len(entry) >= V2_HEADER_SIZE else None
    at = {0: 18, 1: 26}.get(magic)
    if at is None or len(entry) < at + 8:
        return None
    key_size = struct.unpack_from(">i", entry, at)[0]
    at += 4 + max(0, key_size)
    return at + 4 if at + 4 <= len(entry) else None


def split_records(plain: bytes) -> list[bytes]:
    """The bodies of v2 records, without their lengths; empty for what does not read as records."""
    bodies = []
    at = 0
    while at < len(plain):
        size, at = read_varint(plain, at)
        if size < 0 or at + size > len(plain):
            return []
        bodies.append(plain[at : at + size])
        at += size
    return bodies


def join_records(bodies: list[bytes]) -> bytes:
    """Records from bodies."""
    return b"".join(varint(len(body)) + body for body in bodies)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag varint and the place behind it; -1 where none is."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
    return -1, at


def varint_places(body: bytes) -> list[tuple[int, int]]:
    """[start, stop) of the varints of a record's body: deltas, lengths, counts."""
    places: list[tuple[int, int]] = []
    at = 1
    for _ in range(2):
        start = at
        _, at = read_varint(body, at)
        places.append((start, at))
    for _ in range(2):
        at = _skip_slice(body, at, places)
    start = at
    count, at = read_varint(body, at)
    places.append((start, at))
    for _ in range(2 * min(max(count, 0), 50)):
        at = _skip_slice(body, at, places)
    return [place for place in places if place[0] < place[1] <= len(body)]


def _skip_slice(body: bytes, at: int, places: list[tuple[int, int]]) -> int:
    start = at
    size, at = read_varint(body, at)
    places.append((start, at))
    return at + max(0, size)
