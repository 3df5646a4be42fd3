"""What a broker would have served: log start offsets and high watermarks of real log directories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.compute as pc
import pytest

import kafkalog_source
from kafkalog_source.errors import DataLossError

Case = Callable[[str], Path]


def offsets_of(paths: list[Path], topic: str, partition: int, **options: object) -> list[int]:
    read = kafkalog_source.scan(paths, columns=["offset"], assign={topic: [partition]}, **options)
    return read.to_table()["offset"].to_pylist()


@pytest.fixture
def two_disks(fixture_case: Case) -> list[Path]:
    log = fixture_case("names-4.4") / "log"
    return [log / "disk1", log / "disk2"]


def test_read_up_to_the_high_watermark_ends_below_it(two_disks: list[Path]) -> None:
    """The checkpoint says 57 for ``four-3``, whose log ends at 120."""
    assert offsets_of(two_disks, "four", 3) == list(range(120))
    assert offsets_of(two_disks, "four", 3, readUpTo="highWatermark") == list(range(57))


def test_a_partition_without_a_high_watermark_is_read_to_its_end_and_told(
    two_disks: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "four-3").symlink_to(next(d for d in two_disks if (d / "four-3").is_dir()) / "four-3")
    read = kafkalog_source.scan(tmp_path, columns=["offset"], readUpTo="highWatermark", followSymlinks=True)
    assert read.to_table().num_rows == 120
    assert any("the high watermark of four-3 is unknown" in warning for warning in read.report()["warnings"])


def test_an_end_offset_below_the_high_watermark_still_ends_the_range(two_disks: list[Path]) -> None:
    ends = {"four": {3: 20}}
    assert offsets_of(two_disks, "four", 3, readUpTo="highWatermark", endingOffsets=ends) == list(range(20))


def test_deleted_records_are_shown_only_when_asked_for(fixture_case: Case) -> None:
    log = fixture_case("logstart-4.4") / "log"
    visible = kafkalog_source.scan(log, columns=["topic", "offset"]).to_table()
    everything = kafkalog_source.scan(log, columns=["topic", "offset"], includeDeleted=True).to_table()
    assert (visible.num_rows, everything.num_rows) == (548, 750)
    assert pc.min(everything["offset"]).as_py() == 0


def test_a_damaged_high_watermark_checkpoint_is_a_warning(two_disks: list[Path], tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    segment = next(two_disks[0].glob("*-*/*.log"))
    (tmp_path / "t-0" / ("0" * 20 + ".log")).write_bytes(segment.read_bytes())
    (tmp_path / "replication-offset-checkpoint").write_text("0\n3\nt 0 1\n")
    read = kafkalog_source.scan(tmp_path, columns=["offset"], readUpTo="highWatermark")
    assert read.to_table().num_rows > 0
    assert any("replication-offset-checkpoint" in warning for warning in read.report()["warnings"])


def test_a_missing_segment_of_a_real_log_is_an_error_or_a_warning(fixture_case: Case) -> None:
    path = fixture_case("side-files") / "log" / "middle-segment-gone-0"
    with pytest.raises(DataLossError, match=r"00000\.log: offsets 60 to 140 are not on disk.*00141\.log"):
        kafkalog_source.scan(path, columns=["offset"]).to_table()
    read = kafkalog_source.scan(path, columns=["offset"], failOnDataLoss=False)
    assert not set(range(60, 141)) & set(read.to_table()["offset"].to_pylist())
    assert sum("offsets 60 to 140" in warning for warning in read.report()["warnings"]) == 1


def test_a_real_log_whose_first_segment_is_gone_has_lost_nothing(fixture_case: Case) -> None:
    read = kafkalog_source.scan(fixture_case("side-files") / "log" / "first-segment-gone-0", columns=["offset"])
    assert pc.min(read.to_table()["offset"]).as_py() == 144
    assert not [warning for warning in read.report()["warnings"] if "not on disk" in warning]


@pytest.mark.parametrize("case", ["compact-4.4", "compact-2.8"])
def test_real_compacted_logs_are_never_taken_for_losses(fixture_case: Case, case: str) -> None:
    assert kafkalog_source.scan(fixture_case(case) / "log", columns=["offset"]).to_table().num_rows > 0
