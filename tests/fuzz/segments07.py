"""Mutated segments of Kafka 0.7: messages without offsets, and compressed sets of them inside each other."""

from __future__ import annotations

import random
import struct
import zlib
from functools import cache

from tests.builders.v07 import Message07, Set07
from tests.fuzz import segments
from tests.fuzz.case import Case, Target
from tests.fuzz.layout import CODECS
from tests.fuzz.mutate import interesting, mutate_bytes
from tests.fuzz.seeds import COMPRESSORS, archived_files

SMALLEST = 9
RUNS_OF_A_FILE = 12


def target(share: int) -> Target:
    return Target("segment07", share, make, segments.check)


@cache
def seeds() -> tuple[tuple[bytes, ...], ...]:
    """Runs of messages, from real segments and nested ones built here."""
    runs = [
        tuple(messages[start : start + count])
        for _, content in archived_files("log-0.7", ".kafka")
        if (messages := split(content))
        for start in range(0, len(messages), 1 + len(messages) // RUNS_OF_A_FILE)
        for count in (1, 6)
    ]
    return (*(run for run in runs if sum(map(len, run)) < 20_000), *_built())


def _built() -> list[tuple[bytes, ...]]:
    plain = [Message07(b"%d" % i * (i % 9), magic=i % 2) for i in range(20)]
    deep = Set07(plain[:3])
    for number in range(7):
        deep = Set07([*plain[:number], deep, plain[0]], ("gzip", "snappy")[number % 2])
    return [
        tuple(message.encode() for message in plain),
        (Set07(plain).encode(), plain[1].encode(), Set07(plain, "snappy").encode()),
        (Set07([Set07(plain), Set07(plain[:1], "snappy"), plain[0]]).encode(), Set07([]).encode()),
        (deep.encode(), plain[2].encode()),
        (Message07(b"m" * 20_000).encode(), Message07(b"", magic=0).encode()),
    ]


def split(data: bytes) -> list[bytes]:
    """`data` cut where the lengths say."""
    pieces, at = [], 0
    while len(data) - at >= SMALLEST:
        size = 4 + struct.unpack_from(">i", data, at)[0]
        if size < SMALLEST or at + size > len(data):
            break
        pieces.append(data[at : at + size])
        at += size
    return [*pieces, data[at:]] if at < len(data) else pieces


def make(rng: random.Random) -> Case:
    pieces = [bytearray(message) for message in rng.choice(seeds())]
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        _change(rng, pieces)
        pieces = pieces or [bytearray()]
    data = b"".join(pieces) + bytes(rng.choice((0, 0, 0, 0, 0, 30)))
    base = rng.choice((0, 0, 20_000, 2**62))
    config = segments.make_config(rng, data, base)
    config.update(base_07=base, bound=2**63 - 1, reference=False)
    return Case("segment07", data, config)


def _change(rng: random.Random, pieces: list[bytearray], depth: int = 0) -> None:
    index = rng.randrange(len(pieces))
    kind = rng.randrange(10)
    if kind == 0:
        pieces.insert(rng.randint(0, len(pieces)), bytearray(pieces[index]))
    elif kind == 1:
        del pieces[index]
    elif kind == 2:
        pieces.insert(index, bytearray(rng.randbytes(rng.choice((1, 4, 9, 100)))))
    elif kind < 5:
        _change_field(rng, pieces[index])
    elif kind == 5:
        mutate_bytes(rng, pieces[index])
        _mend(rng, pieces[index])
    else:
        pieces[index] = _change_set(rng, bytes(pieces[index]), depth)


def _change_field(rng: random.Random, piece: bytearray) -> None:
    if rng.random() < 0.6:
        piece[:4] = struct.pack(">q", interesting(rng, len(piece)))[4:]
    elif len(piece) > 5:
        piece[rng.choice((4, 5))] = rng.choice((0, 1, 2, 3, 255, rng.randrange(256)))


def _mend(rng: random.Random, piece: bytearray) -> None:
    """Let length and checksum be right again, most often."""
    if len(piece) < 10 or rng.random() < 0.2:
        return
    struct.pack_into(">i", piece, 0, len(piece) - 4)
    start = 9 + (piece[4] & 1)
    struct.pack_into(">I", piece, start - 4, zlib.crc32(piece[start:]))


def _change_set(rng: random.Random, piece: bytes, depth: int) -> bytearray:
    """A compressed message with another set in it; a plain one becomes the content of one."""
    codec = piece[5] & 3 if len(piece) > 10 and piece[4] == 1 else 0
    try:
        plain = zlib.decompressobj(wbits=31).decompress(piece[10:], 1 << 16) if codec == 1 else piece
    except zlib.error:
        plain = piece
    inner = [bytearray(message) for message in split(plain)] or [bytearray()]
    if depth < 3 and rng.random() < 0.8:
        _change(rng, inner, depth + 1)
    if rng.random() < 0.1:
        inner = inner * rng.choice((2, 30))
    name = rng.choice(("gzip", "gzip", "snappy"))
    payload = bytearray(rng.choice(COMPRESSORS[name])(b"".join(inner)[: 1 << 16]))
    if rng.random() < 0.15:
        mutate_bytes(rng, payload)
    whole = bytearray(struct.pack(">iBBI", 0, 1, CODECS.index(name), 0)) + payload
    _mend(rng, whole)
    return whole
