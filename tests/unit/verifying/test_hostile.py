"""Files that are no files, and disks that cannot read: told at once, and the rest is checked."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kafkalog_source.errors import LogDirError
from kafkalog_source.segment import source as source_module
from kafkalog_source.verifying import Severity
from tests.builders.index_files import positions, write_indexed, write_partition
from tests.builders.no_files import NO_FILES, put_no_file
from tests.unit.verifying.conftest import batches, check, only, times

SEGMENT = "00000000000000000060.log"


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_named_as_a_segment_and_is_none(logs: Path, kind: str, tmp_path: Path) -> None:
    path = logs / "orders-0" / SEGMENT
    (tmp_path / "elsewhere").write_bytes(b"")
    put_no_file(kind, path, tmp_path / "elsewhere")
    found = check(logs)
    finding = only(found, Severity.DAMAGE)
    assert finding.file == str(path)
    assert found.partitions[0].records == 60


@pytest.mark.parametrize(
    "name", ["00000000000000000000.index", "leader-epoch-checkpoint", "00000000000000000060.snapshot"]
)
def test_a_fifo_beside_the_segments(logs: Path, name: str) -> None:
    path = logs / "orders-0" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    found = check(logs)
    assert found.partitions[0].records == 60
    assert [finding.file for finding in found.all_findings if finding.severity is not Severity.NOTE] in (
        [str(path)],
        [],
    )
    assert name.endswith(".index") == found.is_sound


def test_a_fifo_among_the_checkpoints(logs: Path) -> None:
    (logs / "log-start-offset-checkpoint").unlink()
    os.mkfifo(logs / "log-start-offset-checkpoint")
    finding = only(check(logs))
    assert "is a FIFO" in finding.problem


def test_what_may_not_be_read(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = logs / "orders-0" / "00000000000000000000.log"
    path.chmod(0o600)
    # Whoever runs the tests may read everything.
    monkeypatch.setattr(os, "access", lambda *_: False)
    found = check(logs)
    finding = found.all_findings[0]
    assert (finding.severity, finding.file, finding.problem) == (Severity.DAMAGE, str(path), "permission denied")
    assert found.partitions[0].records == 30


def test_a_partition_that_cannot_be_listed_leaves_the_others(logs: Path) -> None:
    (logs / "other-0").symlink_to("/proc")
    found = check(logs)
    finding = only(found, Severity.DAMAGE)
    assert finding.file == str(logs / "other-0")
    assert found.partitions[0].records == 60


def test_paths_that_hold_nothing_to_check(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "missing", tmp_path, tmp_path / ("x" * 300)):
        with pytest.raises(LogDirError):
            check(path)


def test_a_name_with_control_characters_is_escaped(logs: Path) -> None:
    (logs / "orders-0" / "\x1b[31m\n.log").write_bytes(b"x")
    root = logs.parent / "e\x1b]0;x\x07vil"
    logs.rename(root)
    (root / "orders-0" / "00000000000000000000.index").write_bytes(b"\1")
    findings = check(root).all_findings
    assert [finding.severity for finding in findings] == [Severity.MISLEADING, Severity.NOTE]
    assert all(str(finding).isprintable() for finding in findings)


class BadDisk:
    """Fails to read some blocks of files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, start: int, end: int) -> None:
        self._preadv = os.preadv
        self.start, self.end = start, end
        monkeypatch.setattr(source_module.os, "preadv", self.preadv)

    def preadv(self, descriptor: int, buffers: list[memoryview], position: int) -> int:
        if not os.readlink(f"/proc/self/fd/{descriptor}").endswith(".log"):
            return self._preadv(descriptor, buffers, position)
        if self.start <= position < self.end:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        wanted = len(buffers[0])
        if position < self.start:
            wanted = min(wanted, self.start - position)
        return self._preadv(descriptor, [buffers[0][:wanted]], position)


def test_blocks_that_cannot_be_read_cost_only_their_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = write_partition(tmp_path)
    entries = batches(0, 300)
    write_indexed(directory, entries, times=times(entries))
    where = positions(entries)
    BadDisk(monkeypatch, 8192, 16384)
    found = check(tmp_path)
    lost = [e for e, at in zip(entries, where, strict=True) if at + len(e.encode()) > 8192 and at < 16384]
    assert found.partitions[0].batches == 300 - len(lost)
    damage = [finding for finding in found.all_findings if finding.severity is Severity.DAMAGE]
    assert any("cannot be read" in finding.problem and finding.position == 8192 for finding in damage)
    assert sum(finding.size or 0 for finding in damage) == sum(len(e.encode()) for e in lost)
    assert not found.is_sound
