"""Snapshots, checkpoints and the other small files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafkalog_source.verifying import Severity
from tests.builders import Batch, control_record
from tests.builders.index_files import write_checkpoint
from tests.builders.transactions import producer_snapshot
from tests.unit.verifying.conftest import check, only


def age(path: Path) -> None:
    """What was just written may still be written to, so that it would be looked at again."""
    os.utime(path, (1_600_000_000, 1_600_000_000))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (producer_snapshot({}, [1, 2]), None),
        (producer_snapshot({7: 3}), None),
        (producer_snapshot({7: 99}), "the transaction of producer 7 from offset 99 on is invalid"),
        (producer_snapshot({}, [1])[:-1], "its checksum is wrong: stored CRC 0x"),
        (producer_snapshot({}, [1], version=9), "it has version 9, expected 1"),
        (b"\0\1", "its size of 2 bytes is below the header's 10"),
    ],
)
def test_producer_snapshots(logs: Path, content: bytes, said: str | None) -> None:
    path = logs / "orders-0" / "00000000000000000060.snapshot"
    path.write_bytes(content)
    age(path)
    found = check(logs)
    if said is None:
        assert found.all_findings == []
    else:
        finding = only(found)
        assert finding.file == str(path)
        assert said in finding.problem


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("leader-epoch-checkpoint", "0\n2\n0 0\n", "damaged checkpoint, in line 2"),
        ("leader-epoch-checkpoint", "0\n2\n3 0\n2 9\n", "do not rise"),
        ("leader-epoch-checkpoint", "0\n2\n1 7\n2 3\n", "do not rise"),
        ("partition.metadata", "version: 0\n", "damaged checkpoint"),
        ("quorum-state", "{", "not a JSON object"),
        ("quorum-state", '{"leaderEpoch":3}', None),
    ],
)
def test_files_of_a_partition(logs: Path, name: str, content: str, said: str | None) -> None:
    path = logs / "orders-0" / name
    path.write_text(content)
    age(path)
    found = check(logs)
    if said is None:
        assert found.all_findings == []
    else:
        assert said in only(found).problem


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("recovery-point-offset-checkpoint", "", None),
        ("recovery-point-offset-checkpoint", "0\n1\norders 0 60\n", None),
        ("replication-offset-checkpoint", "0\n1\norders 0 61\n", "after the end of orders-0"),
        ("log-start-offset-checkpoint", "0\n1\norders 0 61\n", "would delete all its segments"),
        ("log-start-offset-checkpoint", "7\n0\n", "damaged checkpoint, in line 1"),
        ("cleaner-offset-checkpoint", "0\n1\norders 0 x\n", "damaged checkpoint, in line 3"),
        ("meta.properties", "version=1\nnode.id=1\n", None),
        ("meta.properties", "# version=1\nnode.id=1\n", "does not start"),
        ("meta.properties", "version=99\n", "does not start"),
    ],
)
def test_files_of_a_log_dir(logs: Path, name: str, content: str, said: str | None) -> None:
    path = logs / name
    path.write_text(content)
    age(path)
    found = check(logs)
    assert found.warnings == []
    if said is None:
        assert found.all_findings == []
    else:
        finding = only(found)
        assert finding.file == str(path)
        assert said in finding.problem


def test_a_checkpoint_that_knows_no_more_than_the_log(logs: Path) -> None:
    write_checkpoint(logs / "replication-offset-checkpoint", {("orders", 0): 60, ("gone", 3): 999})
    assert check(logs).all_findings == []


def test_snapshots_of_the_metadata_log(logs: Path) -> None:
    path = logs / "orders-0" / "00000000000000000060-0000000001.checkpoint"
    header, footer = (Batch([control_record(kind)], base_offset=at, control=True) for kind, at in ((3, 0), (4, 2)))
    whole = header.encode() + Batch(base_offset=1).encode() + footer.encode()
    path.write_bytes(whole)
    age(path)
    assert check(logs).all_findings == []
    path.write_bytes(whole[: -len(footer.encode())])
    age(path)
    assert "footer" in only(check(logs), Severity.DAMAGE).problem
    path.write_bytes(whole[:70] + b"\xff" + whole[71:])
    age(path)
    assert "checksum" in only(check(logs), Severity.DAMAGE).problem


def test_indexes_of_a_segment_that_cannot_be_opened_are_no_orphans(logs: Path) -> None:
    """What is wrong is said once; of a segment that is not there at all the indexes are left over."""
    segment = logs / "orders-0" / "00000000000000000000.log"
    segment.unlink()
    segment.mkdir()
    finding = only(check(logs), Severity.DAMAGE)
    assert finding.file == str(segment)
    segment.rmdir()
    assert {finding.problem for finding in check(logs).all_findings} == {
        "an orphaned index file without a corresponding log file"
    }
