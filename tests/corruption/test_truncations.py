"""A segment cut anywhere: the batches before the cut are read, and what is left of the next one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import Batch, partition_dir, write_segment
from tests.corruption.reading import Reading, failfast, invented, missing, skipping
from tests.corruption.samples import BASE_OFFSET, BATCHES, RECORDS, SAMPLES, Sample

EVERY = 11
NEXT_OFFSET = BASE_OFFSET + BATCHES * RECORDS


def check(sample: Sample, root: Path, every: int) -> int:
    """Cut at every `every`-th size, alone and before another segment."""
    directory = partition_dir(root)
    path = write_segment(directory, sample.data, base_offset=BASE_OFFSET)
    whole = failfast(path)
    assert isinstance(whole, Reading)
    cuts = range(0, len(sample.data), every)
    for size in cuts:
        path.write_bytes(sample.data[:size])
        start = max(start for start in sample.starts if start <= size)
        check_last(sample, path, size, start, whole)
        behind = write_segment(directory, [Batch(base_offset=NEXT_OFFSET)], base_offset=NEXT_OFFSET)
        check_not_last(directory, size, start, whole)
        behind.unlink()
    return len(cuts)


def rows_before(sample: Sample, start: int, whole: Reading) -> list[tuple[object, ...]]:
    per_entry = len(whole.rows) // len(sample.entries)
    return whole.rows[: sample.starts.index(start) * per_entry]


def check_last(sample: Sample, path: Path, size: int, start: int, whole: Reading) -> None:
    found = failfast(path)
    assert isinstance(found, Reading), f"{sample.name} cut at {size}: {found}"
    assert found.rows == rows_before(sample, start, whole)
    told = [(each["kind"], each["position"], each["size"]) for each in found.damage]
    assert told == ([("torn", start, size - start)] if size > start else [])
    assert skipping(path) == found


def check_not_last(directory: Path, size: int, start: int, whole: Reading) -> None:
    """Records are missing there, whether the file ends inside a batch, behind one, or holds none."""
    found = failfast(directory)
    assert not isinstance(found, Reading)
    skipped = skipping(directory, failOnDataLoss=False)
    right = [*whole.rows, *skipped.rows[-1:]]
    assert invented(skipped, right) == []
    assert skipped.rows[-1][0] == NEXT_OFFSET
    if any(each["position"] == start for each in skipped.damage):
        assert missing(skipped, right) == []


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_cut_costs_the_batch_that_it_goes_through_alone(sample: Sample, tmp_path: Path) -> None:
    check(sample, tmp_path, EVERY)


@pytest.mark.exhaustive
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_every_cut_costs_the_batch_that_it_goes_through_alone(sample: Sample, tmp_path: Path) -> None:
    assert check(sample, tmp_path, 1) == len(sample.data)
