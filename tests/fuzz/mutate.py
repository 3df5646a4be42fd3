"""Changes to entries: from a flipped bit to records rewritten inside of a compressed payload."""

from __future__ import annotations

import dataclasses
import random
import struct
from collections.abc import Callable

from tests.builders.v2 import varint
from tests.fuzz.layout import (
    CODECS,
    Opened,
    codec_of,
    fields_of,
    join_records,
    magic_of,
    mend_checksums,
    mend_length,
    open_entry,
    split_entries,
    split_records,
    varint_places,
)
from tests.fuzz.seeds import COMPRESSORS, Seed

Pieces = list[bytearray]
WIDTHS = {"b": 1, "h": 2, "i": 4, "q": 8}
EDGES = (
    0,
    1,
    -1,
    -2,
    2,
    7,
    13,
    14,
    127,
    128,
    2**15,
    2**16,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32,
    2**62,
    2**63 - 1,
    -(2**63),
)
LARGEST = 1 << 15
MOST = 1 << 17


def interesting(rng: random.Random, size: int, now: int = 0) -> int:
    """A number that a length, count or delta of something of `size` bytes may choke on."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(EDGES)
    if kind == 1:
        return size + rng.randint(-2, 2)
    if kind == 2:
        return now + rng.choice((-1, 1, -8, 8, 64, -64, 1000))
    return rng.randint(0, size + 1)


def mutate_bytes(rng: random.Random, data: bytearray) -> None:
    """Change bytes that have no known structure, one to three times."""
    for _ in range(rng.randint(1, 3)):
        rng.choice(BYTE_CHANGES)(rng, data)


def _flip_bit(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set_byte(rng: random.Random, data: bytearray) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _set_number(rng: random.Random, data: bytearray) -> None:
    width = rng.choice((1, 2, 4, 4, 4, 8))
    if len(data) >= width:
        at = rng.randrange(len(data) - width + 1)
        number = interesting(rng, len(data)) % (1 << 8 * width)
        data[at : at + width] = number.to_bytes(width, rng.choice(("big", "little")))


def _cut(rng: random.Random, data: bytearray) -> None:
    if data:
        del data[rng.randrange(len(data)) :]


def _remove(rng: random.Random, data: bytearray) -> None:
    at = rng.randint(0, len(data))
    del data[at : at + rng.choice((1, 2, 4, 8, 16, 100))]


def _insert_noise(rng: random.Random, data: bytearray) -> None:
    at = rng.randint(0, len(data))
    size = rng.choice((1, 2, 4, 16, 61, 200))
    data[at:at] = rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size)))


def _repeat(rng: random.Random, data: bytearray) -> None:
    at = rng.randint(0, len(data))
    piece = data[at : at + rng.choice((1, 8, 50, 500))]
    data[at:at] = piece * rng.choice((1, 1, 2, 10))


BYTE_CHANGES: tuple[Callable[[random.Random, bytearray], None], ...] = (
    _flip_bit,
    _flip_bit,
    _set_byte,
    _set_byte,
    _set_number,
    _set_number,
    _cut,
    _remove,
    _insert_noise,
    _repeat,
)


def mutated(rng: random.Random, seed: Seed, other: Seed) -> bytes:
    """A segment made of `seed`, now and then with entries of `other`."""
    pieces = [bytearray(entry) for entry in seed.entries]
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        change = rng.choice(CHANGES)
        change(rng, pieces, other)
        pieces = pieces or [bytearray()]
    if rng.random() < 0.3:
        _renumber(rng, pieces, seed.base_offset)
    data = bytearray().join(pieces)
    if rng.random() < 0.03:
        data += bytes(rng.choice((1, 16, 5000)))
    if rng.random() < 0.75:
        mend_checksums(data)
    return bytes(data[:MOST])


def _entry_bytes(rng: random.Random, pieces: Pieces, _: Seed) -> None:
    piece = rng.choice(pieces)
    mutate_bytes(rng, piece)
    if rng.random() < 0.5:
        mend_length(piece)


def _entry_field(rng: random.Random, pieces: Pieces, _: Seed) -> None:
    piece = rng.choice(pieces)
    fields = fields_of(piece)
    if fields:
        at, kind = rng.choice(fields)
        _set_field(rng, piece, at, kind)


def _set_field(rng: random.Random, piece: bytearray, at: int, kind: str) -> None:
    width = WIDTHS[kind]
    now = int.from_bytes(piece[at : at + width], "big", signed=True)
    number = (
        interesting(rng, len(piece), now)
        if width > 2
        else rng.choice((now ^ 1 << rng.randrange(8), rng.randrange(256)))
    )
    piece[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "big")


def _duplicate(rng: random.Random, pieces: Pieces, _: Seed) -> None:
    pieces.insert(rng.randint(0, len(pieces)), bytearray(rng.choice(pieces)))


def _drop(rng: random.Random, pieces: Pieces, _: Seed) -> None:
    del pieces[rng.randrange(len(pieces))]


def _swap(rng: random.Random, pieces: Pieces, _: Seed) -> None:
    rng.shuffle(pieces)


def _take_from_other(rng: random.Random, pieces: Pieces, other: Seed) -> None:
    pieces.insert(rng.randint(0, len(pieces)), bytearray(rng.choice(other.entries)))


def _splice(rng: random.Random, pieces: Pieces, other: Seed) -> None:
    piece, donor = rng.choice(pieces), rng.choice(other.entries)
    start = rng.randint(0, len(donor))
    at = rng.randint(0, len(piece))
    piece[at : at + rng.choice((0, 4, 16, len(piece)))] = donor[start : start + rng.choice((4, 61, 1000, len(donor)))]
    if rng.random() < 0.5:
        mend_length(piece)


def _noise_between(rng: random.Random, pieces: Pieces, _: Seed) -> None:
    size = rng.choice((1, 11, 12, 17, 61, 300))
    pieces.insert(rng.randint(0, len(pieces)), bytearray(rng.choice((bytes(size), rng.randbytes(size)))))


def _header_of_a_large_entry(rng: random.Random, pieces: Pieces, _: Seed) -> None:
    piece = bytearray(rng.choice(pieces)[:61])
    if len(piece) > 18:
        struct.pack_into(">i", piece, 8, rng.choice((100, 5000, 70_000, 2**20, 2**31 - 1)))
        pieces.insert(rng.randint(0, len(pieces)), piece)


def _renumber(rng: random.Random, pieces: Pieces, base: int) -> None:
    """Let the offsets of the entries rise, whatever was put together."""
    at = base
    for piece in pieces:
        if len(piece) < 27:
            continue
        delta = struct.unpack_from(">i", piece, 23)[0] if magic_of(piece) == 2 else 30 * (codec_of(piece) > 0)
        if magic_of(piece) == 2:
            struct.pack_into(">q", piece, 0, at)
            at += max(0, delta) + 1
        else:
            at += delta
            struct.pack_into(">q", piece, 0, at)
            at += 1
        at += rng.choice((0, 0, 0, 5))


def _rewrite_payload(rng: random.Random, pieces: Pieces, _: Seed) -> None:
    """Change what is inside of a payload, and compress it again, by any codec, well or badly."""
    index = rng.randrange(len(pieces))
    opened = open_entry(bytes(pieces[index]))
    if opened is None:
        return
    opened = _changed_records(rng, opened) if opened.magic == 2 else _changed_messages(rng, opened)
    codec = opened.codec if rng.random() < 0.7 else rng.randrange(5 if opened.magic == 2 else 4)
    if opened.magic < 2 and codec == 0:
        codec = 1
    payload = rng.choice(COMPRESSORS[CODECS[codec]])(opened.plain[:LARGEST])
    if rng.random() < 0.15:
        payload = _changed(rng, payload)
    pieces[index] = opened.close(payload, codec)


def _changed(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    mutate_bytes(rng, changed)
    return bytes(changed)


def _changed_records(rng: random.Random, opened: Opened) -> Opened:
    kind = rng.randrange(10)
    bodies = split_records(opened.plain)
    if kind == 0 or not bodies:
        return dataclasses.replace(opened, plain=_changed(rng, opened.plain))
    if kind < 3:
        return _more_records(rng, opened, bodies)
    for _ in range(rng.randint(1, 3)):
        index = rng.randrange(len(bodies))
        bodies[index] = _changed_record(rng, bodies[index])
    plain = join_records(bodies)
    return dataclasses.replace(opened, plain=_changed(rng, plain) if rng.random() < 0.1 else plain)


def _changed_record(rng: random.Random, body: bytes) -> bytes:
    places = varint_places(body)
    if not places or rng.random() < 0.2:
        return _changed(rng, body)
    start, stop = rng.choice(places)
    if rng.random() < 0.1:
        return body[:start] + bytes([0x80 | rng.randrange(128)]) * rng.randint(1, 10) + body[stop:]
    return body[:start] + varint(interesting(rng, len(body) - stop)) + body[stop:]


def _more_records(rng: random.Random, opened: Opened, bodies: list[bytes]) -> Opened:
    """The records several times over with offsets that rise, and a header that says so; a large batch comes of it."""
    times = rng.choice((2, 3, 10, 50))
    while times > 1 and times * len(opened.plain) > LARGEST:
        times //= 2
    more = []
    for body in bodies * times:
        places = varint_places(body)
        if len(places) > 1:
            start, stop = places[1]
            more.append(body[:start] + varint(len(more)) + body[stop:])
    head = bytearray(opened.head)
    struct.pack_into(">i", head, 23, max(0, len(more) - 1))
    struct.pack_into(">i", head, 57, len(more))
    if more and rng.random() < 0.3:
        index = rng.randrange(len(more))
        more[index] = _changed_record(rng, more[index])
    return dataclasses.replace(opened, head=bytes(head), plain=join_records(more))


def _changed_messages(rng: random.Random, opened: Opened) -> Opened:
    """The set inside a wrapper, changed as a segment is; its checksums are mended more often than not."""
    inner = [bytearray(entry) for entry in split_entries(opened.plain)] or [bytearray()]
    seed = Seed("inner", 0, tuple(bytes(entry) for entry in inner))
    for _ in range(rng.randint(1, 2)):
        rng.choice(INNER_CHANGES)(rng, inner, seed)
        inner = inner or [bytearray()]
    if rng.random() < 0.2:
        inner = [bytearray(entry) for entry in inner * rng.choice((2, 20))]
    if rng.random() < 0.6:
        for number, entry in enumerate(inner):
            entry[:8] = struct.pack(">q", number) if len(entry) > 8 else entry[:8]
    data = bytearray().join(inner)
    if rng.random() < 0.85:
        mend_checksums(data)
    return dataclasses.replace(opened, plain=bytes(data))


def _message_length(rng: random.Random, pieces: Pieces, _: Seed) -> None:
    """The length of a message's key or value."""
    piece = rng.choice(pieces)
    at = 26 if magic_of(piece) == 1 else 18
    if rng.random() < 0.5 and len(piece) > at + 8:
        at += 4 + max(0, struct.unpack_from(">i", piece, at)[0])
    if len(piece) >= at + 4:
        _set_field(rng, piece, at, "i")


INNER_CHANGES = (_entry_bytes, _entry_field, _entry_field, _message_length, _message_length, _duplicate, _drop, _swap)
CHANGES = (
    *INNER_CHANGES,
    _take_from_other,
    _splice,
    _noise_between,
    _header_of_a_large_entry,
    *(_rewrite_payload,) * 8,
)
