"""Traps around the files: names that are no segments, times that must not be trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkalog_source
from tests.builders import Batch, Record, encode, end_marker, partition_dir, write_segment
from tests.comparing import scan_rows

T = 1_600_000_000_000


@pytest.mark.parametrize(
    "name",
    [
        "0.log",
        "0000000000000000001.log",
        "000000000000000000001.log",
        "00000000000000000001.LOG",
        "00000000000000000001.log.tmp",
        "00000000000000000001.log.deleted",
        "0000000000000000000x.log",
        "copy.log",
        "\u0660" * 20 + ".log",
    ],
)
def test_only_twenty_digits_and_log_name_a_segment(tmp_path: Path, name: str) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [Batch()])
    (directory / name).write_bytes(encode([Batch(base_offset=1)]))
    assert scan_rows(tmp_path, ["offset"]) == [(0,)]


@pytest.mark.parametrize("topic", ["with space", "tab\t", "x" * 250, ".", "..", "sn\u00f8", "a,b", "a:b"])
def test_directories_whose_topic_name_is_illegal_are_no_partitions(tmp_path: Path, topic: str) -> None:
    write_segment(partition_dir(tmp_path), [Batch()])
    write_segment(partition_dir(tmp_path, topic), [Batch()])
    assert scan_rows(tmp_path, ["topic"]) == [("topic",)]


@pytest.mark.parametrize("topic", ["a.b", "a_b", "a-b", "0-1-2", "x" * 249, "A", "..."])
def test_every_legal_topic_name_is_read_up_to_the_last_dash(tmp_path: Path, topic: str) -> None:
    write_segment(partition_dir(tmp_path, topic, 7), [Batch()])
    assert scan_rows(tmp_path, ["topic", "partition"]) == [(topic, 7)]


@pytest.mark.parametrize("lying_maximum", [-1, 0, T - 1, -(2**63)])
def test_a_largest_timestamp_below_the_records_loses_no_row(tmp_path: Path, lying_maximum: int) -> None:
    """Real producers wrote 0 and -1 there; a search by time must open such a batch."""
    directory = partition_dir(tmp_path)
    late = Batch([Record(), Record(timestamp_delta=10)], base_offset=5, base_timestamp=T, max_timestamp=lying_maximum)
    early = Batch(base_timestamp=T - 1000)
    write_segment(directory, [early, late, Batch(base_offset=9, base_timestamp=T + 50)])
    assert scan_rows(directory, ["offset"], startingTimestamp=T) == [(5,), (6,), (9,)]
    assert scan_rows(directory, ["offset"], startingTimestamp=T + 5) == [(6,), (9,)]


def test_times_out_of_order_lose_no_row(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    times = [T + 500, T, T + 900, T + 100, T + 950]
    write_segment(directory, [Batch(base_offset=i, base_timestamp=time) for i, time in enumerate(times)])
    assert scan_rows(directory, ["offset"], startingTimestamp=T + 600) == [(2,), (3,), (4,)]


def test_a_control_record_counts_in_a_search_by_time_as_in_a_broker(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    marker = Batch([end_marker(commit=True)], base_offset=1, base_timestamp=T, control=True, transactional=True)
    early = Batch(base_offset=2, base_timestamp=T - 50)
    write_segment(directory, [Batch(base_timestamp=T - 100), marker, early, Batch(base_offset=3, base_timestamp=T)])
    found = scan_rows(directory, ["offset"], startingTimestamp=T, includeControlRecords=False)
    assert found == [(2,), (3,)]


def test_times_beyond_int64_microseconds_are_counted(tmp_path: Path) -> None:
    log = write_segment(partition_dir(tmp_path), [Batch(base_timestamp=2**62), Batch(base_offset=1)])
    scan = kafkalog_source.scan(str(log))
    assert [time is None for time in scan.to_table()["timestamp"].to_pylist()] == [True, False]
    assert scan.report()["times_out_of_range"] == 1
