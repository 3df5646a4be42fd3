"""Bytes at a position of a regular file, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkalog_source.errors import LogDirError
from kafkalog_source.segment.entries import walk_headers
from kafkalog_source.segment.source import FileChangedError, LocalFile
from kafkalog_source.segment.v07.entries import walk_headers_07
from tests.builders import Batch, encode
from tests.builders.v07 import Message07


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "f"
    file.write_bytes(bytes(range(100)))
    return file


@pytest.mark.parametrize(
    ("position", "size", "expected"),
    [(0, 3, b"\0\1\2"), (98, 5, b"\x62\x63"), (100, 5, b""), (500, 5, b""), (0, 0, b"")],
)
def test_bytes_from_a_position_up_to_the_end(path: Path, position: int, size: int, expected: bytes) -> None:
    with LocalFile(str(path)) as source:
        assert source.read(position, size) == expected
        assert source.bytes_read == len(expected)


def test_a_read_of_more_than_there_is_takes_no_memory_for_it(path: Path) -> None:
    with LocalFile(str(path)) as source:
        assert len(source.read(0, 1 << 60)) == 100


def test_a_file_that_becomes_shorter_gives_fewer_bytes(path: Path) -> None:
    with LocalFile(str(path)) as source:
        os.truncate(path, 10)
        assert source.read(0, 100) == bytes(range(10))


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, tmp_path, Path("/dev/null")):
        with pytest.raises(LogDirError) as caught:
            LocalFile(str(path))
        assert caught.value.file == str(path)


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(LogDirError, match="No such file") as caught:
        LocalFile(str(tmp_path / "nowhere"))
    assert caught.value.remedy is not None


def test_closing_twice_is_harmless(path: Path) -> None:
    source = LocalFile(str(path))
    source.close()
    source.close()


def test_holes_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.write(b"x" * 10)
        file.truncate(1 << 30)
    with LocalFile(str(path)) as source:
        assert source.next_data(0) == 0
        assert source.next_data(1 << 20) in (1 << 20, 1 << 30)  # not every file system knows of holes
        assert source.next_data(1 << 30) == 1 << 30
        assert source.next_data(1 << 31) == 1 << 30
        assert source.bytes_read == 0


@pytest.mark.parametrize("is_07", [False, True])
def test_a_walk_over_headers_ends_when_the_file_shrinks_under_it(tmp_path: Path, is_07: bool) -> None:
    path = tmp_path / "segment"
    old, new = Message07(b"x" * 100).encode() * 20_000, encode(Batch(base_offset=i) for i in range(20_000))
    path.write_bytes(old if is_07 else new)
    with LocalFile(str(path)) as source:
        walk: Iterator[object] = (walk_headers_07 if is_07 else walk_headers)(source, 0, 0, 2**63 - 1)
        next(walk)
        os.truncate(path, 5000)
        with pytest.raises(FileChangedError, match="shorter"):
            list(walk)
