"""`backlog`: what a stream has still to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source import DataLossError, LogDirError, OptionError, Split, backlog
from tests.builders import Batch, Record, partition_dir, write_segment


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    batches = [Batch([Record(value=b"%d" % offset)], base_offset=offset) for offset in range(5)]
    write_segment(partition_dir(tmp_path, "t", 0), batches)
    write_segment(partition_dir(tmp_path, "t", 1), batches[:2])
    return tmp_path


def ranges(splits: list[Split]) -> list[tuple[int | None, int, int]]:
    return [(each.partition, each.low, each.high) for split in splits for each in split.ranges]


def test_a_stream_that_has_not_begun_has_all_before_it(logs: Path) -> None:
    new = backlog(logs)
    assert ranges(new.splits) == [(0, 0, 5), (1, 0, 2)]
    assert all(isinstance(split, Split) for split in new.splits)
    assert new.warnings == ()
    assert backlog([logs], startingOffsets="latest").splits == []


def test_a_stream_goes_on_at_its_positions_and_with_partitions_that_are_new(logs: Path) -> None:
    for positions in ({"t": {"0": 3}}, '{"t": {"0": 3}}'):
        assert ranges(backlog(logs, positions).splits) == [(0, 3, 5), (1, 0, 2)]
    assert backlog(logs, {"t": {"0": 5, "1": 2}}).splits == []


def test_what_is_gone_is_data_loss_or_a_warning(logs: Path) -> None:
    with pytest.raises(DataLossError, match="t-0 ends at offset 5, but the stream has read up to 9"):
        backlog(logs, {"t": {"0": 9}})
    new = backlog(logs, {"t": {"0": 9}}, failOnDataLoss=False)
    assert ranges(new.splits) == [(1, 0, 2)]
    assert len(new.warnings) == 1


def test_what_makes_no_sense_is_refused(logs: Path) -> None:
    with pytest.raises(OptionError, match="endingOffsets"):
        backlog(logs, endingOffsets="latest")
    with pytest.raises(OptionError, match="unknown option positions"):
        backlog(logs, positions="{}")
    with pytest.raises(OptionError, match="no offsets of Kafka partitions"):
        backlog(logs, {"t": 3})
    with pytest.raises(LogDirError):
        backlog(logs / "none")
