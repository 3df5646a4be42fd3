"""What the commands say of records that are not in a directory: in remote storage, compressed, or gone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.builders import Batch, Record, write_segment
from tests.builders.index_files import write_checkpoint, write_indexed, write_partition

Kafkalog = Callable[..., Any]
PACKED = "00000000000000000000.log.gz"


@pytest.fixture
def tiered(tmp_path: Path) -> Path:
    """t-0 with offsets 0 to 99 in remote storage, u-0 without any."""
    for topic, base in (("t", 100), ("u", 0)):
        write_indexed(write_partition(tmp_path, topic), [Batch([Record()], base_offset=base)], base_offset=base)
    write_checkpoint(tmp_path / "log-start-offset-checkpoint", {("t", 0): 0})
    return tmp_path


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """orders-0 with a compressed segment alone."""
    directory = write_partition(tmp_path, "orders")
    (directory / PACKED).write_bytes(b"\x1f\x8b")
    write_checkpoint(tmp_path / "log-start-offset-checkpoint", {})
    return tmp_path


def test_ls_marks_what_is_in_remote_storage(kafkalog: Kafkalog, tiered: Path) -> None:
    run = kafkalog("ls", tiered)
    assert (run.status, run.err) == (0, "")
    rows = [line.split() for line in run.out.splitlines()]
    assert [rows[0][-1], rows[1][-1], rows[2][-1]] == ["REMOTE", "0..99", "-"]
    shown = json.loads(kafkalog("ls", tiered, "--json").out)["partitions"]
    assert [each["remote"] for each in shown] == [{"firstOffset": 0, "lastOffset": 99, "certain": True}, None]


def test_ls_marks_what_may_be_missing(kafkalog: Kafkalog, tiered: Path) -> None:
    write_checkpoint(tiered / "log-start-offset-checkpoint", {("t", 0): 5})
    assert "5..99 or missing" in kafkalog("ls", tiered).out


def test_ls_has_no_such_column_where_nothing_is_remote(kafkalog: Kafkalog, tiered: Path) -> None:
    assert "REMOTE" not in kafkalog("ls", tiered, "--subscribe", "u").out


def test_verify_does_not_call_a_tiered_partition_sound(kafkalog: Kafkalog, tiered: Path) -> None:
    run = kafkalog("verify", tiered)
    assert run.status == 1
    lines = run.out.splitlines()
    assert lines[0].split()[6:] == ["DAMAGE", "MISLEADING", "UNCHECKED", "NOTES"]
    assert lines[1].split()[6:] == ["0", "0", "1", "0"]
    assert lines[3].startswith(
        f"unchecked: {tiered}/t-0: offsets 0 to 99 are in remote storage: they cannot be checked"
    )
    assert lines[4].startswith("not fully checked: ")
    assert json.loads(kafkalog("verify", tiered, "--json").out)["sound"] is False
    run = kafkalog("verify", tiered, "--subscribe", "u")
    assert (run.status, "UNCHECKED" in run.out) == (0, False)


def test_dump_refuses_what_is_in_remote_storage(kafkalog: Kafkalog, tiered: Path) -> None:
    run = kafkalog("dump", tiered)
    assert (run.status, run.out) == (1, "")
    assert "offsets 0 to 99 are in remote storage" in run.err
    run = kafkalog("dump", tiered / "t-0", "-o", "failOnDataLoss=false", "--columns", "offset")
    assert (run.status, run.out) == (0, "offset=100\n")
    assert "remote" in run.err
    run = kafkalog("dump", tiered / "t-0", "--starting-offsets", '{"t":{"0":100}}', "--columns", "offset")
    assert (run.status, run.out, run.err) == (0, "offset=100\n", "")


@pytest.mark.parametrize("below", ["", "orders-0"])
def test_a_partition_with_a_compressed_segment_alone(kafkalog: Kafkalog, packed: Path, below: str) -> None:
    run = kafkalog("verify", packed / below)
    assert run.status == 1
    (finding,) = [line for line in run.out.splitlines() if line.startswith(("damage", "unchecked", "note"))]
    assert finding.startswith(f"unchecked: {packed}/orders-0/{PACKED}: is compressed")
    assert "gzip -d" in finding
    run = kafkalog("dump", packed / below)
    assert (run.status != 0, run.out) == (True, "")
    assert PACKED in run.err
    assert "gzip -d" in run.err
    assert len(run.err.splitlines()) == 1


def test_ls_names_compressed_segments(kafkalog: Kafkalog, packed: Path) -> None:
    run = kafkalog("ls", packed, "--skipped")
    assert f"skipped: {packed}/orders-0/{PACKED}: a compressed file, which is not read" in run.out
    assert "holds no segment that can be read" in run.err


@pytest.mark.parametrize("below", ["", "orders-0"])
def test_a_partition_without_any_segment(kafkalog: Kafkalog, packed: Path, below: str) -> None:
    (packed / "orders-0" / PACKED).unlink()
    run = kafkalog("verify", packed / below)
    assert run.status == 1
    assert f"damage: {packed}/orders-0: holds no segment that can be read" in run.out
    run = kafkalog("dump", packed / below)
    assert run.status != 0
    assert run.err.startswith("kafkalog: ")
    assert "holds no segment" in run.err
    assert len(run.err.splitlines()) == 1


def test_dump_of_what_is_there_still_exits_with_1(kafkalog: Kafkalog, packed: Path) -> None:
    write_segment(write_partition(packed, "pay"), [Batch([Record()])])
    run = kafkalog("dump", packed, "--columns", "topic,offset")
    assert (run.status, run.out) == (1, "topic=pay offset=0\n")


def test_a_foreign_file_is_a_note(kafkalog: Kafkalog, tiered: Path) -> None:
    (tiered / "u-0" / "notes.txt").write_bytes(b"")
    (tiered / "old-1.tar.gz").write_bytes(b"")
    run = kafkalog("verify", tiered, "--subscribe", "u")
    assert run.status == 0
    assert f"note: {tiered}/u-0/notes.txt: not one of Kafka's files" in run.out
    assert f"note: {tiered}/old-1.tar.gz: an archive, which is not read: unpack it first (tar -xf)" in run.out


def test_a_segment_that_is_compressed_beside_others_is_not_checked(kafkalog: Kafkalog, tiered: Path) -> None:
    (tiered / "u-0" / f"{1:020d}.log.zst").write_bytes(b"")
    run = kafkalog("verify", tiered, "--subscribe", "u")
    assert run.status == 1
    assert "unchecked: " in run.out
    run = kafkalog("dump", tiered, "--subscribe", "u", "--columns", "offset")
    assert (run.status, run.out) == (0, "offset=0\n")
    assert "zstd -d" in run.err
