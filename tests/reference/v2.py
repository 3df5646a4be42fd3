"""v2 record batches."""

from __future__ import annotations

from dataclasses import dataclass

from tests.reference.checksums import crc32c
from tests.reference.compression import codec_name, decompress
from tests.reference.cursor import Bad, Cursor, wrap_int64
from tests.reference.java_text import java_utf8
from tests.reference.model import Headers, RefBatch, RefRecord

HEADER_SIZE = 61
CRC_STARTS = 21
SMALLEST_RECORD = 7
LARGEST_INT32 = 2**31 - 1
CONTROL_TYPES = (
    "ABORT",
    "COMMIT",
    "LEADER_CHANGE",
    "SNAPSHOT_HEADER",
    "SNAPSHOT_FOOTER",
    "KRAFT_VERSION",
    "KRAFT_VOTERS",
)


@dataclass(frozen=True)
class BatchHeader:
    """The fixed part of a batch, in the order of the bytes."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & 0x08)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & 0x10)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & 0x20)

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta


def read_header(cursor: Cursor) -> BatchHeader:
    return BatchHeader(
        base_offset=cursor.int64("base offset"),
        length=cursor.int32("length"),
        leader_epoch=cursor.int32("leader epoch"),
        magic=cursor.int8("magic"),
        crc=cursor.uint32("crc"),
        attributes=cursor.int16("attributes"),
        last_offset_delta=cursor.int32("last offset delta"),
        base_timestamp=cursor.int64("base timestamp"),
        max_timestamp=cursor.int64("max timestamp"),
        producer_id=cursor.int64("producer id"),
        producer_epoch=cursor.int16("producer epoch"),
        base_sequence=cursor.int32("base sequence"),
        count=cursor.int32("record count"),
    )


def decode_v2(batch: bytes, position: int) -> RefBatch:
    """Decode the batch `batch`, which begins at `position`."""
    if len(batch) < HEADER_SIZE:
        raise Bad(f"v2 batch of {len(batch)} bytes, its header has {HEADER_SIZE}")
    if Cursor(batch[17:CRC_STARTS]).uint32("crc") != crc32c(batch[CRC_STARTS:]):
        raise Bad("CRC-32C is wrong")
    header = read_header(Cursor(batch))
    if header.last_offset_delta < 0:
        raise Bad(f"last offset delta {header.last_offset_delta}")
    records = tuple(_records(header, batch[HEADER_SIZE:], position))
    return RefBatch(position, len(batch), header.base_offset, header.last_offset, records)


def _records(header: BatchHeader, payload: bytes, position: int) -> list[RefRecord]:
    if header.count == 0 and not payload:
        return []
    body = Cursor(decompress(codec_name(header.attributes, magic=2), payload, magic=2))
    if not 0 <= header.count <= len(body.data) // SMALLEST_RECORD:
        raise Bad(f"record count {header.count} for {len(body.data)} bytes of records")
    records: list[RefRecord] = []
    for _ in range(header.count):
        record = _record(header, body, position)
        lowest = records[-1].offset + 1 if records else header.base_offset
        if not lowest <= record.offset <= header.last_offset:
            raise Bad(f"record offset {record.offset} outside {lowest} to {header.last_offset}")
        records.append(record)
    if body.left:
        raise Bad(f"{body.left} bytes after the last record")
    return records


def _record(header: BatchHeader, body: Cursor, position: int) -> RefRecord:
    fields = Cursor(body.take(body.varint32("record length"), "record"))
    fields.int8("record attributes")
    timestamp_delta = fields.varint64("timestamp delta")
    offset_delta = fields.varint32("offset delta")
    key = fields.nullable(fields.varint32("key length"), "key")
    value = fields.nullable(fields.varint32("value length"), "value")
    headers = _headers(fields)
    if fields.left:
        raise Bad(f"{fields.left} bytes of the record are left over")
    timestamp = (
        header.max_timestamp if header.is_log_append_time else wrap_int64(header.base_timestamp + timestamp_delta)
    )
    return RefRecord(
        offset=header.base_offset + offset_delta,
        timestamp_ms=None if timestamp == -1 else timestamp,
        timestamp_type=int(header.is_log_append_time),
        key=key,
        value=value,
        headers=headers,
        leader_epoch=_or_none(header.leader_epoch),
        producer_id=_or_none(header.producer_id),
        producer_epoch=_or_none(header.producer_epoch),
        sequence=_sequence(header.base_sequence, offset_delta),
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        control_type=_control_type(key) if header.is_control else None,
        magic=2,
        compression=codec_name(header.attributes, magic=2),
        batch_position=position,
        batch_base_offset=header.base_offset,
    )


def _headers(fields: Cursor) -> Headers | None:
    count = fields.varint32("header count")
    if not 0 <= count <= fields.left:
        raise Bad(f"header count {count} for {fields.left} bytes")
    headers = []
    for _ in range(count):
        name = fields.take(fields.varint32("header name length"), "header name")
        value = fields.nullable(fields.varint32("header value length"), "header value")
        headers.append((java_utf8(name), value))
    return tuple(headers) or None


def _or_none(number: int) -> int | None:
    return None if number == -1 else number


def _sequence(base: int, delta: int) -> int | None:
    """Compute a sequence number; 2^31-1 is followed by 0."""
    return None if base < 0 else (base + delta) % (LARGEST_INT32 + 1)


def _control_type(key: bytes | None) -> str:
    if key is None or len(key) < 4:
        raise Bad("control record without a whole key")
    cursor = Cursor(key)
    version, kind = cursor.int16("control version"), cursor.int16("control type")
    if version < 0:
        raise Bad(f"control record of version {version}")
    return CONTROL_TYPES[kind] if 0 <= kind < len(CONTROL_TYPES) else "UNKNOWN"
