"""The checksum of an entry: its position, the bytes that it covers, and its function.

``_core/checksums.pxd`` has the same rules for compiled code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crc32c import crc32c
from isal.isal_zlib import crc32

from kafkalog_source.format import (
    LEGACY_CRC_OFFSET,
    LEGACY_MAGIC_OFFSET,
    V07_CRC_OFFSET_V0,
    V07_CRC_OFFSET_V1,
    V07_PAYLOAD_OFFSET_V0,
    V07_PAYLOAD_OFFSET_V1,
    V2_ATTRIBUTES_OFFSET,
    V2_CRC_OFFSET,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

_CRC_SIZE = 4


@dataclass(frozen=True, slots=True)
class ChecksumRule:
    """The checksum rule of one format; `update` also takes an entry piece by piece.

    Attributes
    ----------
    position : int
        Position of the four checksum bytes in the entry.
    covered_from : int
        The first byte covered. The checksum covers everything from there to the end of the entry.
    update : callable
        ``f(piece, checksum of the preceding pieces) -> checksum``.
    """

    position: int
    covered_from: int
    update: Callable[[Buffer, int], int]

    def stored(self, entry: Buffer) -> int | None:
        """The checksum stored in an entry, of which only the beginning is needed; None if it ends before that."""
        stored = memoryview(entry)[self.position : self.position + _CRC_SIZE]
        return int.from_bytes(stored, "big") if len(stored) == _CRC_SIZE else None

    def computed(self, entry: Buffer) -> int:
        """The checksum computed from a whole entry."""
        return self.update(memoryview(entry)[self.covered_from :], 0)

    def is_right(self, entry: Buffer) -> bool:
        """Whether the stored and the computed checksum of a whole entry are equal."""
        return self.stored(entry) == self.computed(entry)


_LEGACY = ChecksumRule(LEGACY_CRC_OFFSET, LEGACY_MAGIC_OFFSET, crc32)
_V2 = ChecksumRule(V2_CRC_OFFSET, V2_ATTRIBUTES_OFFSET, crc32c)
_V07 = (
    ChecksumRule(V07_CRC_OFFSET_V0, V07_PAYLOAD_OFFSET_V0, crc32),
    ChecksumRule(V07_CRC_OFFSET_V1, V07_PAYLOAD_OFFSET_V1, crc32),
)


def checksum_rule(magic: int) -> ChecksumRule:
    """The rule for an entry of v0 to v2, by its magic byte."""
    return _V2 if magic == 2 else _LEGACY


def checksums_text(stored: int, computed: int) -> str:
    """Show two checksums that differ, for an error message."""
    return f"stored CRC 0x{stored:08x}, computed 0x{computed:08x}"


def checksum_rule_07(magic: int) -> ChecksumRule:
    """The rule for a message of Kafka 0.7, by its magic byte: the checksum covers only the payload."""
    return _V07[magic]
