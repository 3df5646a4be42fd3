"""Input made to take long: the time it takes grows as the input does, and no faster; so does memory, or not at all.

Two sizes are compared in one run, since what a second is depends on the machine.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.builders import Batch, Message, partition_dir, write_segment
from tests.builders.v07 import Message07, write_segment_07
from tests.hostile.bombs import MANY, MIB
from tests.hostile.measured import Reading, measure

BESIDE_MIB = 64
TIMES = 3.2
"""As much longer may twice the input take,"""
SECONDS = 0.4
"""and so many seconds for what has nothing to do with it."""
WAYS: tuple[dict[str, Any], ...] = ({"mode": "DROPMALFORMED"}, {"view": "damage"}, {"verify": True})
FAR = 1 << 31

Bytes = Callable[[int], bytes]


def rising(batch: bytes, size: int) -> bytes:
    """A batch again and again, with offsets that rise."""
    count = size // len(batch)
    found = bytearray(batch * count)
    for number in range(count):
        struct.pack_into(">q", found, number * len(batch), number + 1)
    return bytes(found)


def empty_batches(size: int) -> bytes:
    return rising(Batch(()).encode(), size)


def bad_batches(size: int) -> bytes:
    return rising(Batch(crc=1).encode(), size)


def bad_and_good_batches(size: int) -> bytes:
    """Every other one is bad: as many damaged regions as there can be."""
    one = Batch(crc=1).encode() + Batch().encode()
    found = bytearray(one * (size // len(one)))
    for number in range(2 * (size // len(one))):
        struct.pack_into(">q", found, number * len(one) // 2, number + 1)
    return bytes(found)


def same_offsets(size: int) -> bytes:
    """Good batches, none of which can follow the one before."""
    one = Batch(base_offset=0).encode()
    return one * (size // len(one))


def noise(size: int) -> bytes:
    return random.Random(1).randbytes(size)


def headers(length: int) -> Bytes:
    """Sixteen bytes that are a header at every sixteenth place, whose entry overlaps those behind it."""
    return lambda size: (struct.pack(">qi", 5, length) + bytes(4)) * (size // 16)


def headers_v2(size: int) -> bytes:
    one = Batch(base_offset=5, crc=1, length=100_000).encode()
    return one * (size // len(one))


def messages(size: int) -> bytes:
    one = Message(None, None, 5, magic=0, crc=1).encode()
    return one * (size // len(one))


LINEAR: dict[str, Bytes] = {
    "empty batches": empty_batches,
    "bad batches": bad_batches,
    "bad and good batches": bad_and_good_batches,
    "one offset": same_offsets,
    "noise": noise,
    "zeros and a byte": lambda size: bytes(size - 1) + b"\1",
    "headers of small entries": headers(0x20),
    "headers of 4 MiB": headers(4 * MIB),
    "headers of 65 MiB": headers(65 * MIB),
    "headers of v2": headers_v2,
    "messages": messages,
}

HELD_MIB = {"headers of 65 MiB": 65}
"""An entry is in memory as a whole while its checksum is compared, if it is no larger than a batch may be."""
MANY_REGIONS = ("bad and good batches", "one offset")
"""A damaged region for every batch or two, and each is looked at by itself."""


def check_linear(small: Sequence[Reading], large: Sequence[Reading], beside_mib: float = BESIDE_MIB) -> None:
    for one, two in zip(small, large, strict=True):
        assert one.error == two.error, (one, two)
        assert two.seconds <= TIMES * one.seconds + SECONDS, f"{one} | {two}"
        assert max(one.peak_mib, two.peak_mib) <= beside_mib, f"{one} | {two}"


def compare(
    root: Path, make: Bytes, size: int, ways: Sequence[dict[str, Any]] = WAYS, beside_mib: float = BESIDE_MIB
) -> None:
    """Read between two good batches what `make` makes, once and twice as much of it."""
    paths = []
    for times in (1, 2):
        content = Batch().encode() + make(times * size) + Batch(base_offset=FAR).encode()
        paths.append(write_segment(partition_dir(root, f"t{times}"), content))
    read = measure([{"path": path, **way} for path in paths for way in ways])
    check_linear(read[: len(ways)], read[len(ways) :], beside_mib)
    assert all(each.error is None for each in read), read


@pytest.mark.parametrize("name", LINEAR)
def test_twice_the_input_takes_twice_the_time(tmp_path: Path, name: str) -> None:
    compare(tmp_path, LINEAR[name], MIB // 4 if name in MANY_REGIONS else MIB)


@pytest.mark.hostile
@pytest.mark.parametrize("name", LINEAR)
def test_twice_the_input_takes_twice_the_time_in_large(tmp_path: Path, name: str) -> None:
    size = 4 * MIB if name in MANY_REGIONS else 64 * MIB
    compare(tmp_path, LINEAR[name], size, beside_mib=BESIDE_MIB + HELD_MIB.get(name, 0))


@pytest.mark.hostile
def test_a_million_empty_batches(tmp_path: Path) -> None:
    compare(tmp_path, empty_batches, 1_000_000 * 61, [{}, *WAYS])


@pytest.mark.hostile
@pytest.mark.parametrize("kind", ["noise", "sparse"])
def test_a_batch_behind_a_gibibyte_of_noise(tmp_path: Path, kind: str) -> None:
    paths = []
    for times in (1, 2):
        path = partition_dir(tmp_path, f"t{times}") / f"{0:020d}.log"
        piece = noise(16 * MIB) if kind == "noise" else b"\xff" * 64
        with path.open("wb") as file:
            file.write(Batch().encode())
            for number in range(32 * times):
                file.seek(76 + 16 * MIB * number)
                file.write(piece)
            file.seek(76 + 512 * MIB * times)
            file.write(Batch(base_offset=FAR).encode())
        paths.append(path)
    read = measure([{"path": path, **way} for path in paths for way in WAYS])
    check_linear(read[:3], read[3:])
    assert [each.rows for each in read] == [2, 1, 2] * 2
    assert [each.damage for each in read] == [1, 1, 1] * 2


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize(
    "count", [pytest.param(20_000, id="quick"), pytest.param(1_000_000, id="full", marks=pytest.mark.hostile)]
)
def test_a_payload_of_many_small_parts(tmp_path: Path, name: str, count: int) -> None:
    codec, make = MANY[name]
    paths = []
    for times in (1, 2):
        batch = Batch(codec=codec, payload=make(times * count // 2))
        paths.append(write_segment(partition_dir(tmp_path, f"t{times}"), [batch, Batch(base_offset=9)]))
    # The payload is in memory as it is on the disk, beside what it decompresses to.
    check_linear(*(measure([{"path": path, **way} for way in WAYS]) for path in paths))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(noise, id="noise"),
        pytest.param(lambda size: Message07(b"x", crc=1).encode() * (size // 11), id="messages"),
        pytest.param(lambda size: struct.pack(">iB", 200_000, 0) * (size // 5), id="headers"),
    ],
)
@pytest.mark.parametrize("size", [MIB // 16, pytest.param(4 * MIB, marks=pytest.mark.hostile)])
def test_the_same_in_kafka_07(tmp_path: Path, content: Bytes, size: int) -> None:
    paths = []
    for times in (1, 2):
        data = Message07(b"good").encode() + content(times * size) + Message07(b"good").encode() * 50
        paths.append(write_segment_07(partition_dir(tmp_path, f"t{times}"), data))
    read = measure([{"path": path, **way} for path in paths for way in WAYS])
    check_linear(read[:3], read[3:])
