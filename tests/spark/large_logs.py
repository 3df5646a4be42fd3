"""Logs large enough for Spark to be interrupted in, and batches large enough to need memory."""

from __future__ import annotations

import dataclasses
import random
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import crc32c

from tests.builders import Batch, Header, Record, partition_dir
from tests.builders.compress import CODEC_NUMBERS, Compressor, compressor

MIB = 1 << 20
CODECS = tuple(CODEC_NUMBERS)
_CRC_PLACE = slice(17, 21)
_CRC_FROM = 21


def sealed(batch: Batch) -> bytes:
    """`batch` with a right CRC, from a quicker function than that of the tests' own decoder."""
    data = bytearray(dataclasses.replace(batch, crc=0).encode())
    data[_CRC_PLACE] = struct.pack(">I", crc32c.crc32c(bytes(data[_CRC_FROM:])))
    return bytes(data)


def some_record(chance: random.Random) -> Record:
    """Any of what may be null or empty is so now and then."""
    value = chance.randbytes(60).hex().encode() * chance.randrange(1, 12)
    return Record(
        key=chance.choice([None, b"", chance.randbytes(8)]),
        value=chance.choice([None, b"", value, value, value, value]),
        headers=[Header(b"name", chance.choice([None, b"", b"value"]))] * chance.choice([0, 0, 1, 3]),
        timestamp_delta=chance.randrange(1000),
    )


def write_log_dir(root: Path, segments: int = 3, batches: int = 20, records: int = 200) -> Path:
    """A partition for each codec, about 10 MiB of records each."""
    chance = random.Random(7)
    for partition, codec in enumerate(CODECS):
        directory = partition_dir(root, "orders", partition)
        offset = 0
        for _ in range(segments):
            first, content = offset, bytearray()
            for _ in range(batches):
                some = [some_record(chance) for _ in range(records)]
                content += sealed(Batch(records=some, base_offset=offset, codec=codec))
                offset += records
            (directory / f"{first:020d}.log").write_bytes(content)
    return root


def large_batch(base_offset: int, records: Sequence[bytes], codec: str, compress: Compressor | None = None) -> bytes:
    """A v2 batch of records that are encoded already."""
    payload = (compress or compressor(codec, magic=2))(b"".join(records))
    count = len(records)
    return sealed(
        Batch(base_offset=base_offset, codec=codec, payload=payload, count=count, last_offset_delta=count - 1)
    )


def wrapper_of_one(offset: int, value: bytes, codec: str) -> bytes:
    """A v1 wrapper of one message."""
    inner = _message(offset, 0, value)
    return _message(offset, CODEC_NUMBERS[codec], compressor(codec, magic=1)(inner))


def _message(offset: int, attributes: int, value: bytes) -> bytes:
    covered = struct.pack(">bbqii", 1, attributes, 0, -1, len(value)) + value
    return struct.pack(">qiI", offset, 4 + len(covered), zlib.crc32(covered)) + covered
