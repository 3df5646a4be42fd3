"""Offsets that are missing between two segments: lost, cleaned away, or never asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import DataLossError
from tests.builders import Batch, Message, Record, Wrapper, encode, partition_dir, write_segment
from tests.builders.disk import Entry

CUTTINGS: list[dict[str, Any]] = [
    {},
    {"maxPartitionBytes": 1},
    {"maxPartitionBytes": 1, "openCostInBytes": 0},
    {"maxRecordsPerPartition": 2},
    {"threads": 2, "minPartitions": 5},
]


def batches(*bases: int) -> list[Entry]:
    return [Batch([Record(), Record(offset_delta=1)], base_offset=base) for base in bases]


def log_of(root: Path, *segments: tuple[int, Sequence[Entry] | bytes], cleaned: bool = False) -> Path:
    """A partition directory; `cleaned` lists it in the cleaner's checkpoint."""
    directory = partition_dir(root)
    for base, content in segments:
        write_segment(directory, content, base_offset=base)
    if cleaned:
        (root / "cleaner-offset-checkpoint").write_text("0\n1\ntopic 0 5\n")
    return directory


def read(path: Path, **options: Any) -> tuple[list[int], list[str]]:
    scan = kafkalog_source.scan(path, columns=["offset"], **options)
    offsets = scan.to_table()["offset"].to_pylist()
    return offsets, scan.report()["warnings"]


def between(low: int, high: int) -> dict[str, Any]:
    return {"assign": {"topic": [0]}, "startingOffsets": {"topic": {0: low}}, "endingOffsets": {"topic": {0: high}}}


@pytest.fixture
def lossy(tmp_path: Path) -> Path:
    """Offsets 0 to 3 and 10 to 13; a segment is missing between."""
    return log_of(tmp_path, (0, batches(0, 2)), (10, batches(10, 12)))


@pytest.mark.parametrize("cutting", CUTTINGS)
def test_a_missing_segment_is_an_error_that_names_offsets_files_and_remedy(
    lossy: Path, cutting: dict[str, Any]
) -> None:
    with pytest.raises(DataLossError) as caught:
        read(lossy, **cutting)
    message = str(caught.value)
    assert "offsets 4 to 9 are not on disk" in message
    assert f"{lossy}/{0:020d}.log" in message
    assert f"{lossy}/{10:020d}.log" in message
    assert "failOnDataLoss=false" in message


@pytest.mark.parametrize("cutting", CUTTINGS)
def test_without_fail_on_data_loss_a_missing_segment_is_one_warning(lossy: Path, cutting: dict[str, Any]) -> None:
    offsets, warnings = read(lossy, failOnDataLoss=False, **cutting)
    assert offsets == [0, 1, 2, 3, 10, 11, 12, 13]
    assert len(warnings) == 1
    assert "offsets 4 to 9 are not on disk" in warnings[0]


@pytest.mark.parametrize("cutting", CUTTINGS)
@pytest.mark.parametrize(("low", "high", "lost"), [(0, 4, False), (10, 14, False), (0, 5, True), (9, 14, True)])
def test_a_gap_matters_only_to_who_asks_for_its_offsets(
    lossy: Path, low: int, high: int, lost: bool, cutting: dict[str, Any]
) -> None:
    if lost:
        with pytest.raises(DataLossError, match="offsets 4 to 9"):
            read(lossy, **between(low, high), **cutting)
    offsets, warnings = read(lossy, failOnDataLoss=False, **between(low, high), **cutting)
    assert offsets == [offset for offset in (0, 1, 2, 3, 10, 11, 12, 13) if low <= offset < high]
    assert len(warnings) == lost


@pytest.mark.parametrize("cutting", CUTTINGS)
@pytest.mark.parametrize("fail", [True, False])
def test_in_a_compacted_partition_a_gap_is_a_warning(tmp_path: Path, fail: bool, cutting: dict[str, Any]) -> None:
    log = log_of(tmp_path, (0, batches(0, 2)), (10, batches(10, 12)), cleaned=True)
    offsets, warnings = read(log, failOnDataLoss=fail, **cutting)
    assert offsets == [0, 1, 2, 3, 10, 11, 12, 13]
    assert len(warnings) == 1
    assert "offsets 4 to 9 are neither in this segment nor in the next one" in warnings[0]


@pytest.mark.parametrize("low", [4, 6, 9])
def test_a_start_in_a_gap_of_compaction_is_the_next_record(tmp_path: Path, low: int) -> None:
    log = log_of(tmp_path, (0, batches(0, 2)), (10, batches(10, 12)), cleaned=True)
    assert read(log, **between(low, 12))[0] == [10, 11]


def wrapper(*offsets: int, magic: int = 0) -> Wrapper:
    return Wrapper([Message(offset=offset, magic=magic) for offset in offsets], "gzip", magic)


SPARSE: dict[str, list[Entry]] = {
    "between batches": batches(10, 14),
    "inside a batch": [*batches(10), Batch([Record(), Record(offset_delta=2)], base_offset=12, last_offset_delta=2)],
    "behind the last record of a batch": [Batch([Record()], base_offset=10, last_offset_delta=3)],
    "a batch without records": [Batch([], base_offset=10, last_offset_delta=1), *batches(12)],
    "before the first batch": batches(11),
    "between messages": [Message(offset=10), Message(offset=12)],
    "inside a wrapper": [wrapper(10, 12)],
    "before a wrapper": [wrapper(10, 11), wrapper(13, 14, magic=1)],
}
DENSE: dict[str, list[Entry]] = {
    "batches": batches(10, 12),
    "a transaction's marker": [*batches(10), Batch(base_offset=12, control=True)],
    "messages": [Message(offset=10), Message(offset=11, magic=1)],
    "wrappers": [wrapper(10, 11, 12), wrapper(13, magic=1), wrapper(14, 15, magic=1)],
}


@pytest.mark.parametrize("content", SPARSE.values(), ids=SPARSE)
def test_gaps_inside_any_segment_tell_that_a_partition_was_compacted(tmp_path: Path, content: list[Entry]) -> None:
    log = log_of(tmp_path, (0, batches(0)), (10, content), (30, batches(30)))
    warnings = read(log)[1]
    assert any("offsets 2 to 9 are neither in this segment nor" in each for each in warnings)


@pytest.mark.parametrize("content", DENSE.values(), ids=DENSE)
def test_without_a_gap_inside_a_segment_a_missing_one_is_an_error(tmp_path: Path, content: list[Entry]) -> None:
    following = content[-1].last_offset + 1
    log = log_of(tmp_path, (0, batches(0)), (10, content), (following, batches(following)))
    with pytest.raises(DataLossError, match="offsets 2 to 9 are not on disk"):
        read(log)


def test_a_first_segment_that_is_gone_is_no_loss_unless_its_offsets_are_asked_for(tmp_path: Path) -> None:
    log = log_of(tmp_path, (10, batches(10, 12)))
    assert read(log) == ([10, 11, 12, 13], [])
    with pytest.raises(DataLossError, match="startingOffsets"):
        read(log, **between(9, 12))


@pytest.mark.parametrize("cutting", CUTTINGS)
@pytest.mark.parametrize("content", [b"", bytes(500)], ids=["empty", "zeros"])
def test_a_segment_without_batches_before_another_is_a_gap(
    tmp_path: Path, content: bytes, cutting: dict[str, Any]
) -> None:
    log = log_of(tmp_path, (0, batches(0)), (2, content), (8, batches(8)))
    with pytest.raises(DataLossError, match="offsets 2 to 7 are not on disk"):
        read(log, **cutting)
    assert read(log, failOnDataLoss=False, **cutting)[0] == [0, 1, 8, 9]


def test_an_empty_last_segment_is_no_gap(tmp_path: Path) -> None:
    assert read(log_of(tmp_path, (0, batches(0)), (2, b""))) == ([0, 1], [])


def test_segments_given_by_their_own_paths_are_not_compared(lossy: Path) -> None:
    assert read(Path(f"{lossy}/*.log")) == ([0, 1, 2, 3, 10, 11, 12, 13], [])


def test_damage_at_the_end_of_a_segment_is_told_as_damage(tmp_path: Path) -> None:
    log = log_of(tmp_path, (0, encode(batches(0, 2))[:-1]), (4, batches(4)))
    with pytest.raises(kafkalog_source.KafkaLogError) as caught:
        read(log)
    assert not isinstance(caught.value, DataLossError)


@pytest.mark.parametrize("cutting", [{}, {"maxPartitionBytes": 1}, {"threads": 2, "minPartitions": 5}])
def test_view_damage_continues_after_a_missing_segment_and_has_a_row_for_it(
    tmp_path: Path, cutting: dict[str, Any]
) -> None:
    broken = bytearray(encode(batches(20)))
    broken[-1] ^= 1
    log = log_of(tmp_path, (0, batches(0, 2)), (10, batches(10, 12)), (20, bytes(broken)), (30, batches(30)))
    scan = kafkalog_source.scan(log, view="damage", **cutting)
    columns = ["kind", "file", "position", "size", "first_offset", "last_offset"]
    rows = {tuple(row[name] for name in columns) for row in scan.to_table().to_pylist()}
    size = log.joinpath(f"{0:020d}.log").stat().st_size
    assert rows == {
        ("missing", f"{log}/{0:020d}.log", size, 0, 4, 9),
        ("missing", f"{log}/{10:020d}.log", size, 0, 14, 19),
        ("damaged", f"{log}/{20:020d}.log", 0, len(broken), 20, 29),
    }
    assert len(scan.report()["missing"]) == 2
    assert scan.report()["warnings"] == []


def test_a_report_lists_what_is_missing(lossy: Path) -> None:
    scan = kafkalog_source.scan(lossy, failOnDataLoss=False)
    scan.to_table()
    assert [(each["kind"], each["first_offset"], each["last_offset"]) for each in scan.report()["missing"]] == [
        ("missing", 4, 9)
    ]
