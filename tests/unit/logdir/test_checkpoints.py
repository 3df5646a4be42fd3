from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from kafkalog_source.errors import LogDirError
from kafkalog_source.logdir.checkpoints import read_leader_epochs, read_offset_checkpoint, read_topic_id
from tests.unit.logdir.conftest import Write


def test_offsets_by_topic_and_partition(write: Write) -> None:
    path = write("c", content=b"0\n3\na-b 0 5\na-b 10 7\nt 0 9223372036854775807\n")
    assert read_offset_checkpoint(str(path)) == {("a-b", 0): 5, ("a-b", 10): 7, ("t", 0): 2**63 - 1}


@pytest.mark.parametrize("content", [b"", b"0\n", b"0\n0\n", b"0\r\n0\r\n"])
def test_a_checkpoint_without_entries(write: Write, content: bytes) -> None:
    assert read_offset_checkpoint(str(write("c", content=content))) == {}


def test_fields_are_split_at_any_white_space_and_the_last_line_may_have_no_end(write: Write) -> None:
    assert read_offset_checkpoint(str(write("c", content=b"0\r\n1\r\nt \t 0  4"))) == {("t", 0): 4}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"7\n0\n", "version 0"),
        (b"x\n0\n", "a signed integer of 32 bits"),
        (b"0\n-\n", "a signed integer of 32 bits"),
        (b"0\n2\nt 0 4\n", "a count equal to the number of entries"),
        (b"0\n0\nt 0 4\n", "a count equal to the number of entries"),
        (b"0\n1\nt 0\n", "3 fields"),
        (b"0\n1\n t 0 4\n", "3 fields"),
        (b"0\n2\nt 0 4\n\n", "3 fields"),
        (b"0\n1\nt 0 4 5\n", "3 fields"),
        (b"0\n1\nt 0 nine\n", "a signed integer of 64 bits"),
        (b"0\n1\nt 0 9223372036854775808\n", "a signed integer of 64 bits"),
        (b"0\n1\nt 2147483648 0\n", "a signed integer of 32 bits"),
        (b"0\n1\nt 0 1_0\n", "a signed integer of 64 bits"),
        (b"0\n1\nt 0 \xd9\xa1\n", "a signed integer of 64 bits"),
        (b"0\n1\nt\xff 0 1\n", "not UTF-8"),
        (b"0\n" + b"9" * 5000 + b"\n", "a signed integer of 32 bits"),
    ],
)
def test_a_damaged_checkpoint_is_an_error_that_names_it(write: Write, content: bytes, expected: str) -> None:
    path = write("c", content=content)
    with pytest.raises(LogDirError, match=expected) as caught:
        read_offset_checkpoint(str(path))
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(path))


def test_found_text_is_escaped(write: Write) -> None:
    with pytest.raises(LogDirError) as caught:
        read_offset_checkpoint(str(write("c", content=b"0\n1\nt 0 \x1b[31m\n")))
    assert "\x1b" not in str(caught.value)


def test_missing_checkpoint_and_a_directory_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(LogDirError, match="no such file"):
        read_offset_checkpoint(str(tmp_path / "none"))
    with pytest.raises(LogDirError, match="is a directory"):
        read_offset_checkpoint(str(tmp_path))


def test_a_fifo_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "c")
    with pytest.raises(LogDirError, match="is a FIFO"):
        read_offset_checkpoint(str(tmp_path / "c"))


def test_leader_epochs_keep_their_order(write: Write) -> None:
    path = write("leader-epoch-checkpoint", content=b"0\n2\n0 0\n4 120\n")
    assert read_leader_epochs(str(path)) == [(0, 0), (4, 120)]


def test_topic_id(write: Write) -> None:
    topic_id = uuid.UUID("12345678-1234-5678-1234-567812345678")
    path = write("partition.metadata", content=b"version: 0\ntopic_id: EjRWeBI0VngSNFZ4EjRWeA")
    assert read_topic_id(str(path)) == topic_id


@pytest.mark.parametrize(
    "content",
    [b"", b"version: 1\ntopic_id: EjRWeBI0VngSNFZ4EjRWeA", b"version: 0\n", b"version: 0\ntopic_id: short"],
)
def test_a_damaged_topic_id(write: Write, content: bytes) -> None:
    with pytest.raises(LogDirError, match="damaged checkpoint"):
        read_topic_id(str(write("partition.metadata", content=content)))
