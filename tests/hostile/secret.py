"""Damaged segments whose keys, values and headers hold a secret, and how to find it in what was said of them."""

from __future__ import annotations

import base64
import dataclasses
import struct
from collections.abc import Iterator
from pathlib import Path

from tests.builders import Batch, Header, Message, Record, Wrapper, encode
from tests.builders.v07 import Message07, Set07, encode_07
from tests.fuzz.layout import mend_checksums, mend_length

SECRET = b"QZXJKVWQ"
RECORDS = tuple(
    Record(SECRET * 3, SECRET * (20 + i), (Header(SECRET, SECRET * 2), Header(SECRET * 2, None))) for i in range(4)
)
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
DAMAGE = ("crc", "length up", "length down", "magic", "codec", "body", "cut", "count", "offset")


def traces(text: str | bytes) -> set[str]:
    """The forms in which a piece of the secret is in `text`: as it is, in hex, in base64, as a number."""
    said = text.decode("latin-1") if isinstance(text, bytes) else text
    return {form for form in _FORMS if form in said}


def _forms() -> Iterator[str]:
    endless = SECRET * 3
    for start in range(len(SECRET)):
        yield endless[start : start + 4].decode()
        yield endless[start : start + 3].hex()
        yield str(list(endless[start : start + 3]))[1:-1]
        yield base64.b64encode(endless[start : start + 12]).decode()
        for layout in (">i", "<i", ">q", "<q"):
            yield str(struct.unpack_from(layout, endless, start)[0])


_FORMS = tuple(_forms())


def segments() -> Iterator[tuple[str, str, bytes]]:
    """Name, suffix and content: a good batch, a damaged one, and a good one, for each format, codec and damage."""
    for codec in CODECS:
        bad = Batch(RECORDS, 10, codec).encode()
        for damage in DAMAGE:
            yield f"v2 {codec} {damage}", ".log", _around(_damaged(bad, damage))
        for number, record in enumerate(_lies()):
            yield f"v2 {codec} lie {number}", ".log", _around(Batch((record, *RECORDS), 10, codec).encode())
        for magic in (0, 1):
            message = Message(SECRET * 3, SECRET * 20, 10, magic)
            inner = [dataclasses.replace(message, offset=10 + i) for i in range(3)]
            if codec in CODECS[1:4]:
                whole = Wrapper(inner, codec, magic).encode()
                lying = Wrapper([*inner, dataclasses.replace(message, offset=13, value_length=77)], codec, magic)
                yield f"v{magic} {codec} lie", ".log", _around(lying.encode())
            else:
                whole = message.encode()
            for damage in DAMAGE[:-2]:
                yield f"v{magic} {codec} {damage}", ".log", _around(_damaged(whole, damage))
    yield from _segments_07()


def _lies() -> Iterator[Record]:
    good = RECORDS[0]
    yield dataclasses.replace(good, length=5)
    yield dataclasses.replace(good, key_length=2)
    yield dataclasses.replace(good, value_length=2**31 - 1)
    yield dataclasses.replace(good, header_count=99)
    yield dataclasses.replace(good, header_count=1)
    yield dataclasses.replace(good, extra=SECRET)
    yield dataclasses.replace(good, offset_delta=77)
    yield dataclasses.replace(good, headers=[Header(None, SECRET)])
    yield dataclasses.replace(good, headers=[Header(SECRET, SECRET, value_length=1000)])


def _around(bad: bytes) -> bytes:
    return encode([Batch(RECORDS, 0)]) + bad + encode([Batch(RECORDS, 20)])


def _damaged(entry: bytes, damage: str) -> bytes:
    data = bytearray(entry)
    is_v2 = data[16] == 2
    if damage == "crc":
        data[20 if is_v2 else 15] ^= 1
    elif damage.startswith("length"):
        struct.pack_into(">i", data, 8, len(data) - 12 + (1000 if damage.endswith("up") else -30))
    elif damage == "magic":
        data[16] ^= 1
    elif damage == "cut":
        del data[len(data) // 2 :]
    elif damage == "body":
        # The checksum is right, and what it covers is not what it was.
        del data[-9:-1]
        mend_length(data)
        mend_checksums(data)
    elif damage == "codec":
        place = 22 if is_v2 else 17
        data[place] = data[place] & ~7 | (data[place] + 1) & 7
        mend_checksums(data)
    elif damage == "count":
        struct.pack_into(">i", data, 57, 99)
        mend_checksums(data)
    else:
        struct.pack_into(">q", data, 0, 1 << 40)
    return bytes(data)


def _segments_07() -> Iterator[tuple[str, str, bytes]]:
    good = Message07(SECRET * 9)
    for codec in ("gzip", "snappy"):
        lying = Set07([good, Message07(SECRET * 5, size=20)], codec).encode()
        yield f"v07 {codec} lie", ".kafka", encode_07([good]) + lying + encode_07([good] * 9)
    for number, bad in enumerate(
        [Message07(SECRET, crc=1), Message07(SECRET * 3, size=12), Message07(SECRET, attributes=2)]
    ):
        yield f"v07 {number}", ".kafka", encode_07([good, bad, *[good] * 9])


def write_all(root: Path) -> list[Path]:
    """All of them, each as a partition of its own."""
    paths = []
    for number, (name, suffix, content) in enumerate(segments()):
        directory = root / f"{name.replace(' ', '.')}-{number}"
        directory.mkdir(parents=True)
        path = directory / f"{0:020d}{suffix}"
        path.write_bytes(content)
        paths.append(path)
    return paths
