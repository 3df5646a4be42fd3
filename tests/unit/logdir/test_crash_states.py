from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source.errors import CorruptBatchError
from kafkalog_source.logdir.crash_states import next_offset
from tests.unit.logdir.conftest import Write, batch_v2, entry_v1, listed, log


def read(tmp_path: Path) -> list[str]:
    """Give the file names that are read, in order."""
    return [Path(segment.path).name for segment in listed(tmp_path).partitions[0].segments]


def test_deleted_and_cleaned_files_are_dead(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", f"t-0/{log(0)}.deleted", f"t-0/{log(5)}.deleted", f"t-0/{log(0)}.cleaned")
    assert read(tmp_path) == [log(0)]
    assert "compaction was interrupted" in listed(tmp_path).warnings[0]


def test_deleted_files_alone_are_no_crash(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", f"t-0/{log(5)}.deleted")
    assert listed(tmp_path).warnings == ()


def test_a_swap_replaces_the_segments_that_it_covers(write: Write, tmp_path: Path) -> None:
    write(*(f"t-0/{log(base)}" for base in (0, 10, 20, 30)))
    write(f"t-0/{log(0)}.swap", content=batch_v2(0, 3) + batch_v2(15, 24))
    assert read(tmp_path) == [log(0) + ".swap", log(30)]
    listing = listed(tmp_path)
    assert sorted(Path(skipped.path).name for skipped in listing.skipped) == [log(0), log(10), log(20)]
    assert "from offset 0 to 25" in listing.warnings[0]


def test_a_segment_at_the_end_of_what_a_swap_covers_stays(write: Write, tmp_path: Path) -> None:
    write(*(f"t-0/{log(base)}" for base in (0, 10, 20)))
    write(f"t-0/{log(0)}.swap", content=batch_v2(0, 19))
    assert read(tmp_path) == [log(0) + ".swap", log(20)]


def test_segments_between_two_swaps_are_replaced_too(write: Write, tmp_path: Path) -> None:
    write(*(f"t-0/{log(base)}" for base in (0, 10, 20, 30)))
    write(f"t-0/{log(0)}.swap", content=batch_v2(0, 4))
    write(f"t-0/{log(20)}.swap", content=batch_v2(20, 29))
    assert read(tmp_path) == [log(0) + ".swap", log(20) + ".swap", log(30)]


@pytest.mark.parametrize("cleaned", [f"{log(10)}.cleaned", "00000000000000000010.timeindex.cleaned"])
def test_a_swap_from_the_first_cleaned_file_on_is_unfinished(write: Write, tmp_path: Path, cleaned: str) -> None:
    write(*(f"t-0/{log(base)}" for base in (0, 10, 20)), f"t-0/{cleaned}")
    write(f"t-0/{log(0)}.swap", content=batch_v2(0, 4))
    write(f"t-0/{log(10)}.swap", content=batch_v2(10, 29))
    assert read(tmp_path) == [log(0) + ".swap", log(10), log(20)]


def test_a_swap_of_an_empty_segment_replaces_its_namesake(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", f"t-0/{log(10)}", f"t-0/{log(0)}.swap")
    assert read(tmp_path) == [log(0) + ".swap", log(10)]


def test_side_files_follow_the_same_rules(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", "t-0/00000000000000000000.index", "t-0/00000000000000000000.timeindex")
    write("t-0/00000000000000000000.index.swap")
    write(f"t-0/{log(0)}.swap", content=batch_v2(0, 4))
    (segment,) = listed(tmp_path).partitions[0].segments
    assert segment.offset_index == str(tmp_path / "t-0" / "00000000000000000000.index.swap")
    # The plain one belongs to the segment that was replaced.
    assert segment.time_index is None


def test_an_index_that_is_still_to_be_renamed_belongs_to_the_segment_that_was(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", "t-0/00000000000000000000.txnindex.swap")
    (segment,) = listed(tmp_path).partitions[0].segments
    assert segment.path.endswith(".log")
    assert segment.txn_index is not None
    assert segment.txn_index.endswith(".txnindex.swap")
    (warning,) = listed(tmp_path).warnings
    assert warning.endswith("its segments are in place, and the remaining .swap files are read as their indexes")


def test_an_unfinished_swap_of_an_index_leaves_the_segments_from_before(write: Write, tmp_path: Path) -> None:
    write(f"t-0/{log(0)}", "t-0/00000000000000000000.index.swap", f"t-0/{log(0)}.cleaned")
    (segment,) = listed(tmp_path).partitions[0].segments
    assert segment.offset_index is None
    assert listed(tmp_path).warnings[0].endswith("the segments from before the compaction are read")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", 7),
        (batch_v2(7, 9), 10),
        (batch_v2(7, 9) + batch_v2(20, 29), 30),
        (batch_v2(7, 9) + batch_v2(20, 29)[:-1], 10),
        (batch_v2(7, 9) + b"\0" * 500, 10),
        (entry_v1(7) + entry_v1(12), 13),
        (entry_v1(7) + batch_v2(8, 11), 12),
        (b"\0" * 10, 7),
    ],
)
def test_next_offset_by_headers(write: Write, content: bytes, expected: int) -> None:
    assert next_offset(str(write(log(7), content=content))) == expected


@pytest.mark.parametrize("length", [13, -5])
def test_an_impossible_length_is_an_error_as_for_a_broker(write: Write, length: int) -> None:
    bad = (8).to_bytes(8, "big") + length.to_bytes(4, "big", signed=True) + bytes(60)
    with pytest.raises(CorruptBatchError) as caught:
        next_offset(str(write(log(7), content=entry_v1(7) + bad)))
    assert caught.value.position == len(entry_v1(7))
