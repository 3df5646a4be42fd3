"""Indexes as hints: what they hold is found by halving, and what they lack is no error."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from kafkalog_source.segment.side_files.index import OffsetEntry, OffsetIndex, TimeEntry, TimeIndex
from tests.builders import offset_index, time_index

POINTS = [(110, 1000), (120, 2000), (130, 3000)]


def write(root: Path, data: bytes) -> str:
    path = root / "side"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(
    ("offset", "found"),
    [(100, None), (109, None), (110, POINTS[0]), (119, POINTS[0]), (120, POINTS[1]), (2**62, POINTS[2])],
)
@pytest.mark.parametrize("padding", [0, 1, 8, 80, 8000])
def test_the_last_entry_at_or_below_an_offset(
    tmp_path: Path, offset: int, found: tuple[int, int] | None, padding: int
) -> None:
    path = write(tmp_path, offset_index(POINTS, base_offset=100) + bytes(padding))
    with OffsetIndex(path, 100) as index:
        assert index.at_or_below(offset) == (None if found is None else OffsetEntry(*found))


@pytest.mark.parametrize(("position", "found"), [(1000, None), (1001, 110), (3000, 120), (3001, 130), (2**40, 130)])
def test_the_last_entry_before_a_position(tmp_path: Path, position: int, found: int | None) -> None:
    with OffsetIndex(write(tmp_path, offset_index(POINTS, base_offset=100) + bytes(800)), 100) as index:
        entry = index.before(position)
    assert (None if entry is None else entry.offset) == found


@pytest.mark.parametrize(
    ("timestamp", "found"), [(5, None), (6, (5, 110)), (7, (5, 110)), (8, (7, 120)), (99, (9, 130))]
)
def test_the_last_time_entry_below_a_timestamp(tmp_path: Path, timestamp: int, found: tuple[int, int] | None) -> None:
    data = time_index([(5, 110), (7, 120), (9, 130)], base_offset=100) + bytes(240)
    with TimeIndex(write(tmp_path, data), 100) as index:
        assert index.below(timestamp) == (None if found is None else TimeEntry(*found))


@pytest.mark.parametrize("data", [b"", b"\0", bytes(7)], ids=["empty", "one byte", "less than an entry"])
def test_an_index_without_a_whole_entry_has_none(tmp_path: Path, data: bytes) -> None:
    with OffsetIndex(write(tmp_path, data), 0) as index:
        assert index.count == 0
        assert index.at_or_below(2**40) is None


def test_an_index_that_is_not_there_or_no_file_has_no_entries(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (None, str(tmp_path / "nowhere"), str(tmp_path), str(fifo)):
        with OffsetIndex(path, 0) as index:
            assert index.before(2**40) is None


def test_an_index_of_zeros_has_one_entry_that_says_nothing(tmp_path: Path) -> None:
    with OffsetIndex(write(tmp_path, bytes(10_000)), 7) as index:
        assert index.at_or_below(2**40) == OffsetEntry(7, 0)


def test_negative_numbers_are_no_places(tmp_path: Path) -> None:
    with OffsetIndex(write(tmp_path, struct.pack(">ii", -5, -9)), 0) as index:
        assert index.at_or_below(3) is None
    with TimeIndex(write(tmp_path, struct.pack(">qi", -5, -9)), 0) as index:
        assert index.below(3) is None


def test_an_index_that_is_cut_while_it_is_open_ends_there(tmp_path: Path) -> None:
    """A broker trims the preallocated index when it begins the next segment."""
    path = write(tmp_path, offset_index(POINTS, base_offset=100) + bytes(8000))
    with OffsetIndex(path, 100) as index:
        os.truncate(path, 3 * 8)
        assert index.at_or_below(125) == OffsetEntry(120, 2000)
        os.truncate(path, 12)
        assert index.at_or_below(115) == OffsetEntry(110, 1000)


@pytest.mark.parametrize(
    ("middle", "found"), [((6, 115), (6, 115)), ((7, 140), None), ((4, 115), None), ((7, 105), None)]
)
def test_entries_that_do_not_rise_are_no_index(
    tmp_path: Path, middle: tuple[int, int], found: tuple[int, int] | None
) -> None:
    """The neighbours of the one that is looked for show that the index lies, wherever it would lead."""
    times = [(5, 110), middle, (8, 120)]
    with TimeIndex(write(tmp_path, time_index(times, base_offset=100)), 100) as index:
        assert index.below(8) == (None if found is None else TimeEntry(*found))


def test_few_entries_of_a_large_index_are_read(tmp_path: Path) -> None:
    points = [(offset, offset * 10) for offset in range(1, 100_000)]
    with OffsetIndex(write(tmp_path, offset_index(points)), 0) as index:
        assert index.at_or_below(54_321) == OffsetEntry(54_321, 543_210)
        assert index.bytes_read <= 19 * 8
