"""Small segments of every format with one length or count field replaced, and the CRC mended."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tests.builders import Batch, Header, Message, Record, Wrapper, encode
from tests.builders.disk import Entry
from tests.builders.v07 import Message07, Set07, encode_07
from tests.builders.v2 import varint

NUMBERS = (2**31 - 1, 2**31, -1, -(2**31))
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
RECORDS = (Record(b"k0", b"v0", (Header(b"n", b"v"),)), Record(b"k1", b"v1", (Header(b"m", b"w"), Header(b"o", None))))


def int32(number: int) -> int:
    """The number that an int32 field with these bits holds."""
    return (number + 2**31) % 2**32 - 2**31


def around(bad: Entry) -> bytes:
    """The bad entry at offset 10 between good ones."""
    return encode([Batch(RECORDS, 0), bad, Batch(RECORDS, 20)])


def cases_v2() -> Iterator[tuple[str, bytes]]:
    """Name and segment."""
    for number in NUMBERS:
        fixed = int32(number)
        for codec in CODECS:
            good = Batch(RECORDS, 10, codec)
            name = f"v2 {codec} {number}"
            yield f"{name} length", around(dataclasses.replace(good, length=fixed))
            yield f"{name} count", around(dataclasses.replace(good, count=fixed))
            yield f"{name} last offset delta", around(dataclasses.replace(good, last_offset_delta=fixed))
            for field, record in _records(number):
                yield (
                    f"{name} record {field}",
                    around(dataclasses.replace(good, records=(record, RECORDS[1]), last_offset_delta=1)),
                )


def _records(number: int) -> Iterator[tuple[str, Record]]:
    good = RECORDS[0]
    yield "length", dataclasses.replace(good, length=varint(number))
    yield "offset delta", dataclasses.replace(good, offset_delta=number)
    yield "key length", dataclasses.replace(good, key_length=number)
    yield "value length", dataclasses.replace(good, value_length=number)
    yield "header count", dataclasses.replace(good, header_count=number)
    yield "header name length", dataclasses.replace(good, headers=[Header(b"n", b"v", name_length=number)])
    yield "header value length", dataclasses.replace(good, headers=[Header(b"n", b"v", value_length=number)])


def cases_legacy() -> Iterator[tuple[str, bytes]]:
    for number in map(int32, NUMBERS):
        for magic in (0, 1):
            for field, message in _messages(number, magic):
                yield f"v{magic} {number} {field}", around(dataclasses.replace(message, offset=10))
                for codec in CODECS[1:4]:
                    inner = [Message(offset=9, magic=magic), dataclasses.replace(message, offset=10)]
                    yield f"v{magic} {codec} {number} inner {field}", around(Wrapper(inner, codec, magic))
            envelope = Message(None, b"\0", value_length=number)
            yield (
                f"v{magic} wrapper {number}",
                around(Wrapper([Message(offset=10, magic=magic)], magic=magic, envelope=envelope)),
            )


def _messages(number: int, magic: int) -> Iterator[tuple[str, Message]]:
    yield "size", Message(magic=magic, size=number)
    yield "key length", Message(magic=magic, key_length=number)
    yield "value length", Message(magic=magic, value_length=number)


def cases_07() -> Iterator[tuple[str, bytes]]:
    good = Message07(b"good")
    for number in map(int32, NUMBERS):
        bad = Message07(b"bad", size=number)
        yield f"v07 {number} size", encode_07([good, bad, *[good] * 9])
        for codec in ("gzip", "snappy"):
            yield f"v07 {codec} {number} inner size", encode_07([good, Set07([good, bad], codec), *[good] * 9])
            nested = Set07([good, Set07([bad], codec)], codec)
            yield f"v07 {codec} {number} nested size", encode_07([good, nested, *[good] * 9])
