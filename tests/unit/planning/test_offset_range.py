"""Which offsets a read takes: options against what is on disk, and what counts as loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import DataLossError, LogDirError, OptionError
from tests.builders import Batch, Message, Record, Wrapper, partition_dir, write_segment

EARLIEST, LATEST = -2, -1


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Offsets 10 to 14 and 20 to 24 in one segment, 30 to 34 in another."""
    directory = partition_dir(tmp_path)
    five = [Record() for _ in range(5)]
    write_segment(directory, [Batch(five, base_offset=10), Batch(five, base_offset=20)], base_offset=10)
    write_segment(directory, [Batch(five, base_offset=30)], base_offset=30)
    return directory


def offsets(path: Path, **options: Any) -> list[int]:
    found: list[int] = kafkalog_source.scan(path, columns=["offset"], **options).to_table()["offset"].to_pylist()
    return found


def between(start: int, end: int, **options: Any) -> dict[str, Any]:
    return {"startingOffsets": {"topic": {0: start}}, "endingOffsets": {"topic": {0: end}}, **options}


ALL = [*range(10, 15), *range(20, 25), *range(30, 35)]


@pytest.mark.parametrize("start", [10, 12, 14, 15, 17, 20, 24, 25, 29, 30, 34, 35])
@pytest.mark.parametrize("end", [10, 15, 18, 22, 30, 35])
def test_any_range_on_disk_gives_the_records_inside_it(log: Path, start: int, end: int) -> None:
    if end >= start:
        assert offsets(log, **between(start, end)) == [offset for offset in ALL if start <= offset < end]


def test_earliest_and_latest_by_number_and_by_name(log: Path) -> None:
    assert offsets(log, **between(EARLIEST, LATEST)) == ALL
    assert offsets(log, startingOffsets="earliest", endingOffsets="latest") == ALL
    assert offsets(log, startingOffsets=json.dumps({"topic": {"0": 24}})) == ALL[9:]


@pytest.mark.parametrize("start", [0, 9, 36, 2**62])
def test_a_start_that_is_not_on_disk_is_loss(log: Path, start: int) -> None:
    with pytest.raises(DataLossError, match="startingOffsets") as caught:
        offsets(log, startingOffsets={"topic": {0: start}})
    assert (caught.value.found, caught.value.expected) == (start, "10 to 35")


@pytest.mark.parametrize("end", [0, 9, 36, 2**62])
def test_an_end_that_is_not_on_disk_is_loss(log: Path, end: int) -> None:
    with pytest.raises(DataLossError, match="endingOffsets"):
        offsets(log, endingOffsets={"topic": {0: end}})


@pytest.mark.parametrize(
    ("start", "end", "first", "last"), [(0, 12, 10, 11), (9, 99, 10, 34), (12, 99, 12, 34), (5, 2**62, 10, 34)]
)
def test_without_fail_on_data_loss_what_is_there_is_read_with_a_warning(
    log: Path, start: int, end: int, first: int, last: int
) -> None:
    scan = kafkalog_source.scan(log, columns=["offset"], **between(start, end, failOnDataLoss=False))
    assert scan.to_table()["offset"].to_pylist() == [offset for offset in ALL if first <= offset <= last]
    assert sum("names an offset" in each for each in scan.report()["warnings"]) == (start < 10) + (end > 35)
    assert "not on disk" in scan.report()["warnings"][0]


@pytest.mark.parametrize(("start", "end"), [(99, 100), (2, 5)])
def test_without_fail_on_data_loss_a_range_outside_gives_nothing(log: Path, start: int, end: int) -> None:
    assert offsets(log, **between(start, end, failOnDataLoss=False)) == []


def test_records_below_the_log_start_are_deleted(log: Path) -> None:
    (log.parent / "log-start-offset-checkpoint").write_text("0\n1\ntopic 0 22\n")
    assert offsets(log.parent) == [offset for offset in ALL if offset >= 22]
    assert offsets(log) == [offset for offset in ALL if offset >= 22]
    assert offsets(log.parent, **between(23, 31)) == [23, 24, 30]
    with pytest.raises(DataLossError, match=r"deleted.*22 to 35.*includeDeleted=true"):
        offsets(log.parent, startingOffsets={"topic": {0: 21}})
    with pytest.raises(DataLossError, match="not on disk") as caught:
        offsets(log.parent, startingOffsets={"topic": {0: 9}})
    assert "includeDeleted" not in str(caught.value)
    assert offsets(log.parent, startingOffsets={"topic": {0: 0}}, failOnDataLoss="false")[0] == 22


@pytest.mark.parametrize("start", [35, 40, 50])
def test_a_log_start_at_or_behind_the_end_leaves_nothing(log: Path, start: int) -> None:
    (log.parent / "log-start-offset-checkpoint").write_text(f"0\n1\ntopic 0 {start}\n")
    read = kafkalog_source.scan(log.parent, columns=["offset"])
    assert read.to_table().num_rows == 0
    # At the end is where deleting all records puts it; behind the end it is where no broker would have it.
    warned = [f"{log}: the log start offset is {start}, but the log ends at 35" in w for w in read.report()["warnings"]]
    assert warned == ([True] if start > 35 else [])
    assert offsets(log.parent, includeDeleted=True) == ALL


def test_partitions_without_a_high_watermark_are_named_in_one_warning(tmp_path: Path) -> None:
    for partition in range(25):
        write_segment(partition_dir(tmp_path, partition=partition), [Batch()])
    read = kafkalog_source.scan(tmp_path, columns=["offset"], readUpTo="highWatermark")
    (warning,) = read.report()["warnings"]
    assert "topic-0, topic-1, " in warning
    assert "topic-19 and 5 more is unknown" in warning


def test_a_lone_segment_is_shown_as_it_is(log: Path) -> None:
    (log.parent / "log-start-offset-checkpoint").write_text("0\n1\ntopic 0 22\n")
    assert offsets(sorted(log.glob("*.log"))[0]) == ALL[:10]


@pytest.mark.parametrize("last", [b"", bytes(1000)], ids=["empty", "preallocated"])
def test_the_base_offset_of_an_unwritten_last_segment_is_the_end_of_the_log(log: Path, last: bytes) -> None:
    write_segment(log, last, base_offset=40)
    assert offsets(log, startingOffsets={"topic": {0: 40}}) == []
    assert offsets(log, **between(33, 40)) == [33, 34]
    with pytest.raises(DataLossError, match="10 to 40"):
        offsets(log, startingOffsets={"topic": {0: 41}})


def test_an_empty_batch_at_the_end_uses_its_offsets_up(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [Batch(), Batch([], base_offset=1, last_offset_delta=8)])
    assert offsets(directory, startingOffsets={"topic": {0: 10}}) == []
    with pytest.raises(DataLossError):
        offsets(directory, startingOffsets={"topic": {0: 11}})


@pytest.mark.parametrize("magic", [0, 1])
def test_a_range_inside_a_wrapper_gives_its_part(tmp_path: Path, magic: int) -> None:
    directory = partition_dir(tmp_path)
    inner = [[Message(offset=5 * i + j, magic=magic) for j in range(5)] for i in range(4)]
    write_segment(directory, [Wrapper(messages, magic=magic) for messages in inner])
    for start in range(0, 20, 3):
        for end in range(start, 21, 4):
            assert offsets(directory, **between(start, end)) == list(range(start, end))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"startingOffsets": {"topic": {0: 10, 1: 5}}}, "topic-1"),
        ({"startingOffsets": {"other": {0: 10}}}, "other-0"),
        ({"endingOffsets": {"other": {0: 10}}}, "other-0"),
        ({"startingOffsetsByTimestamp": {"other": {0: 10}}}, "other-0"),
    ],
)
def test_offsets_must_name_the_partitions_that_are_read(log: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match="name every partition") as caught:
        offsets(log, **options)
    assert words in str(caught.value)


def test_offsets_of_a_segment_without_topic_are_refused(log: Path, tmp_path: Path) -> None:
    lone = tmp_path / "elsewhere" / "00000000000000000010.log"
    lone.parent.mkdir()
    lone.write_bytes(sorted(log.glob("*.log"))[0].read_bytes())
    with pytest.raises(OptionError):
        offsets(lone, startingOffsets={"topic": {0: 12}})
    assert offsets(lone) == ALL[:10]


MISSING = [
    {"subscribe": "topic,absent"},
    {"assign": {"topic": [0, 7]}},
    {"assign": {"absent": [0], "topic": [0]}},
]


@pytest.mark.parametrize("options", MISSING)
def test_what_is_asked_for_by_name_has_to_be_there(log: Path, options: dict[str, Any]) -> None:
    with pytest.raises(LogDirError, match=r"not found: (absent|topic-7)"):
        offsets(log.parent, **options)
    scan = kafkalog_source.scan(log.parent, columns=["offset"], failOnDataLoss=False, **options)
    assert scan.to_table()["offset"].to_pylist() == ALL
    assert "not found" in scan.report()["warnings"][0]


def test_a_pattern_that_matches_nothing_gives_nothing(log: Path) -> None:
    assert offsets(log.parent, subscribePattern="nothing.*") == []
