"""Segments of Kafka 0.7: messages without offsets, nested sets by recursion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.reference.checksums import crc32
from tests.reference.compression import CODECS, decompress
from tests.reference.cursor import Bad, Cursor
from tests.reference.model import RefCorrupt, RefRecord

SMALLEST_LENGTH = 5
DEEPEST = 8
ENOUGH_BYTES, ENOUGH_MESSAGES = 8, 4
"""How much correct checksums have to cover before a position counts as the start of a message."""
MORE_THAN_A_SET_STORES = 1 << 16


@dataclass(frozen=True)
class Plain:
    """A message as stored in a file or a set."""

    magic: int
    codec: str
    payload: bytes
    size: int


def decode_segment_07(data: bytes, *, base_offset: int = 0) -> list[RefRecord]:
    """Return every record of a segment.

    Raises
    ------
    RefCorrupt
        At the first damage. A torn or zeroed tail is not damage.
    """
    records: list[RefRecord] = []
    at = 0
    while at < len(data) and any(data[at:]):
        try:
            outer = read_message(data, at)
            records += [_record(inner, outer, at, base_offset) for inner in flat(outer)]
        except Bad as error:
            if _is_torn(data, at):
                return records
            raise RefCorrupt(at, str(error)) from error
        at += outer.size
    return records


def read_message(data: bytes, at: int) -> Plain:
    """Read the message at `at`, and check its length and checksum."""
    cursor = Cursor(data[at:])
    length = cursor.int32("length")
    body = Cursor(cursor.take(length, "message"))
    magic = body.int8("magic")
    if magic not in (0, 1):
        raise Bad(f"magic {magic}")
    codec = body.int8("attributes") & 3 if magic else 0
    crc = body.uint32("crc")
    payload = body.take(body.left, "payload")
    if crc != crc32(payload):
        raise Bad("CRC-32 is wrong")
    if codec > 2:
        raise Bad(f"codec {codec} does not exist in 0.7")
    return Plain(magic, CODECS[codec], payload, 4 + length)


def flat(message: Plain, depth: int = 0) -> Iterator[Plain]:
    """Yield the uncompressed messages in `message`, or itself."""
    if message.codec == "none":
        yield message
        return
    if depth == DEEPEST:
        raise Bad("sets are nested too deeply")
    content = decompress(message.codec, message.payload, 0)
    at = 0
    while at < len(content):
        inner = read_message(content, at)
        yield from flat(inner, depth + 1)
        at += inner.size


def _is_torn(data: bytes, at: int) -> bool:
    """Whether a message truncated by the end of the data begins at `at`, and no message of the log follows."""
    left = len(data) - at
    length = int.from_bytes(data[at : at + 4], "big", signed=True)
    if left >= 4 and (length < SMALLEST_LENGTH or 4 + length <= left):
        return False
    if left > 4 and (data[at + 4] > 1 or length < SMALLEST_LENGTH + data[at + 4]):
        return False
    compressed = left > 5 and data[at + 4] == 1 and data[at + 5] & 3 in (1, 2)
    sound = [place for place in range(at + 1, len(data)) if is_sound(data, place)]
    if any(ends_at(data, at, place) for place in sound):
        return False
    return ends_at(data, at, len(data)) or not any(begins_at(data, place, compressed) for place in sound)


def is_sound(data: bytes, at: int) -> bool:
    """Whether a message with a correct checksum begins at `at`."""
    try:
        read_message(data, at)
    except Bad as error:
        return str(error).startswith("codec")
    return True


def ends_at(data: bytes, at: int, end: int) -> bool:
    """Whether the checksum of the message at `at` is correct if it ends at `end`, whatever its length field says."""
    return any(
        end >= at + size and int.from_bytes(data[at + size - 4 : at + size], "big") == crc32(data[at + size : end])
        for size in (9, 10)
    )


def begins_at(data: bytes, at: int, in_a_set: bool) -> bool:
    """Whether correct checksums prove that a message of the log, and not of a damaged set, begins at `at`."""
    payload = messages = 0
    while in_a_set or messages < ENOUGH_MESSAGES:
        if payload >= (MORE_THAN_A_SET_STORES if in_a_set else ENOUGH_BYTES):
            return True
        if at == len(data) or not is_sound(data, at):
            return at == len(data) and messages > 1 and not in_a_set
        size = 4 + int.from_bytes(data[at : at + 4], "big")
        payload, messages, at = payload + size - 9 - data[at + 4], messages + 1, at + size
    return True


def _record(inner: Plain, outer: Plain, position: int, base_offset: int) -> RefRecord:
    return RefRecord(
        offset=base_offset + position,
        timestamp_ms=None,
        timestamp_type=-1,
        key=None,
        value=inner.payload,
        headers=None,
        leader_epoch=None,
        producer_id=None,
        producer_epoch=None,
        sequence=None,
        is_transactional=False,
        is_control=False,
        control_type=None,
        magic=inner.magic,
        compression=outer.codec,
        batch_position=position,
        batch_base_offset=base_offset + position,
    )
