"""v0 and v1 messages, and wrappers of compressed messages."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from tests.builders.compress import CODEC_NUMBERS, Compressor, compressor
from tests.builders.v2 import SOME_TIME
from tests.reference.checksums import crc32


def int32_bytes(content: bytes | None, length: int | None) -> bytes:
    """Encode a nullable byte string after its int32 length, which may be wrong."""
    true_length = -1 if content is None else len(content)
    return struct.pack(">i", true_length if length is None else length) + (content or b"")


@dataclass(frozen=True)
class Message:
    """A v0 or v1 entry that is not a wrapper."""

    key: bytes | None = b"key"
    value: bytes | None = b"value"
    offset: int = 0
    magic: int = 1
    timestamp: int = SOME_TIME
    log_append_time: bool = False
    attributes: int | None = None
    size: int | None = None
    crc: int | None = None
    key_length: int | None = None
    value_length: int | None = None
    extra: bytes = b""
    """Bytes after the value."""

    @property
    def last_offset(self) -> int:
        return self.offset

    def encode(self) -> bytes:
        attributes = self.log_append_time << 3 if self.attributes is None else self.attributes
        covered = struct.pack(">bb", self.magic, attributes)
        if self.magic != 0:
            covered += struct.pack(">q", self.timestamp)
        covered += int32_bytes(self.key, self.key_length) + int32_bytes(self.value, self.value_length)
        covered += self.extra
        crc = crc32(covered) if self.crc is None else self.crc
        size = 4 + len(covered) if self.size is None else self.size
        return struct.pack(">qiI", self.offset, size, crc) + covered


@dataclass(frozen=True)
class Wrapper:
    """A compressed set of messages, whose `offset` fields are absolute.

    A wrapper of magic 1 stores them relative to the first, one of magic 0 as they
    are; `relative` overrides that.
    """

    messages: Sequence[Message] = (Message(),)
    codec: str = "gzip"
    magic: int = 1
    offset: int | None = None
    relative: bool | None = None
    timestamp: int | None = None
    log_append_time: bool = False
    compress: Compressor | None = None
    inner: bytes | None = None
    """The uncompressed inner entries, in place of the messages."""
    trailing: bytes = b""
    """Bytes after the last inner entry."""
    envelope: Message = dataclasses.field(default_factory=lambda: Message(key=None, value=b"\0"))
    """The outer entry. A value other than one zero byte is used as it is, and so are wrong fields."""

    @property
    def last_offset(self) -> int:
        return max((message.offset for message in self.messages), default=0) if self.offset is None else self.offset

    def encode(self) -> bytes:
        attributes = CODEC_NUMBERS[self.codec] | self.log_append_time << 3
        if self.envelope.attributes is not None:
            attributes = self.envelope.attributes
        times = [message.timestamp for message in self.messages]
        return dataclasses.replace(
            self.envelope,
            value=self._value() if self.envelope.value == b"\0" else self.envelope.value,
            offset=self.last_offset,
            magic=self.magic,
            timestamp=max(times, default=-1) if self.timestamp is None else self.timestamp,
            attributes=attributes,
        ).encode()

    def _value(self) -> bytes:
        plain = b"".join(message.encode() for message in self._stored()) if self.inner is None else self.inner
        return (self.compress or compressor(self.codec, self.magic))(plain + self.trailing)

    def _stored(self) -> list[Message]:
        relative = self.magic == 1 if self.relative is None else self.relative
        base = self.messages[0].offset if relative and self.messages else 0
        return [dataclasses.replace(message, offset=message.offset - base) for message in self.messages]
