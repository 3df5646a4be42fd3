"""Reading big-endian numbers and varints from bytes, never past their end."""

from __future__ import annotations

import struct

INT64_SPAN = 1 << 64


class Bad(Exception):
    """Invalid bytes; the caller adds the position of the entry."""


class Cursor:
    """A position in `data` that moves forward."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, size: int, what: str) -> bytes:
        """Read `size` bytes."""
        if size < 0 or size > self.left:
            raise Bad(f"{what} needs {size} bytes, {self.left} are left")
        piece = self.data[self.at : self.at + size]
        self.at += size
        return piece

    def _number(self, layout: str, what: str) -> int:
        (number,) = struct.unpack(layout, self.take(struct.calcsize(layout), what))
        return int(number)

    def int8(self, what: str) -> int:
        return self._number(">b", what)

    def int16(self, what: str) -> int:
        return self._number(">h", what)

    def int32(self, what: str) -> int:
        return self._number(">i", what)

    def uint32(self, what: str) -> int:
        return self._number(">I", what)

    def int64(self, what: str) -> int:
        return self._number(">q", what)

    def varint32(self, what: str) -> int:
        """Read a zigzag varint of at most 5 bytes; bits above 32 are ignored, as by Kafka."""
        return self._zigzag(what, most_bytes=5, bits=32)

    def varint64(self, what: str) -> int:
        """Read a zigzag varint of at most 10 bytes; bits above 64 are ignored."""
        return self._zigzag(what, most_bytes=10, bits=64)

    def _zigzag(self, what: str, most_bytes: int, bits: int) -> int:
        raw = 0
        for index in range(most_bytes):
            byte = self.take(1, what)[0]
            raw |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                raw &= (1 << bits) - 1
                return (raw >> 1) ^ -(raw & 1)
        raise Bad(f"{what} is a varint longer than {most_bytes} bytes")

    def nullable(self, length: int, what: str) -> bytes | None:
        """Read `length` bytes; any negative length is null."""
        return None if length < 0 else self.take(length, what)


def wrap_int64(number: int) -> int:
    """Wrap `number` around as int64 arithmetic does."""
    return (number + INT64_SPAN // 2) % INT64_SPAN - INT64_SPAN // 2
