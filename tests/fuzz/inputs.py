"""A string of bytes as an input of `fast`: what a coverage-guided fuzzer makes, and what its corpus consists of.

Such a fuzzer learns from small changes, which a checksum or a compressed payload would make worthless. So the bytes
may hold payloads as they are before compression, and lengths and checksums that are still to be made right:

======  ====================================================================================
byte 0  bits 0 and 1: what the rest is (`KINDS`); for a payload bits 2 to 4: its codec;
        bit 6: payloads are to be compressed; bit 7: the last length and all CRCs are to be made right
1, 2    ``way`` of the case, which chooses columns, limits and the like
3…      entries, messages of Kafka 0.7, or one payload
======  ====================================================================================
"""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

from tests.fuzz import fast, layout, segments07
from tests.fuzz.case import Case
from tests.fuzz.mutate import EDGES
from tests.fuzz.seeds import COMPRESSORS
from tests.reference.compression import decompress
from tests.reference.cursor import Bad

CORPUS = Path(__file__).parent / "corpus"
HEAD = struct.Struct(">BH")
LARGEST = 1 << 12
KINDS = ("entries", "payload", "messages07", "entries")
COMPRESS, MEND = 1 << 6, 1 << 7
_DEEPEST = 4
_SIZE_07 = struct.Struct(">i")
_HEAD_SIZE_07 = 10


def corpus() -> dict[str, bytes]:
    """The inputs that are kept, by name, in an order that does not change."""
    return {path.name: path.read_bytes() for path in sorted(CORPUS.iterdir())}


def case_of(data: bytes) -> Case:
    """The case that `data` stands for."""
    first, way = HEAD.unpack(data[: HEAD.size].ljust(HEAD.size, b"\0"))
    body = data[HEAD.size : LARGEST]
    config = {"kind": KINDS[first & 3], "way": way, "base": 0}
    if config["kind"] == "payload":
        return Case(fast.NAME, body, {**config, "codec": first >> 2 & 7})
    is_07 = config["kind"] == "messages07"
    if first & MEND:
        body = _end_at_last(body, is_07)
    if first & COMPRESS:
        body = _compressed_07(body, way) if is_07 else _compressed(body, way)
    whole = bytearray(body)
    if first & MEND:
        (fast.mend_07 if is_07 else layout.mend_checksums)(whole)
    return Case(fast.NAME, bytes(whole), config)


def inputs_of(case: Case) -> tuple[bytes, ...]:
    """What stands for `case`, its base offset aside: as it is, and with payloads before compression."""
    kind, way = case.config["kind"], case.config["way"]
    first = KINDS.index(kind)
    if kind == "payload":
        return (HEAD.pack(first | case.config["codec"] << 2, way) + case.data,)
    plain = _plain_07(case.data) if kind == "messages07" else _plain(case.data)
    return HEAD.pack(first, way) + case.data, HEAD.pack(first | COMPRESS | MEND, way) + plain


def changed(rng: random.Random, data: bytes) -> bytes:
    """`data` with one number of its entries changed: a field of a header, or a varint of a record; CRCs are mended."""
    entries = layout.split_entries(data[HEAD.size :])
    if not entries or KINDS[data[0] & 3] != "entries":
        return data
    index = rng.randrange(len(entries))
    entry = bytearray(entries[index])
    places: tuple[tuple[int, int], ...] = ()
    if layout.magic_of(entry) == 2 and rng.random() < 0.5:
        places = fast.varint_places_in(bytes(entry[layout.V2_HEADER_SIZE :]))
    fields = layout.fields_of(entry)
    if places:
        plain = entry[layout.V2_HEADER_SIZE :]
        fast.change_varint(rng, plain, places)
        entry[layout.V2_HEADER_SIZE :] = plain
        layout.mend_length(entry)
    elif fields:
        at, letter = rng.choice(fields)
        _change_number(rng, entry, at, at + struct.calcsize(letter))
    entries[index] = bytes(entry)
    return bytes([data[0] | MEND]) + data[1 : HEAD.size] + b"".join(entries)


def _change_number(rng: random.Random, entry: bytearray, start: int, stop: int) -> None:
    bits = 8 * (stop - start)
    number = int.from_bytes(entry[start:stop], "big")
    others = (number ^ 1 << rng.randrange(bits), number + rng.choice((-1, 1)), rng.getrandbits(8), rng.choice(EDGES))
    entry[start:stop] = (rng.choice(others) % (1 << bits)).to_bytes(stop - start, "big")


def _end_at_last(body: bytes, is_07: bool) -> bytes:
    """Let the last entry or message end where the data does."""
    pieces = segments07.split(body) if is_07 else layout.split_entries(body)
    place = 0 if is_07 else 8
    if not pieces or len(pieces[-1]) < place + 4:
        return body
    last = bytearray(pieces[-1])
    _SIZE_07.pack_into(last, place, len(last) - place - 4)
    return b"".join(pieces[:-1]) + last


def _compressed(body: bytes, way: int) -> bytes:
    """Entries whose payloads are compressed with the codecs that they name."""
    pieces: list[bytes | bytearray] = []
    for entry in layout.split_entries(body):
        magic, codec = layout.magic_of(entry), layout.codec_of(entry)
        start = layout.payload_start(entry)
        if start is None or not 0 < codec < len(layout.CODECS):
            pieces.append(entry)
            continue
        plain = bytearray(entry[start:])
        if magic < 2:
            layout.mend_checksums(plain)
        opened = layout.Opened(entry[:start], bytes(plain), magic, codec)
        pieces.append(opened.close(_compress(codec, opened.plain, way), codec))
    return b"".join(pieces)


def _plain(body: bytes) -> bytes:
    """The reverse of `_compressed`, for payloads that can be decompressed."""
    pieces: list[bytes | bytearray] = []
    for entry in layout.split_entries(body):
        opened = layout.open_entry(entry)
        pieces.append(opened.close(opened.plain, opened.codec) if opened and opened.codec else entry)
    return b"".join(pieces)


def _compressed_07(body: bytes, way: int, depth: int = 0) -> bytes:
    """Messages of Kafka 0.7 with their sets compressed, and the sets in these."""
    pieces = []
    for message in segments07.split(body):
        codec = _set_codec(message)
        if codec and depth < _DEEPEST:
            payload = bytearray(_compressed_07(message[_HEAD_SIZE_07:], way, depth + 1))
            fast.mend_07(payload)
            message = _put_07(message, _compress(codec, bytes(payload), way))
        pieces.append(message)
    return b"".join(pieces)


def _plain_07(body: bytes, depth: int = 0) -> bytes:
    """The reverse of `_compressed_07`."""
    pieces = []
    for message in segments07.split(body):
        codec = _set_codec(message)
        if codec and depth < _DEEPEST:
            try:
                payload = decompress(layout.CODECS[codec], message[_HEAD_SIZE_07:], 0)
            except (Bad, ValueError, zlib.error):
                payload = b""
            message = _put_07(message, _plain_07(payload, depth + 1))
        pieces.append(message)
    return b"".join(pieces)


def _set_codec(message: bytes) -> int:
    """The codec of a compressed set (gzip or snappy), or 0."""
    codec = message[5] & 3 if len(message) >= _HEAD_SIZE_07 and message[4] == 1 else 0
    return codec if codec < 3 else 0


def _put_07(message: bytes, payload: bytes) -> bytes:
    return _SIZE_07.pack(_HEAD_SIZE_07 - 4 + len(payload)) + message[4:_HEAD_SIZE_07] + payload


def _compress(codec: int, plain: bytes, way: int) -> bytes:
    compressors = COMPRESSORS[layout.CODECS[codec]]
    return compressors[way % len(compressors)](plain)
