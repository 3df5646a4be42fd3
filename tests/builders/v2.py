"""v2 batches and records."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from tests.builders.compress import CODEC_NUMBERS, Compressor, compressor
from tests.reference.checksums import crc32c
from tests.reference.cursor import wrap_int64

SOME_TIME = 1_700_000_000_000


def varint(number: int) -> bytes:
    """Encode an int64 as a zigzag varint."""
    rest = (number << 1 ^ number >> 63) & (1 << 64) - 1
    out = bytearray()
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*out, rest])


def varint_bytes(content: bytes | None, length: int | None = None) -> bytes:
    """Encode a nullable byte string after its length; `length` may be wrong."""
    true_length = -1 if content is None else len(content)
    return varint(true_length if length is None else length) + (content or b"")


@dataclass(frozen=True)
class Header:
    """A header of a record. A null name is invalid."""

    name: bytes | None = b"name"
    value: bytes | None = b"value"
    name_length: int | None = None
    value_length: int | None = None

    def encode(self) -> bytes:
        return varint_bytes(self.name, self.name_length) + varint_bytes(self.value, self.value_length)


@dataclass(frozen=True)
class Record:
    """A record of a v2 batch; its offset delta defaults to its index."""

    key: bytes | None = b"key"
    value: bytes | None = b"value"
    headers: Sequence[Header] = ()
    timestamp_delta: int = 0
    offset_delta: int | None = None
    attributes: int = 0
    key_length: int | None = None
    value_length: int | None = None
    header_count: int | None = None
    length: int | bytes | None = None
    """The length field: a number, or the bytes to write for it."""
    extra: bytes = b""
    """Bytes inside the record, after its headers."""

    def encode(self, index: int, timestamp_shift: int = 0) -> bytes:
        body = struct.pack(">b", self.attributes)
        body += varint(wrap_int64(self.timestamp_delta + timestamp_shift))
        body += varint(index if self.offset_delta is None else self.offset_delta)
        body += varint_bytes(self.key, self.key_length) + varint_bytes(self.value, self.value_length)
        body += varint(len(self.headers) if self.header_count is None else self.header_count)
        body += b"".join(header.encode() for header in self.headers) + self.extra
        if isinstance(self.length, bytes):
            return self.length + body
        return varint(len(body) if self.length is None else self.length) + body


@dataclass(frozen=True)
class Batch:
    """A v2 batch. Without records it is what the log cleaner leaves of a batch."""

    records: Sequence[Record] = (Record(),)
    base_offset: int = 0
    codec: str = "none"
    compress: Compressor | None = None
    base_timestamp: int = SOME_TIME
    max_timestamp: int | None = None
    log_append_time: bool = False
    transactional: bool = False
    control: bool = False
    delete_horizon: int | None = None
    """Sets bit 6 and replaces the base timestamp; the records keep their timestamps."""
    leader_epoch: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    last_offset_delta: int | None = None
    count: int | None = None
    length: int | None = None
    crc: int | None = None
    magic: int = 2
    attributes: int | None = None
    payload: bytes | None = None
    """The bytes after the header, as stored."""
    trailing: bytes = b""
    """Bytes after the last record, inside the compressed payload."""

    @property
    def deltas(self) -> list[int]:
        return [i if r.offset_delta is None else r.offset_delta for i, r in enumerate(self.records)]

    @property
    def last_offset(self) -> int:
        delta = self.last_offset_delta
        return self.base_offset + (max(self.deltas, default=0) if delta is None else delta)

    def encode(self) -> bytes:
        covered = self._covered()
        crc = crc32c(covered) if self.crc is None else self.crc
        rest = struct.pack(">ibI", self.leader_epoch, self.magic, crc) + covered
        return struct.pack(">qi", self.base_offset, len(rest) if self.length is None else self.length) + rest

    def _covered(self) -> bytes:
        """The bytes that the CRC covers."""
        times = [wrap_int64(self.base_timestamp + record.timestamp_delta) for record in self.records]
        shown_base = self.base_timestamp if self.records else -1
        return (
            struct.pack(
                ">hiqqqhii",
                self._attributes(),
                self.last_offset - self.base_offset,
                shown_base if self.delete_horizon is None else self.delete_horizon,
                max(times, default=self.base_timestamp) if self.max_timestamp is None else self.max_timestamp,
                self.producer_id,
                self.producer_epoch,
                self.base_sequence,
                len(self.records) if self.count is None else self.count,
            )
            + self._payload()
        )

    def _attributes(self) -> int:
        if self.attributes is not None:
            return self.attributes
        flags = (self.log_append_time, self.transactional, self.control, self.delete_horizon is not None)
        return CODEC_NUMBERS[self.codec] | sum(flag << bit for bit, flag in enumerate(flags, start=3))

    def _payload(self) -> bytes:
        if self.payload is not None:
            return self.payload
        shift = 0 if self.delete_horizon is None else self.base_timestamp - self.delete_horizon
        plain = b"".join(record.encode(i, shift) for i, record in enumerate(self.records)) + self.trailing
        if not plain:
            return b""
        return (self.compress or compressor(self.codec, magic=2))(plain)
