"""Bytes that are no batch, anywhere in a segment: they cost themselves, and the batch that they split."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import Batch, Message, Wrapper, encode, write_segment
from tests.comparing import Row
from tests.corruption.reading import Reading, failfast, invented, missing, skipping
from tests.corruption.samples import BASE_OFFSET, OFFSET_SIZE, SAMPLES, Sample

EVERY = 23


def blocks(sample: Sample) -> dict[str, bytes]:
    """Nonsense, and what looks like batches and is none for this segment."""
    rng = random.Random(4711)
    start = sample.starts[-2]
    last = sample.data[start:]
    return {
        "one byte": b"\x07",
        "random": rng.randbytes(300),
        "zeros": bytes(200),
        "ones": b"\xff" * 90,
        "text": b"2024-01-01 12:00:00 INFO something else was written here\n" * 3,
        "a header that claims the rest": struct.pack(">qiibI", BASE_OFFSET + 5, 400, 0, 2, 7) + rng.randbytes(60),
        "a header that claims more": struct.pack(">qiibI", BASE_OFFSET + 5, 1 << 30, 0, 2, 7) + rng.randbytes(60),
        "a header that claims little": struct.pack(">qiibI", BASE_OFFSET + 5, 60, 0, 2, 7) + rng.randbytes(60),
        "a header of a later offset": struct.pack(">qiibI", 1 << 40, 60, 0, 2, 7) + rng.randbytes(60),
        "half a batch": last[: len(last) // 2],
        "batches of lower offsets": encode([Batch(base_offset=3), Message(offset=9), Wrapper(codec="gzip")]),
    }


def places(sample: Sample, every: int) -> Iterator[tuple[int, int | None]]:
    """Positions, each with the number of the entry that it splits, if it is no border.

    None is inside the last offset: what is put there makes another one of it, and nothing behind it contradicts that.
    """
    inside_last_offset = range(sample.starts[-2] + 1, sample.starts[-2] + OFFSET_SIZE + 1)
    for at in sorted({*range(0, len(sample.data) + 1, every), *sample.starts} - set(inside_last_offset)):
        before = [number for number, start in enumerate(sample.starts) if start <= at]
        yield at, None if at in sample.starts else before[-1]


def rows_but_of(sample: Sample, entry: int | None, whole: Reading) -> list[Row]:
    per_entry = len(whole.rows) // len(sample.entries)
    return [row for number, row in enumerate(whole.rows) if entry is None or number // per_entry != entry]


def check(sample: Sample, root: Path, every: int) -> None:
    path = write_segment(root, sample.data, base_offset=BASE_OFFSET)
    whole = failfast(path)
    assert isinstance(whole, Reading)
    for name, block in blocks(sample).items():
        for at, split in places(sample, every):
            where = f"{sample.name}, {name} at {at}"
            path.write_bytes(sample.data[:at] + block + sample.data[at:])
            found, skipped = failfast(path), skipping(path)
            # A payload may end with zeros, too.
            clean = name == "zeros" and not any(sample.data[at:])
            assert clean == (isinstance(found, Reading) and not found.damage), where
            # Zeros among the zeros that an offset begins with leave the batch as it was.
            assert skipped.rows == whole.rows or skipped.rows == rows_but_of(sample, split, whole), where
            assert missing(skipped, whole.rows) == [], where
            assert invented(skipped, whole.rows) == [], where
            low, high = (at, at) if split is None else sample.starts[split : split + 2]
            ends = [(each["position"], each["position"] + each["size"]) for each in skipped.damage]
            assert all(low <= start < end <= high + len(block) for start, end in ends), where


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_block_of_nonsense_costs_itself_alone(sample: Sample, tmp_path: Path) -> None:
    check(sample, tmp_path, len(sample.data))


@pytest.mark.exhaustive
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_block_of_nonsense_anywhere_costs_itself_and_the_batch_around_it(sample: Sample, tmp_path: Path) -> None:
    check(sample, tmp_path, EVERY)
