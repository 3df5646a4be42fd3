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
"""What right checksums have to cover before a place counts as a message's beginning."""
MORE_THAN_A_SET_STORES = 1 << 16


@dataclass(frozen=True)
class Plain:
    """A message as it lies in a file or a set."""

    magic: int
    codec: str
    payload: bytes
    size: int


def decode_segment_07(data: bytes, *, base_offset: int = 0) -> list[RefRecord]:
    """Every record of a segment that is read by its own path.

    Raises
    ------
    RefCorrupt
        At the first damage. A torn or zeroed tail is none.
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
    """The message at `at`, its length and checksum checked."""
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
    """The plain messages in `message`, or itself."""
    if message.codec == "none":
        yield message
        return
    if depth == DEEPEST:
        raise Bad("sets lie too deep inside each other")
    content = decompress(message.codec, message.payload, 0)
    at = 0
    while at < len(content):
        inner = read_message(content, at)
        yield from flat(inner, depth + 1)
        at += inner.size


def _is_torn(data: bytes, at: int) -> bool:
    """Whether what begins at `at` is a message that the end of the data cuts, and none of the log follows."""
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
    """Whether a message with a right checksum begins at `at`."""
    try:
        read_message(data, at)
    except Bad as error:
        return str(error).startswith("codec")
    return True


def ends_at(data: bytes, at: int, end: int) -> bool:
    """Whether the message at `at` has the right checksum if it ends at `end`, whatever its length says."""
    return any(
        end >= at + size and int.from_bytes(data[at + size - 4 : at + size], "big") == crc32(data[at + size : end])
        for size in (9, 10)
    )


def begins_at(data: bytes, at: int, in_a_set: bool) -> bool:
    """Whether right checksums prove that a message begins at `at`, which may lie in a damaged set as it is."""
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
