"""How a file ends, and where batches go on behind what is none."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kafkalog_source.segment.damage import tail
from kafkalog_source.segment.damage.tail import begins_like_a_segment, is_zero_to_end, next_sound_entry
from kafkalog_source.segment.source import LocalFile
from tests.builders import Batch, Message, Record, encode

MAX = 2**63 - 1


def source_of(root: Path, data: bytes) -> LocalFile:
    path = root / "f"
    path.write_bytes(data)
    return LocalFile(str(path))


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 4096, 4097, 1 << 20, (1 << 20) + 5000])
@pytest.mark.parametrize("last", [b"", b"\1"])
def test_zeros_to_the_end_are_told_from_zeros_before_something(tmp_path: Path, size: int, last: bytes) -> None:
    with source_of(tmp_path, b"begin" + bytes(size) + last) as source:
        assert is_zero_to_end(source, 5) is (not last)
        assert not is_zero_to_end(source, 0)


def test_zeros_that_are_a_hole_are_hardly_read(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.write(b"x")
        file.truncate(1 << 28)
    with LocalFile(str(path)) as source:
        assert is_zero_to_end(source, 1)


@pytest.mark.parametrize("junk", [1, 16, 17, 60, 61, 62, 1000, (1 << 20) - 61, (1 << 20) - 1, (1 << 20) + 5])
@pytest.mark.parametrize("entry", [Batch(base_offset=50), Message(offset=50, magic=0), Message(offset=50)])
def test_the_next_batch_is_found_behind_junk_of_any_size(tmp_path: Path, junk: int, entry: Batch | Message) -> None:
    data = b"\xfe" * junk + encode([entry])
    with source_of(tmp_path, data) as source:
        assert next_sound_entry(source, 0, len(data), 49, MAX) == junk


def test_a_large_batch_is_found_whose_end_is_beyond_the_window(tmp_path: Path) -> None:
    data = b"\xfe" * 100 + encode([Batch([Record(value=bytes(3 << 20))], base_offset=50)])
    with source_of(tmp_path, data) as source:
        assert next_sound_entry(source, 0, len(data), 49, MAX) == 100


def test_a_batch_is_found_behind_many_headers_of_large_ones(tmp_path: Path) -> None:
    """Each would have to be read as a whole to see that it is none."""
    junk = (struct.pack(">qi", 50, 65 << 20) + bytes(4)) * 4000
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.write(junk + encode([Batch(base_offset=50)]))
        file.truncate(70 << 20)
    with LocalFile(str(path)) as source:
        assert next_sound_entry(source, 0, source.size, 49, MAX) == len(junk)
        assert source.bytes_read < 20 * source.size


@pytest.mark.parametrize(("above", "bound"), [(50, MAX), (-1, 50), (2**40, MAX)])
def test_a_batch_whose_offsets_do_not_fit_is_passed_over(tmp_path: Path, above: int, bound: int) -> None:
    data = b"\xfe" * 9 + encode([Batch(base_offset=50)])
    with source_of(tmp_path, data) as source:
        assert next_sound_entry(source, 0, len(data), above, bound) is None


def test_a_batch_with_a_wrong_checksum_is_passed_over(tmp_path: Path) -> None:
    data = b"\xfe" * 9 + encode([Batch(base_offset=50, crc=1), Batch(base_offset=51)])
    with source_of(tmp_path, data) as source:
        assert next_sound_entry(source, 0, len(data), 49, MAX) == 9 + 76


def test_bytes_that_look_like_headers_everywhere_do_not_take_hours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of a quarter of a million headers claims 4 MiB, whose checksum has to be compared."""
    monkeypatch.setattr(tail, "_MOST_CHECKED", 1 << 28)
    data = (struct.pack(">qi", 5, 0x00400000) + bytes(4)) * ((8 << 20) // 16)
    with source_of(tmp_path, data) as source:
        assert next_sound_entry(source, 1, len(data), -1, MAX) is None
        assert source.bytes_read < (1 << 28) + (10 << 20)


@pytest.mark.parametrize(
    ("content", "least", "likely"),
    [
        (b"", 0, True),
        (b"short", 0, True),
        (encode([Batch(base_offset=7)])[:20], 7, True),
        (encode([Batch(base_offset=7)])[:20], 8, False),
        (b"some text, and not a short one", 0, False),
        (b"\xff" * 20, 0, False),
    ],
)
def test_the_first_bytes_tell_a_cut_segment_from_another_file(
    tmp_path: Path, content: bytes, least: int, likely: bool
) -> None:
    with source_of(tmp_path, content) as source:
        assert begins_like_a_segment(source, least) is likely
