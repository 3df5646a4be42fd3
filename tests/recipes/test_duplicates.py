"""Duplicates, on logs that are built with known ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kafkalog_source import scan
from tests.builders import Batch, Record, end_marker, partition_dir, write_segment
from tests.recipes.page import RECIPES

RECIPE = RECIPES["Duplicates"]


def ask(path: Path) -> list[tuple[object, ...]]:
    return RECIPE.ask(batches=scan(path, view="batches"))


def batch(base_offset: int, producer: int, sequence: int, size: int = 1, epoch: int = 0) -> Batch:
    fields = {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence}
    return Batch([Record()] * size, base_offset=base_offset, **fields)


def test_a_batch_that_was_written_twice(tmp_path: Path) -> None:
    written = [
        batch(0, 1, 0, 3),
        batch(3, 2, 0),
        batch(4, 1, 3, 2),
        batch(6, 1, 3, 2),
        batch(8, 1, 5),
        batch(9, 1, 0, 3),
    ]
    write_segment(partition_dir(tmp_path), written)
    assert ask(tmp_path) == [("topic", 0, 2, 6, 2, 5, 6)]


def test_a_batch_whose_first_records_were_written_before(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path), [batch(0, 1, 0, 3), batch(3, 1, 2, 4)])
    assert ask(tmp_path) == [("topic", 0, 1, 2, 1, 4, 3)]


def test_what_is_no_duplicate(tmp_path: Path) -> None:
    """A gap in the sequence, a new epoch, another producer or partition, a marker, no idempotence, an empty batch."""
    marker = Batch([end_marker(commit=True)], base_offset=6, control=True, transactional=True, producer_id=1)
    empty = Batch([], base_offset=7, producer_id=1, producer_epoch=1, base_sequence=1, last_offset_delta=1)
    # Coordinators number the records of each batch from 0, without a producer id.
    plain = [Batch(base_offset=9), *[Batch(base_offset=offset, base_sequence=0) for offset in (10, 11)]]
    written = [batch(0, 1, 0, 3), batch(3, 1, 7), batch(4, 1, 0, epoch=1), batch(5, 2, 0), marker, empty, *plain]
    write_segment(partition_dir(tmp_path), written)
    write_segment(partition_dir(tmp_path, partition=1), [batch(0, 1, 0, 3)])
    assert [row[4:] for row in ask(tmp_path)] == [(0, None, None), (0, None, None)]


@pytest.mark.parametrize("seed", range(5))
def test_as_counting_every_sequence_says(tmp_path: Path, seed: int) -> None:
    """Producers at random, who now and then repeat one of their last batches."""
    chance = random.Random(seed)
    offset, repeated, records = 0, [], 0
    written: list[Batch] = []
    following = dict.fromkeys(range(4), 0)
    for _ in range(200):
        producer = chance.randrange(4)
        mine = [each for each in written if each.producer_id == producer]
        if mine and chance.random() < 0.1:
            again = chance.choice(mine[-3:])
            new = batch(offset, producer, again.base_sequence, len(again.records))
            repeated.append(offset)
            records += len(new.records)
        else:
            new = batch(offset, producer, following[producer], chance.randint(1, 5))
            following[producer] += len(new.records)
        written.append(new)
        offset += len(new.records)
    write_segment(partition_dir(tmp_path), written)
    assert repeated
    assert ask(tmp_path) == [("topic", 0, 4, 200, len(repeated), records, repeated[0])]
