"""From a time to an offset: the first record at or after it, in each partition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import KafkaLogError, OptionError
from tests.builders import Batch, Message, Record, Wrapper, offset_index, partition_dir, time_index, write_segment

T = 1_600_000_000_000


def rows(path: Path, **options: Any) -> list[tuple[int, int]]:
    table = kafkalog_source.scan(path, columns=["partition", "offset"], **options).to_table()
    return list(zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two partitions of two segments; record i of partition 0 is at second i, of partition 1 at second 2i."""
    for partition in (0, 1):
        directory = partition_dir(tmp_path, partition=partition)
        for base in (0, 10):
            step = 1000 * (partition + 1)
            batches = [
                Batch(
                    [Record(), Record(timestamp_delta=step)],
                    base_offset=base + 2 * i,
                    base_timestamp=T + step * (base + 2 * i),
                )
                for i in range(5)
            ]
            times = time_index([(T + step * (base + 5), base + 5)], base_offset=base)
            write_segment(directory, batches, base_offset=base, timeindex=times)
    return tmp_path


def test_one_time_for_all_partitions(log: Path) -> None:
    found = rows(log, startingTimestamp=T + 15_500, endingTimestamp=T + 18_000)
    assert found == [(0, 16), (0, 17), (1, 8)]


def test_a_time_of_a_record_is_that_record(log: Path) -> None:
    for second in range(20):
        assert rows(log, assign={"topic": [0]}, startingTimestamp=T + 1000 * second)[0] == (0, second)


def test_a_time_for_each_partition(log: Path) -> None:
    times = {"topic": {0: T + 18_000, 1: T + 37_000}}
    assert rows(log, startingOffsetsByTimestamp=times) == [(0, 18), (0, 19), (1, 19)]
    ends = {"topic": {0: T + 1000, 1: T + 2001}}
    assert rows(log, endingOffsetsByTimestamp=ends) == [(0, 0), (1, 0), (1, 1)]


def test_a_time_wins_over_times_for_each_partition_and_over_offsets(log: Path) -> None:
    found = rows(
        log,
        startingTimestamp=T + 37_500,
        startingOffsetsByTimestamp={"topic": {0: 0, 1: 0}},
        startingOffsets="earliest",
        startingOffsetsByTimestampStrategy="latest",
    )
    assert found == [(1, 19)]


def test_no_record_as_late_is_an_error_that_names_the_partition(log: Path) -> None:
    with pytest.raises(OptionError, match="topic-0 is at or after") as caught:
        rows(log, startingTimestamp=T + 20_000)
    assert "startingOffsetsByTimestampStrategy=latest" in str(caught.value)


def test_a_record_behind_the_high_watermark_is_not_there_to_be_found(log: Path) -> None:
    (log / "replication-offset-checkpoint").write_text("0\n1\ntopic 0 15\n")
    options = {"assign": {"topic": [0]}, "readUpTo": "highWatermark"}
    assert rows(log, startingTimestamp=T + 14_000, **options) == [(0, 14)]
    with pytest.raises(OptionError, match="topic-0 is at or after"):
        rows(log, startingTimestamp=T + 15_000, **options)
    assert rows(log, startingTimestamp=T + 15_000, startingOffsetsByTimestampStrategy="latest", **options) == []


def test_no_record_as_late_starts_at_the_end_by_strategy_latest(log: Path) -> None:
    options = {"startingOffsetsByTimestampStrategy": "latest"}
    assert rows(log, startingTimestamp=T + 38_000, **options) == [(1, 19)]
    assert rows(log, startingTimestamp=T + 10**9, **options) == []


def test_no_record_as_late_as_the_end_reads_to_the_end(log: Path) -> None:
    assert len(rows(log, endingTimestamp=T + 10**9)) == 40


def test_an_end_before_the_first_record_gives_nothing(log: Path) -> None:
    assert rows(log, endingTimestamp=T) == []
    assert rows(log, endingTimestamp=0) == []


def test_the_log_start_bounds_what_a_time_finds(log: Path) -> None:
    (log / "log-start-offset-checkpoint").write_text("0\n1\ntopic 0 5\n")
    assert rows(log, startingTimestamp=T, endingTimestamp=T + 6000) == [(0, 5), (1, 0), (1, 1), (1, 2)]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4"])
@pytest.mark.parametrize("claimed", [None, 0, -1, T, T + 10**9])
def test_wrappers_are_looked_into_whatever_time_they_claim(tmp_path: Path, codec: str, claimed: int | None) -> None:
    directory = partition_dir(tmp_path)
    inner = [[Message(offset=5 * i + j, timestamp=T + 5 * i + j) for j in range(5)] for i in range(4)]
    write_segment(directory, [Wrapper(messages, codec, timestamp=claimed) for messages in inner])
    for time in range(20):
        assert rows(directory, startingTimestamp=T + time)[0] == (0, time)


def test_records_without_a_time_are_never_as_late(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(
        directory, [Message(offset=0, magic=0), Message(offset=1, timestamp=-1), Message(offset=2, timestamp=T)]
    )
    assert rows(directory, startingTimestamp=0) == [(0, 2)]


def test_log_append_time_is_what_counts_where_it_is_set(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    late = Batch([Record(), Record()], base_timestamp=5, max_timestamp=T, log_append_time=True)
    write_segment(directory, [late])
    assert rows(directory, startingTimestamp=T) == [(0, 0), (0, 1)]
    with pytest.raises(OptionError):
        rows(directory, startingTimestamp=T + 1)


def test_a_damaged_batch_that_may_hold_the_time_is_an_error(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [Batch(base_timestamp=T), Batch(base_offset=1, base_timestamp=T + 5, crc=1)])
    with pytest.raises(KafkaLogError, match="checksum"):
        rows(directory, startingTimestamp=T + 5)


@pytest.mark.parametrize("indexed", [True, False])
def test_few_bytes_are_read_to_find_a_time(tmp_path: Path, indexed: bool) -> None:
    """Batches that are passed over are read to be checked, unless an index says where to begin or the user trusts."""
    directory = partition_dir(tmp_path)
    batches = [Batch([Record(value=bytes(20_000))], base_offset=i, base_timestamp=T + i) for i in range(500)]
    sizes = [len(each.encode()) for each in batches]
    index = offset_index([(i, sum(sizes[:i])) for i in range(1, 500)]) if indexed else None
    times = time_index([(T + i, i) for i in range(500)]) if indexed else None
    log = write_segment(directory, batches, index=index, timeindex=times)
    options = {"startingTimestamp": T + 490, "verifyChecksums": indexed}
    scan = kafkalog_source.scan(directory, columns=["offset"], threads=1, **options)
    assert scan.splits()
    assert scan.report()["bytes_read"] < log.stat().st_size // 2


def test_a_time_beyond_int64_microseconds_is_as_late_as_it_says(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    far = [
        Batch(base_timestamp=-(2**62)),
        Batch(base_offset=1, base_timestamp=2**62),
        Message(offset=2, timestamp=2**61),
        Wrapper([Message(offset=3, timestamp=2**60)], "gzip"),
    ]
    write_segment(directory, [*far, Batch(base_offset=4, base_timestamp=T)])
    everything = [(0, 1), (0, 2), (0, 3), (0, 4)]
    assert rows(directory, startingTimestamp=T) == everything
    assert rows(directory, startingTimestamp=2**62) == everything
    assert rows(directory, endingTimestamp=T) == [(0, 0)]
    with pytest.raises(OptionError):
        rows(directory, startingTimestamp=2**62 + 1)
