"""Whether the checksum of an entry is right: where it stands, what it covers, by which function.

Here for Python, in ``_core/checksums.pxd`` for compiled code.
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
    """How the checksum of one format is found and compared, also of an entry that is read in pieces.

    Attributes
    ----------
    position : int
        Where the checksum stands in the entry, four bytes.
    covered_from : int
        The first byte that it covers; it covers all from there to the entry's end.
    update : callable
        ``f(piece, checksum of what came before) -> checksum``.
    """

    position: int
    covered_from: int
    update: Callable[[Buffer, int], int]

    def stored(self, entry: Buffer) -> int | None:
        """The checksum that an entry carries, of which the beginning is enough; None if it is cut before."""
        stored = memoryview(entry)[self.position : self.position + _CRC_SIZE]
        return int.from_bytes(stored, "big") if len(stored) == _CRC_SIZE else None

    def computed(self, entry: Buffer) -> int:
        """The checksum of an entry's bytes."""
        return self.update(memoryview(entry)[self.covered_from :], 0)

    def is_right(self, entry: Buffer) -> bool:
        """Whether the bytes of an entry are those that were written."""
        return self.stored(entry) == self.computed(entry)


_LEGACY = ChecksumRule(LEGACY_CRC_OFFSET, LEGACY_MAGIC_OFFSET, crc32)
_V2 = ChecksumRule(V2_CRC_OFFSET, V2_ATTRIBUTES_OFFSET, crc32c)
_V07 = (
    ChecksumRule(V07_CRC_OFFSET_V0, V07_PAYLOAD_OFFSET_V0, crc32),
    ChecksumRule(V07_CRC_OFFSET_V1, V07_PAYLOAD_OFFSET_V1, crc32),
)


def checksum_rule(magic: int) -> ChecksumRule:
    """The rule of v0 and v1, or of v2, by the magic byte of an entry."""
    return _V2 if magic == 2 else _LEGACY


def checksum_rule_07(magic: int) -> ChecksumRule:
    """The rule of Kafka 0.7, whose checksum covers the payload alone."""
    return _V07[magic]
