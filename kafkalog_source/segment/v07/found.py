"""The header fields of a Kafka 0.7 message that an error message shows as found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.codes import CODE
from kafkalog_source.batch.checksum import checksum_rule_07, checksums_text
from kafkalog_source.format import V07_ATTRIBUTES_OFFSET, V07_CODEC_MASK, V07_MAGIC_OFFSET, V07_PAYLOAD_OFFSET_V1
from kafkalog_source.segment.damage.found import bytes_left
from kafkalog_source.segment.v07.entries import LARGEST_CHECKED, SMALLEST_SIZE

if TYPE_CHECKING:
    from kafkalog_source.segment.source import LocalFile


def found_in_message(source: LocalFile, position: int, end: int, code: int) -> str | None:
    """As `found_in_batch`, for the message of Kafka 0.7 at `position`."""
    head = source.read(position, min(V07_PAYLOAD_OFFSET_V1, end - position))
    length = int.from_bytes(head[:V07_MAGIC_OFFSET], "big", signed=True) if len(head) >= V07_MAGIC_OFFSET else None
    if code == CODE["incomplete"]:
        return bytes_left(length, V07_MAGIC_OFFSET, end - position)
    if length is None or len(head) <= V07_ATTRIBUTES_OFFSET:
        return None
    if code == CODE["bad_length"]:
        return f"length {length}"
    if code == CODE["bad_magic"]:
        return f"magic {int.from_bytes(head[V07_MAGIC_OFFSET:V07_ATTRIBUTES_OFFSET], 'big', signed=True)}"
    if code == CODE["bad_codec"] and head[V07_MAGIC_OFFSET]:
        return f"codec {head[V07_ATTRIBUTES_OFFSET] & V07_CODEC_MASK}"
    return _checksums(source, position, V07_MAGIC_OFFSET + length) if code == CODE["bad_crc"] else None


def _checksums(source: LocalFile, position: int, size: int) -> str | None:
    message = source.read(position, size) if size <= LARGEST_CHECKED else b""
    if len(message) < max(size, SMALLEST_SIZE) or message[V07_MAGIC_OFFSET] > 1:
        return None
    rule = checksum_rule_07(message[V07_MAGIC_OFFSET])
    stored, computed = rule.stored(message), rule.computed(message)
    return None if stored is None or stored == computed else checksums_text(stored, computed)
