"""Offsets of tiered topics that are in remote storage: never left out of a read without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source import DataLossError
from tests.builders import Batch, Record, write_segment
from tests.builders.index_files import write_checkpoint, write_partition
from tests.unit.streaming.streaming import Query, append, some

TIME = 1_700_000_000_000
REMOTE = r"offsets 10 to 99 are in remote storage"
LOCAL = list(range(100, 106))


def batch(base: int, count: int = 3) -> Batch:
    return Batch([Record(timestamp_delta=n) for n in range(count)], base_offset=base, base_timestamp=TIME + base)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """t-0, with offsets 10 to 99 in remote storage, and 100 to 105 in two segments."""
    directory = write_partition(tmp_path, "t")
    (directory / "leader-epoch-checkpoint").write_text("0\n1\n0 10\n")
    for base in (100, 103):
        write_segment(directory, [batch(base)], base_offset=base)
    write_checkpoint(tmp_path / "log-start-offset-checkpoint", {("t", 0): 10})
    (tmp_path / "remote-log-index-cache").mkdir()
    return tmp_path


def read(logs: Path, **options: Any) -> tuple[list[int], list[str]]:
    found = kafkalog_source.scan(logs, columns=["offset"], **options)
    return found.to_table()["offset"].to_pylist(), found.report()["warnings"]


def at(offset: int) -> dict[str, dict[int, int]]:
    return {"t": {0: offset}}


LOSSES: list[dict[str, Any]] = [
    {},
    {"startingOffsets": "earliest"},
    {"startingOffsets": at(-2)},
    {"startingOffsets": at(10)},
    {"startingOffsets": at(99)},
    {"startingOffsets": at(0)},
    {"endingOffsets": at(50)},
    {"endingOffsets": at(104)},
    {"startingTimestamp": 0},
    {"startingTimestamp": TIME + 100},
    {"includeDeleted": True},
    {"view": "batches"},
    {"mode": "RECOVER"},
    {"isolationLevel": "read_committed"},
]


@pytest.mark.parametrize("options", LOSSES, ids=str)
def test_a_read_that_needs_remote_storage_is_loss(logs: Path, options: dict[str, Any]) -> None:
    options = dict(options)
    columns = None if "view" in options else ["offset"]
    with pytest.raises(DataLossError, match=REMOTE) as caught:
        kafkalog_source.scan(logs, columns=columns, **options).to_table()
    assert "100" in str(caught.value)
    assert "failOnDataLoss=false" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, LOCAL),
        ({"startingOffsets": at(50)}, LOCAL),
        ({"startingOffsets": at(50), "endingOffsets": at(60)}, []),
        ({"startingOffsets": at(50), "endingOffsets": at(102)}, [100, 101]),
        ({"startingTimestamp": TIME}, LOCAL),
    ],
)
def test_without_fail_on_data_loss_it_is_one_warning(logs: Path, options: dict[str, Any], expected: list[int]) -> None:
    offsets, warnings = read(logs, failOnDataLoss=False, **options)
    assert offsets == expected
    assert len(warnings) == 1
    assert "offsets 10 to 99 are in remote storage" in warnings[0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingOffsets": at(100)}, LOCAL),
        ({"startingOffsets": at(104)}, [104, 105]),
        ({"startingOffsets": at(100), "endingOffsets": at(102)}, [100, 101]),
        # Nothing is asked for, also where it would be remote.
        ({"startingOffsets": at(10), "endingOffsets": at(10)}, []),
        # A local record is older than the time: those before it are older too.
        ({"startingTimestamp": TIME + 101}, [101, 102, 103, 104, 105]),
        ({"startingTimestamp": TIME + 105}, [105]),
    ],
)
def test_a_read_of_what_is_local_works_without_a_word(logs: Path, options: dict[str, Any], expected: list[int]) -> None:
    assert read(logs, **options) == (expected, [])


def test_offsets_that_may_be_missing_as_well(logs: Path) -> None:
    (logs / "remote-log-index-cache").rmdir()
    with pytest.raises(DataLossError, match=REMOTE + ", or their segments are missing"):
        read(logs)


def test_a_partition_directory_alone_gives_its_records_and_a_warning(logs: Path) -> None:
    alone = logs.parent / f"{logs.name}-copy"
    alone.mkdir()
    (logs / "t-0").rename(alone / "t-0")
    offsets, warnings = read(alone / "t-0")
    assert offsets == LOCAL
    assert [each for each in warnings if "offsets 10 to 99 are in remote storage, or" in each]


def test_other_partitions_are_read_without_a_word(logs: Path) -> None:
    write_segment(write_partition(logs, "u"), [batch(0)])
    assert read(logs, subscribe="u") == ([0, 1, 2], [])


def test_the_metadata_of_tiered_storage_is_kafkas_own(logs: Path) -> None:
    write_segment(write_partition(logs, "__remote_log_metadata"), [batch(0)])
    start = {"startingOffsets": at(104)}
    assert read(logs, **start) == ([104, 105], [])
    assert read(logs, subscribe="__remote_log_metadata") == ([0, 1, 2], [])


def test_a_stream_that_starts_in_remote_storage_is_loss(logs: Path) -> None:
    for start in ("earliest", at(50)):
        with pytest.raises(DataLossError, match=REMOTE):
            Query(logs, {"startingOffsets": start})
    query = Query(logs, {"startingOffsets": "earliest", "failOnDataLoss": False})
    assert [row[2] for row in query.trigger() or ()] == LOCAL
    assert [each for each in query.warnings if "remote" in each]


@pytest.mark.parametrize("start", ["latest", at(103), at(100)])
def test_a_stream_that_starts_above_goes_on_without_a_word(logs: Path, start: object) -> None:
    query = Query(logs, {"startingOffsets": start})
    query.trigger()
    append(logs, batch(106), segment=103)
    assert [row[2] for row in query.trigger() or ()] == [106, 107, 108]
    assert query.warnings == []


def test_a_stream_whose_next_offsets_went_to_remote_storage(logs: Path) -> None:
    query = Query(logs, {"startingOffsets": at(100), "maxOffsetsPerTrigger": 1})
    assert [row[2] for row in query.trigger() or ()] == [100]
    (logs / "t-0" / f"{100:020d}.log").unlink()
    with pytest.raises(DataLossError, match="offsets 10 to 102 are in remote storage"):
        query.trigger()


def test_a_new_partition_that_is_tiered_already_is_loss(logs: Path) -> None:
    query = Query(logs, {"startingOffsets": at(106)})
    (write_partition(logs, "t", 1) / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    append(logs, some(7), partition=1, segment=7)
    write_checkpoint(logs / "log-start-offset-checkpoint", {("t", 0): 10, ("t", 1): 0})
    with pytest.raises(DataLossError, match="t-1: offsets 0 to 6 are in remote storage"):
        query.trigger()


def test_a_partition_without_a_segment_is_a_warning(logs: Path) -> None:
    directory = write_partition(logs, "u")
    (directory / f"{0:020d}.log.gz").write_bytes(b"")
    offsets, warnings = read(logs, subscribe="u")
    assert offsets == []
    assert [each for each in warnings if "gzip -d" in each]
    query = Query(logs, {"subscribe": "u"})
    assert [each for each in query.warnings if "gzip -d" in each]
