"""v0 and v1 entries, plain and as wrappers of compressed entries."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from tests.reference.checksums import crc32
from tests.reference.compression import codec_name, decompress
from tests.reference.cursor import Bad, Cursor
from tests.reference.model import RefBatch, RefRecord

SMALLEST = {0: 14, 1: 22}
NO_TIMESTAMP = -1
NO_TIMESTAMP_TYPE, CREATE_TIME, LOG_APPEND_TIME = -1, 0, 1


@dataclass(frozen=True)
class Entry:
    """One entry as stored in the file or inside a wrapper."""

    offset: int
    magic: int
    codec: str
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None


def read_entry(cursor: Cursor) -> Entry:
    """Read the entry at the cursor, and check its CRC and every length."""
    offset = cursor.int64("offset")
    size = cursor.int32("size")
    if size < SMALLEST[0]:
        raise Bad(f"entry of {size} bytes, the smallest has {SMALLEST[0]}")
    body = Cursor(cursor.take(size, "entry"))
    if body.uint32("crc") != crc32(body.data[4:]):
        raise Bad("CRC-32 is wrong")
    magic = body.int8("magic")
    if magic not in SMALLEST:
        raise Bad(f"magic {magic} in a v0 or v1 entry")
    attributes = body.int8("attributes")
    timestamp, timestamp_type = NO_TIMESTAMP, NO_TIMESTAMP_TYPE
    if magic == 1:
        timestamp = body.int64("timestamp")
        timestamp_type = LOG_APPEND_TIME if attributes & 8 else CREATE_TIME
    key = body.nullable(body.int32("key length"), "key")
    value = body.nullable(body.int32("value length"), "value")
    if body.left:
        raise Bad(f"{body.left} bytes after the value")
    return Entry(offset, magic, codec_name(attributes, magic), timestamp, timestamp_type, key, value)


def decode_legacy(entry_bytes: bytes, position: int) -> RefBatch:
    """Decode the top-level v0 or v1 entry that begins at `position`."""
    outer = read_entry(Cursor(entry_bytes))
    inner = [outer] if outer.codec == "none" else unwrap(outer)
    first = inner[0].offset
    records = tuple(_record(entry, outer, position, first) for entry in inner)
    return RefBatch(position, len(entry_bytes), first, inner[-1].offset, records)


def unwrap(outer: Entry) -> list[Entry]:
    """Return the entries inside a wrapper, with absolute offsets and the timestamps that a consumer sees."""
    if outer.value is None:
        raise Bad("wrapper with a null value")
    cursor = Cursor(decompress(outer.codec, outer.value, outer.magic))
    inner = []
    while cursor.left:
        inner.append(read_entry(cursor))
    if not inner:
        raise Bad("wrapper without entries")
    if any(entry.codec != "none" for entry in inner):
        raise Bad("compressed entry inside a wrapper")
    base = _absolute_base(outer, inner)
    inner = [_seen_from_outside(entry, outer, base) for entry in inner]
    if any(later.offset <= earlier.offset for earlier, later in itertools.pairwise(inner)):
        raise Bad("offsets inside the wrapper do not increase")
    return inner


def _absolute_base(outer: Entry, inner: list[Entry]) -> int:
    """The number to add to inner offsets: those of v0 wrappers are absolute, those of v1 relative."""
    last = inner[-1].offset
    if outer.magic == 1 and outer.offset == 0:
        return 0
    if outer.offset < last:
        raise Bad(f"wrapper at offset {outer.offset} with a last inner offset of {last}")
    return 0 if outer.magic == 0 else outer.offset - last


def _seen_from_outside(entry: Entry, outer: Entry, base: int) -> Entry:
    """Give a v1 entry the wrapper's timestamp type, also that of a v0 wrapper, which is none."""
    timestamp, timestamp_type = entry.timestamp, entry.timestamp_type
    if entry.magic == 1:
        timestamp_type = outer.timestamp_type
        if timestamp_type == LOG_APPEND_TIME:
            timestamp = outer.timestamp
    return Entry(base + entry.offset, entry.magic, "none", timestamp, timestamp_type, entry.key, entry.value)


def _record(entry: Entry, outer: Entry, position: int, base_offset: int) -> RefRecord:
    return RefRecord(
        offset=entry.offset,
        timestamp_ms=None if entry.timestamp == NO_TIMESTAMP else entry.timestamp,
        timestamp_type=entry.timestamp_type,
        key=entry.key,
        value=entry.value,
        headers=None,
        leader_epoch=None,
        producer_id=None,
        producer_epoch=None,
        sequence=None,
        is_transactional=False,
        is_control=False,
        control_type=None,
        magic=entry.magic,
        compression=outer.codec,
        batch_position=position,
        batch_base_offset=base_offset,
    )
