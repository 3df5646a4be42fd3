"""Kafka 0.7 in options and plans: offsets are positions, there are no times, and segments have to abut."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import CorruptBatchError, DataLossError, OptionError
from tests.builders import partition_dir
from tests.builders.v07 import Message07, encode_07, write_segment_07
from tests.comparing import scan_rows

MESSAGES = [Message07(b"number %d" % n) for n in range(10)]
SIZE = len(MESSAGES[0].encode())
SEGMENT_SIZE = 10 * SIZE


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three segments of ten messages, the first at offset 50."""
    directory = partition_dir(tmp_path)
    for base_offset in (50, 50 + SEGMENT_SIZE, 50 + 2 * SEGMENT_SIZE):
        write_segment_07(directory, MESSAGES, base_offset=base_offset)
    return directory


def offsets(log: Path, start: object = "earliest", end: object = "latest", **options: Any) -> list[int]:
    limits = {
        name: limit if isinstance(limit, str) else {"topic": {"0": limit}}
        for name, limit in (("startingOffsets", start), ("endingOffsets", end))
    }
    return [row[0] for row in scan_rows(log, ["offset"], assign={"topic": [0]}, **limits, **options)]


ALL = [50 + n * SIZE for n in range(30)]


@pytest.mark.parametrize("start", [50, 51, 50 + SIZE, 50 + SEGMENT_SIZE - 1, 50 + SEGMENT_SIZE, 50 + 3 * SEGMENT_SIZE])
def test_a_start_takes_the_first_message_at_or_above(log: Path, start: int) -> None:
    assert offsets(log, start) == [offset for offset in ALL if offset >= start]


@pytest.mark.parametrize("end", [51, 50 + SIZE, 50 + SIZE + 1, 50 + SEGMENT_SIZE, 50 + 3 * SEGMENT_SIZE])
def test_an_end_is_exclusive(log: Path, end: int) -> None:
    assert offsets(log, "earliest", end) == [offset for offset in ALL if offset < end]


@pytest.mark.parametrize("offset", [49, 51 + 3 * SEGMENT_SIZE])
def test_offsets_beyond_the_log_are_data_loss(log: Path, offset: int) -> None:
    with pytest.raises(DataLossError, match=f"expected 50 to {50 + 3 * SEGMENT_SIZE}"):
        offsets(log, offset)


def test_no_record_has_a_time(log: Path) -> None:
    with pytest.raises(OptionError, match="at or after the time of"):
        scan_rows(log, ["offset"], startingTimestamp=1)
    assert scan_rows(log, ["offset"], startingTimestamp=1, startingOffsetsByTimestampStrategy="latest") == []
    assert len(scan_rows(log, ["offset"], endingTimestamp=1)) == len(ALL)


def test_splits_are_cut_at_messages_and_can_be_pickled(log: Path) -> None:
    scan = kafkalog_source.scan(str(log), maxPartitionBytes=3 * SIZE, openCostInBytes=0)
    spans = [each.span for split in pickle.loads(pickle.dumps(scan.splits())) for each in split.ranges]
    assert len(spans) == 12
    assert all(span.start % SIZE == 0 and 0 < span.end - span.start <= 3 * SIZE for span in spans)
    assert offsets(log, maxPartitionBytes=3 * SIZE, openCostInBytes=0) == ALL
    assert offsets(log, minPartitions=7) == ALL


def test_a_missing_segment_is_data_loss_where_it_was_asked_for(log: Path) -> None:
    (log / f"{50 + SEGMENT_SIZE:020d}.kafka").unlink()
    with pytest.raises(DataLossError, match="ends before the next one starts"):
        offsets(log)
    scan = kafkalog_source.scan(str(log), columns=["offset"], failOnDataLoss=False)
    assert [row for row in scan.to_table()["offset"].to_pylist() if row not in ALL[:10] + ALL[20:]] == []
    assert ["ends before" in warning for warning in scan.report()["warnings"]] == [True]
    assert offsets(log, "earliest", 50 + SEGMENT_SIZE) == ALL[:10]
    assert offsets(log, 50 + 2 * SEGMENT_SIZE) == ALL[20:]
    with pytest.raises(DataLossError):
        offsets(log, 50 + SEGMENT_SIZE + 3)


def test_a_segment_cut_short_is_data_loss_and_then_damage(log: Path) -> None:
    segment = log / f"{50 + SEGMENT_SIZE:020d}.kafka"
    segment.write_bytes(encode_07(MESSAGES)[:-5])
    with pytest.raises(DataLossError):
        offsets(log)
    with pytest.raises(CorruptBatchError):
        offsets(log, failOnDataLoss=False)
    segment.write_bytes(encode_07(MESSAGES[:-1]))
    assert offsets(log, failOnDataLoss=False) == [offset for offset in ALL if offset != ALL[19]]


def test_a_segment_that_reaches_into_the_next_one_is_damage(log: Path) -> None:
    segment = log / f"{50 + SEGMENT_SIZE:020d}.kafka"
    segment.write_bytes(encode_07([*MESSAGES, MESSAGES[0]]))
    with pytest.raises(CorruptBatchError, match="next segment") as raised:
        offsets(log)
    assert (raised.value.file, raised.value.position) == (str(segment), SEGMENT_SIZE)


def test_an_empty_segment_has_its_start_as_its_end(tmp_path: Path) -> None:
    log = partition_dir(tmp_path)
    write_segment_07(log, [], base_offset=700)
    assert offsets(log, 700) == []
    with pytest.raises(DataLossError):
        offsets(log, 701)


def test_view_damage_has_a_row_for_a_segment_that_is_missing(log: Path) -> None:
    missing = 50 + SEGMENT_SIZE
    (log / f"{missing:020d}.kafka").unlink()
    columns = ["kind", "file", "position", "size", "first_offset", "last_offset"]
    assert scan_rows(log, columns, view="damage") == [
        ("missing", f"{log}/{50:020d}.kafka", SEGMENT_SIZE, 0, missing, missing + SEGMENT_SIZE - 1)
    ]
    assert offsets(log, failOnDataLoss=False) == [each for each in ALL if not 0 <= each - missing < SEGMENT_SIZE]
