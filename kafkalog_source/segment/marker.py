"""Transaction markers: what a control batch says of the transaction that it ends (``EndTransactionMarker``, 4.4)."""

from __future__ import annotations

import struct
from typing import NamedTuple

from kafkalog_source.format import V2_HEADER_SIZE, ControlType

__all__ = ["Marker", "parse_marker"]

_KEY = struct.Struct(">hh")
"""Version and type."""
_VALUE = struct.Struct(">hi")
"""Version and coordinator epoch; later versions append fields."""
_MOST_VARINT = 10


class Marker(NamedTuple):
    """One marker.

    Attributes
    ----------
    is_commit : bool
    coordinator_epoch : int or None
        None if its value does not hold it.
    """

    is_commit: bool
    coordinator_epoch: int | None


def parse_marker(batch: bytes) -> Marker | None:
    """The marker in an uncompressed control batch; None if its record is cut or of another type.

    Parameters
    ----------
    batch : bytes
        The whole batch, with a right checksum.
    """
    record = _Cursor(batch, V2_HEADER_SIZE)
    try:
        # The record's length, attributes, and the deltas of timestamp and offset come before its key.
        record.varint()
        record.take(1)
        record.varint()
        record.varint()
        key, value = record.sized(), record.sized()
    except ValueError:
        return None
    if len(key) < _KEY.size or _KEY.unpack_from(key)[1] not in (ControlType.ABORT, ControlType.COMMIT):
        return None
    epoch = _VALUE.unpack_from(value)[1] if len(value) >= _VALUE.size else None
    return Marker(_KEY.unpack_from(key)[1] == ControlType.COMMIT, epoch)


class _Cursor:
    """Reads fields one after another; ValueError where the bytes end."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position

    def take(self, count: int) -> bytes:
        end = self._position + count
        if count < 0 or end > len(self._data):
            raise ValueError
        found, self._position = self._data[self._position : end], end
        return found

    def varint(self) -> int:
        """A zigzag number of at most ten bytes."""
        number = 0
        for index in range(_MOST_VARINT):
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return (number >> 1) ^ -(number & 1)
        raise ValueError

    def sized(self) -> bytes:
        """Bytes after their length; empty for null."""
        length = self.varint()
        return b"" if length == -1 else self.take(length)
