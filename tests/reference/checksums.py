"""The checksums of the formats, by other implementations than kafkalog's where there is a choice."""

from __future__ import annotations

import zlib

import crcmod.predefined

_castagnoli = crcmod.predefined.mkCrcFun("crc-32c")

PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
MASK = 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli), for v2 batches."""
    return int(_castagnoli(data))


def crc32(data: bytes) -> int:
    """CRC-32 as in zlib, for v0 and v1 entries."""
    return zlib.crc32(data)


def xxh32(data: bytes) -> int:
    """XXH32 with seed 0, for LZ4 frames."""
    lanes = [(PRIMES[0] + PRIMES[1]) & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data) - 3, 4)]
    striped = len(data) // 16 * 4
    for index, word in enumerate(words[:striped]):
        lane = index % 4
        lanes[lane] = _turn(lanes[lane] + word * PRIMES[1], 13) * PRIMES[0] & MASK
    total = PRIMES[4]
    if striped:
        total = sum(_turn(lane, turns) for lane, turns in zip(lanes, (1, 7, 12, 18), strict=True))
    total = (total + len(data)) & MASK
    for word in words[striped:]:
        total = _turn(total + word * PRIMES[2], 17) * PRIMES[3] & MASK
    for byte in data[len(data) // 4 * 4 :]:
        total = _turn(total + byte * PRIMES[4], 11) * PRIMES[0] & MASK
    return _avalanche(total)


def _turn(number: int, bits: int) -> int:
    number &= MASK
    return (number << bits | number >> (32 - bits)) & MASK


def _avalanche(total: int) -> int:
    total = (total ^ total >> 15) * PRIMES[1] & MASK
    total = (total ^ total >> 13) * PRIMES[2] & MASK
    return total ^ total >> 16
