"""`compacted_up_to`: how far a broker's log cleaner has come."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source import LogDirError, OptionError, compacted_up_to
from tests.builders import Batch, partition_dir, write_segment

CHECKPOINT = "cleaner-offset-checkpoint"


def log_dir(root: Path, *topics: str) -> Path:
    for topic in topics:
        write_segment(partition_dir(root, topic), [Batch()])
    return root


def test_it_is_what_the_checkpoint_says_and_0_for_others(tmp_path: Path) -> None:
    logs = log_dir(tmp_path, "a", "b")
    (logs / CHECKPOINT).write_text("0\n1\na 0 7\n")
    assert compacted_up_to(logs) == {("a", 0): 7, ("b", 0): 0}
    assert compacted_up_to(str(logs), subscribe="a") == {("a", 0): 7}
    assert compacted_up_to(logs / "a-0") == {("a", 0): 7}
    (segment,) = (logs / "a-0").glob("*.log")
    assert compacted_up_to([segment]) == {("a", 0): 7}


def test_a_partition_without_a_segment_is_told_too(tmp_path: Path) -> None:
    logs = log_dir(tmp_path, "a")
    partition_dir(logs, "empty")
    (logs / CHECKPOINT).write_text("0\n1\nempty 0 9\n")
    assert compacted_up_to(logs) == {("a", 0): 0, ("empty", 0): 9}


@pytest.mark.parametrize("content", [None, b"", b"0\n1\n", b"\xff", b"0\n1\na 0 x\n"])
def test_without_a_checkpoint_that_can_be_read_it_is_unknown(tmp_path: Path, content: bytes | None) -> None:
    logs = log_dir(tmp_path / "one", "a")
    other = log_dir(tmp_path / "other", "b")
    (other / CHECKPOINT).write_text("0\n1\nb 0 3\n")
    if content is not None:
        (logs / CHECKPOINT).write_bytes(content)
    # An empty file is one in which the broker has written nothing yet.
    assert compacted_up_to([logs, other]) == {("a", 0): 0 if content == b"" else None, ("b", 0): 3}


def test_a_segment_outside_of_any_partition_is_not_in_it(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    assert compacted_up_to(write_segment(tmp_path / "alone", [Batch()])) == {}


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError):
        compacted_up_to(log_dir(tmp_path, "a"), subscrib="a")
    with pytest.raises(LogDirError):
        compacted_up_to(tmp_path / "none")
