"""Headers alone: what they tell, and where they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source.segment.entries import EntryHeader, is_sound, read_header, sound_entry_at, walk_headers
from kafkalog_source.segment.source import LocalFile
from tests.builders import Batch, Message, Record, Wrapper, encode
from tests.builders.disk import Entry

MAX = 2**63 - 1
MIXED: list[Entry] = [
    Message(offset=1, magic=0),
    Message(offset=3, timestamp=77),
    Wrapper([Message(offset=5), Message(offset=6, timestamp=99)]),
    Batch([Record(), Record(offset_delta=4, timestamp_delta=5)], base_offset=10, base_timestamp=100, codec="lz4"),
]


def source_of(root: Path, data: bytes) -> LocalFile:
    path = root / "f"
    path.write_bytes(data)
    return LocalFile(str(path))


def headers(root: Path, data: bytes, *, start: int = 0, least: int = 0, bound: int = MAX) -> list[EntryHeader]:
    with source_of(root, data) as source:
        return list(walk_headers(source, start, least, bound))


def test_headers_of_every_format(tmp_path: Path) -> None:
    found = headers(tmp_path, encode(MIXED))
    told = [(h.magic, h.compressed, h.first_offset, h.last_offset, h.max_timestamp_ms, h.record_count) for h in found]
    assert told == [
        (0, False, 1, 1, -1, 1),
        (1, False, 3, 3, 77, 1),
        (1, True, 6, 6, 1_700_000_000_000, None),
        (2, True, 10, 14, 105, 2),
    ]
    assert found[-1].base_timestamp_ms == 100
    assert found[-1].position + found[-1].size == len(encode(MIXED))


@pytest.mark.parametrize("size", [10, 5000, 300_000])
def test_batches_of_any_size_are_walked_and_large_ones_are_not_read(tmp_path: Path, size: int) -> None:
    entries = [Batch([Record(value=bytes(size))], base_offset=i) for i in range(12)]
    data = encode(entries)
    with source_of(tmp_path, data) as source:
        assert [h.first_offset for h in walk_headers(source, 0, 0, MAX)] == list(range(12))
        assert size < 300_000 or source.bytes_read < len(data) // 2


@pytest.mark.parametrize(
    ("behind", "what"),
    [
        (b"", "nothing"),
        (bytes(500), "zeros"),
        (b"text " * 50, "text"),
        (encode([Batch(base_offset=20)])[:-1], "a batch that is cut"),
        (encode([Batch(base_offset=9)]), "an offset that does not rise"),
        (encode([Batch(base_offset=50)]), "an offset beyond the bound"),
        (encode([Batch(base_offset=20, magic=3)]), "an unknown magic"),
        (encode([Batch([Record(value=bytes(9000))], base_offset=50)]), "a large batch beyond the bound"),
        (encode([Batch([Record(value=bytes(9000))], base_offset=9)]), "a large batch that does not rise"),
    ],
)
def test_walking_ends_where_no_header_is(tmp_path: Path, behind: bytes, what: str) -> None:
    assert len(headers(tmp_path, encode(MIXED) + behind, bound=50)) == 4, what


def test_the_largest_offset_a_batch_can_have_is_walked(tmp_path: Path) -> None:
    data = encode([Batch(base_offset=2**62), Batch([Record(value=bytes(9000))], base_offset=MAX - 1)])
    assert [h.last_offset for h in headers(tmp_path, data)] == [2**62, MAX - 1]


@pytest.mark.parametrize("cut", range(1, 76))
def test_a_header_that_the_end_of_the_file_cuts_is_none(tmp_path: Path, cut: int) -> None:
    with source_of(tmp_path, encode([Batch()])[:-cut]) as source:
        assert read_header(source, 0) is None


@pytest.mark.parametrize("entry", MIXED, ids=lambda entry: f"{type(entry).__name__} {entry.magic}")
def test_an_entry_is_sound_until_a_byte_under_its_checksum_changes(tmp_path: Path, entry: Entry) -> None:
    data = entry.encode()
    with source_of(tmp_path, data) as source:
        header = read_header(source, 0)
        assert header is not None
        assert is_sound(source, header)
    changed = data[:-1] + bytes([data[-1] ^ 1])
    with source_of(tmp_path, changed) as source:
        assert read_header(source, 0) == header
        assert not is_sound(source, header)


def test_a_sound_entry_must_have_offsets_that_fit(tmp_path: Path) -> None:
    with source_of(tmp_path, b"junk" + encode([Batch(base_offset=10)])) as source:
        assert sound_entry_at(source, 4, 0, MAX) is not None
        assert sound_entry_at(source, 4, 10, 11) is not None
        assert sound_entry_at(source, 4, 11, MAX) is None
        assert sound_entry_at(source, 4, 0, 10) is None
        assert sound_entry_at(source, 3, 0, MAX) is None
        assert sound_entry_at(source, 4000, 0, MAX) is None


@pytest.mark.parametrize("entry", [Batch(), Message(magic=0), Message(magic=1)])
def test_a_header_of_any_format_that_the_end_of_the_file_cuts_is_none(tmp_path: Path, entry: Batch | Message) -> None:
    path = tmp_path / "f"
    for size in range(len(entry.encode())):
        path.write_bytes(entry.encode()[:size])
        with LocalFile(str(path)) as source:
            assert list(walk_headers(source, 0, 0, 2**63 - 1)) == []
            assert read_header(source, 0) is None
