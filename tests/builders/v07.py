"""Messages of Kafka 0.7 and compressed, nested sets of them, valid or with any field wrong."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.builders.compress import CODEC_NUMBERS, Compressor, compressor
from tests.reference.checksums import crc32


class Encoded07(Protocol):
    """A message or a compressed set."""

    def encode(self) -> bytes: ...


@dataclass(frozen=True)
class Message07:
    """A message whose payload is `value`; with a codec in `attributes`, readers treat it as compressed."""

    value: bytes = b"value of 0.7"
    magic: int = 1
    attributes: int = 0
    size: int | None = None
    crc: int | None = None

    def encode(self) -> bytes:
        head = struct.pack(">b", self.magic) + (struct.pack(">B", self.attributes) if self.magic else b"")
        crc = crc32(self.value) if self.crc is None else self.crc
        body = head + struct.pack(">I", crc) + self.value
        return struct.pack(">i", len(body) if self.size is None else self.size) + body


@dataclass(frozen=True)
class Set07:
    """A compressed set of messages, which may be compressed themselves."""

    messages: Sequence[Encoded07] = (Message07(),)
    codec: str = "gzip"
    compress: Compressor | None = None
    high_attributes: int = 0
    """The bits of the attributes above the codec's two."""
    trailing: bytes = b""
    """Bytes after the last message."""

    def encode(self) -> bytes:
        payload = (self.compress or compressor(self.codec, 0))(encode_07(self.messages) + self.trailing)
        return Message07(payload, attributes=CODEC_NUMBERS[self.codec] | self.high_attributes).encode()


def encode_07(messages: Iterable[Encoded07]) -> bytes:
    """Return the bytes of a segment or a set."""
    return b"".join(message.encode() for message in messages)


def write_segment_07(directory: Path, content: bytes | Iterable[Encoded07], *, base_offset: int = 0) -> Path:
    """Write a segment, and return its path."""
    path = directory / f"{base_offset:020d}.kafka"
    path.write_bytes(content if isinstance(content, bytes) else encode_07(content))
    return path
