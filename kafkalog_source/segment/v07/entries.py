"""Kafka 0.7: message headers in order, and the proof that a message begins at a position.

A message does not store its position, and its checksum covers only the payload.
So the proof is weaker than for later formats: a message of Kafka 0.7 inside a
payload cannot be distinguished from one of the log.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source._core.walk07 import Entries07
from kafkalog_source.batch.checksum import checksum_rule_07
from kafkalog_source.errors import CorruptBatchError
from kafkalog_source.format import (
    MAX_OFFSET,
    NO_TIMESTAMP,
    V07_ATTRIBUTES_OFFSET,
    V07_CODEC_MASK,
    V07_MAGIC_OFFSET,
    V07_PAYLOAD_OFFSET_V0,
)
from kafkalog_source.segment.entries import EntryHeader, walk_runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source._core.memory import Scratch
    from kafkalog_source.segment.source import LocalFile

SMALLEST_SIZE = V07_PAYLOAD_OFFSET_V0
LARGEST_CHECKED = 64 << 20
_PROOF_BYTES = 8
_PROOF_MESSAGES = 4


@dataclass(frozen=True, slots=True)
class MessageHeader07(EntryHeader):
    """The header of a top-level message of Kafka 0.7; both offsets are its position in the log."""

    @property
    def next_offset(self) -> int:
        """The offset of the message after it."""
        return self.first_offset + self.size


def check_reach(path: str, base_offset: int, size: int) -> None:
    """Raise CorruptBatchError for a segment whose positions exceed the largest possible offset."""
    if base_offset + size > MAX_OFFSET:
        raise CorruptBatchError(
            "the positions in this segment exceed the largest possible offset",
            file=path,
            found=f"base offset {base_offset} and {size} bytes",
            expected=f"an end at or below {MAX_OFFSET}",
            remedy="The name of a Kafka 0.7 segment is its position in the log: check the name",
        )


class _EntriesInOrder07(Entries07):
    """Messages of windows each of which begins where the walk of the one before it ended."""

    def walk(self, window: Scratch, size: int, left: int = 0) -> int:
        code = super().walk(window, size, left)
        self.origin += self.walked
        return code


class MessageWalk07:
    """The `HeaderWalk` of messages of Kafka 0.7 from position `start` on, up to the first at or above offset `stop`."""

    def __init__(self, start: int, base_offset: int, bound: int, stop: int = MAX_OFFSET) -> None:
        self.entries: Entries07 = _EntriesInOrder07(least=base_offset, bound=bound, stop=stop)
        self.entries.origin = base_offset + start
        self._base_offset = base_offset

    def header(self, data: memoryview, position: int, index: int) -> MessageHeader07:
        """See `HeaderWalk`."""
        at, size, magic, attributes, *_ = self.entries.entry(index)
        return _header(self._base_offset, position + at, size, magic, attributes)


def walk_headers_07(source: LocalFile, start: int, base_offset: int, bound: int) -> Iterator[EntryHeader]:
    """Yield the headers from position `start` on, up to the end of the file or the first invalid one."""
    for run in walk_runs(source, start, MessageWalk07(start, base_offset, bound)):
        for index in range(run.count):
            yield run.header(index)


def walk_to_07(
    source: LocalFile, start: int, base_offset: int, bound: int, stop: int = MAX_OFFSET
) -> tuple[int, EntryHeader | None]:
    """Walk from position `start` to the first message at or above offset `stop`, or to the first invalid header.

    Returns
    -------
    tuple of (int, EntryHeader or None)
        The position reached and the last header before it. No Python object is created for other headers.
    """
    last: EntryHeader | None = None
    for run in walk_runs(source, start, MessageWalk07(start, base_offset, bound, stop)):
        last = run.header(run.count - 1)
    return start if last is None else last.position + last.size, last


def read_header_07(source: LocalFile, position: int, base_offset: int, bound: int) -> MessageHeader07 | None:
    """Return the header at `position`; None if it is invalid or its message exceeds the file or `bound`."""
    header = _header_in(source.read(position, V07_ATTRIBUTES_OFFSET + 1), position, base_offset)
    if header is None or header.size > source.size - position or header.next_offset > bound:
        return None
    return header


def _header_in(head: bytes, position: int, base_offset: int) -> MessageHeader07 | None:
    """Return the header at the start of `head`, wherever its message ends; None if it is invalid."""
    if len(head) < V07_ATTRIBUTES_OFFSET:
        return None
    length, magic = struct.unpack_from(">ib", head)
    size = V07_MAGIC_OFFSET + length
    if magic not in (0, 1) or size < SMALLEST_SIZE + magic or len(head) < V07_ATTRIBUTES_OFFSET + magic:
        return None
    return _header(base_offset, position, size, magic, head[V07_ATTRIBUTES_OFFSET] if magic else 0)


def _header(base_offset: int, position: int, size: int, magic: int, attributes: int) -> MessageHeader07:
    offset = base_offset + position
    compressed = attributes & V07_CODEC_MASK != 0
    times = (NO_TIMESTAMP, NO_TIMESTAMP, NO_TIMESTAMP)
    return MessageHeader07(position, size, magic, compressed, offset, offset, *times, None if compressed else 1)


def message_is_sound(source: LocalFile, position: int, end: int) -> bool:
    """Whether [position, end) is a message with a correct checksum, whatever its length field says."""
    if end - position > LARGEST_CHECKED:
        return False
    message = source.read(position, end - position)
    if len(message) < end - position or len(message) < SMALLEST_SIZE or message[V07_MAGIC_OFFSET] > 1:
        return False
    return checksum_rule_07(message[V07_MAGIC_OFFSET]).is_right(message)


def sound_header_at(source: LocalFile, position: int, base_offset: int, bound: int) -> MessageHeader07 | None:
    """Return the header of the message at `position`; None unless one with a correct checksum begins there."""
    header = read_header_07(source, position, base_offset, bound)
    if header is None or not message_is_sound(source, position, position + header.size):
        return None
    return header


def message_begins_at(source: LocalFile, position: int, base_offset: int, bound: int) -> bool:
    """Whether a message begins at `position`, as far as checksums can prove it."""
    proof = Proof()
    while not proof.is_enough:
        header = sound_header_at(source, position, base_offset, bound)
        if header is None:
            return proof.is_enough_at_end and position == source.size
        proof.add(header)
        position += header.size
    return True


class Proof:
    """Counts how much payload the correct checksums of consecutive messages cover.

    The checksum of an empty payload is zero, so a message without payload proves little: a few zeros and a length of 5
    look like one. The messages after it have to be valid too, until enough payload is covered.

    Parameters
    ----------
    needed : int, optional
        Payload bytes that are enough. By default a few bytes are enough, or a few messages.
    """

    def __init__(self, needed: int | None = None) -> None:
        self._needed = _PROOF_BYTES if needed is None else needed
        self._messages_needed = _PROOF_MESSAGES if needed is None else None
        self._payload_bytes = 0
        self._messages = 0

    def add(self, header: MessageHeader07) -> None:
        """Count one more message."""
        self._payload_bytes += header.size - SMALLEST_SIZE - header.magic
        self._messages += 1

    @property
    def is_enough(self) -> bool:
        """Whether the messages so far cannot be chance."""
        by_count = self._messages_needed is not None and self._messages >= self._messages_needed
        return by_count or self._payload_bytes >= self._needed

    @property
    def is_enough_at_end(self) -> bool:
        """As `is_enough`, if the file ends with the last message."""
        return self.is_enough or (self._messages_needed is not None and self._messages > 1)
