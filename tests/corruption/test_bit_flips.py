"""Every single bit of a small segment, flipped: right rows, or an error, or damage that is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import partition_dir
from tests.comparing import Row
from tests.corruption.reading import Reading, failfast, invented, missing, skipping
from tests.corruption.samples import BASE_OFFSET, RECORDS, SAMPLES, Sample

EVERY = 61
"""Of so many bits one is flipped in a default run; no multiple of a byte, so that all kinds of bits have their turn."""


def flips(sample: Sample, path: Path, every: int) -> Iterator[int]:
    """The bits, each flipped in the file while it is dealt with."""
    data = bytearray(sample.data)
    for bit in range(0, 8 * len(data), every):
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        data[bit // 8] ^= 1 << bit % 8
        yield bit


def check(sample: Sample, root: Path, every: int) -> Counter[str]:
    """Flip bits and count what became of each, by the field that it lies in."""
    path = partition_dir(root) / f"{BASE_OFFSET:020d}.log"
    path.write_bytes(sample.data)
    whole = failfast(path)
    assert isinstance(whole, Reading)
    assert len(whole.rows) == len(sample.entries) * (1 if sample.codec == "none" and sample.magic < 2 else RECORDS)
    counted: Counter[str] = Counter()
    for bit in flips(sample, path, every):
        field = sample.field(bit // 8)
        found, skipped = failfast(path), skipping(path)
        where = f"{sample.name}, byte {bit // 8}, bit {bit % 8}, {field}"
        assert missing(skipped, whole.rows) == [] or is_plausible(found, field), where
        wrong = invented(skipped, whole.rows)
        if isinstance(found, Reading):
            assert found == skipped, where
            result = "right" if found.rows == whole.rows and not found.damage else "wrong"
            assert result == "right" or is_plausible(found, field), where
            assert field in {"leader epoch", "offset"}, where
        else:
            result = "error, but rows where damage is skipped" if wrong else "error"
            assert not wrong or has_relative_offsets(sample, field), where
        counted[f"{field}: {result}"] += 1
    return counted


def is_plausible(found: object, field: str) -> bool:
    """Whether nothing on disk tells that an offset is wrong: they rise, and lie inside the segment's range."""
    if field != "offset" or not isinstance(found, Reading) or found.damage:
        return False
    offsets = [row[0] for row in found.rows]
    return offsets == sorted(set(offsets)) and offsets[0] >= BASE_OFFSET


def has_relative_offsets(sample: Sample, field: str) -> bool:
    """Whether offsets hang on one that no checksum covers, and only the messages inside the next set contradict it.

    Those have not been looked at when the rows before them are given.
    """
    return field == "offset" and sample.magic == 1 and sample.codec != "none"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_no_flipped_bit_is_silent(sample: Sample, tmp_path: Path) -> None:
    check(sample, tmp_path, EVERY)


LAST_OFFSET_UP = 57
"""Zero bits of an offset of about a hundred but for the sign: nothing behind the last batch contradicts it."""
EXPECTED_PASSES = {
    "v0-none": {"offset: wrong": LAST_OFFSET_UP},
    # The offsets inside are absolute, so that the outer one changes no row.
    **{f"v0-{codec}": {"offset: right": LAST_OFFSET_UP} for codec in ("gzip", "snappy", "lz4")},
    "v1-none": {"offset: wrong": LAST_OFFSET_UP},
    **{
        f"v1-{codec}": {"offset: wrong": LAST_OFFSET_UP, "offset: error, but rows where damage is skipped": 4}
        for codec in ("gzip", "snappy", "lz4")
    },
    # The last batch begins at 109 = 0b1101101: its bit 1 is one of those that are zero.
    **{
        f"v2-{codec}": {"offset: wrong": LAST_OFFSET_UP + 1, "leader epoch: right": 4 * 32}
        for codec in ("none", "gzip", "snappy", "lz4", "zstd")
    },
}
"""All flips that are no error in FAILFAST, or where skipping damage gives a row with a wrong offset."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_no_bit_at_all_is_silent_but_those_that_nothing_can_tell(sample: Sample, tmp_path: Path) -> None:
    counted = check(sample, tmp_path, 1)
    assert counted.total() == 8 * len(sample.data)
    passed = {name: count for name, count in counted.items() if not name.endswith(": error")}
    assert passed == EXPECTED_PASSES[sample.name]


def test_the_rows_that_are_compared_hold_all_that_a_record_has() -> None:
    row: Row = (1, 2, 0, b"k", b"v", None)
    assert invented(Reading([row], []), [(*row[:-1], ())]) == [row]
