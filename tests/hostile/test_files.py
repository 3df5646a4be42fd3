"""Files that are no files, and files that fail while they are read: an error or a reading without them, and at once."""

from __future__ import annotations

import errno
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.cli.main import main
from kafkalog_source.errors import DataLossError, KafkaLogError, LogDirError
from kafkalog_source.segment import source as source_module
from kafkalog_source.verifying import verify
from tests.builders import Batch, Record, encode, end_marker
from tests.builders.index_files import write_checkpoint, write_indexed, write_partition
from tests.builders.no_files import NO_FILES, put_no_file

AT_ONCE_S = 30
KINDS = (*NO_FILES, "unreadable")
LOG = f"{0:020d}.log"
SIDES = tuple(f"{0:020d}.{suffix}" for suffix in ("index", "timeindex", "txnindex", "snapshot"))
OF_PARTITION = (LOG, *SIDES, "leader-epoch-checkpoint", "partition.metadata")
OF_LOG_DIR = (
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    "cleaner-offset-checkpoint",
    "meta.properties",
)
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"startingOffsets": {"topic": {"0": 2}}},
    {"startingTimestamp": 1_600_000_000_000},
    {"isolationLevel": "read_committed"},
    {"readUpTo": "highWatermark"},
    {"mode": "RECOVER"},
    {"view": "damage"},
)


@pytest.fixture(autouse=True)
def _at_once() -> Iterator[None]:
    """A test that hangs fails."""

    def too_long(_: int, __: FrameType | None) -> None:
        raise AssertionError(f"it took more than {AT_ONCE_S} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(AT_ONCE_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    root = tmp_path / "kafka-logs"
    directory = write_partition(root)
    batches = [Batch([Record(b"k", b"v")] * 2, 2 * i, transactional=True, producer_id=1) for i in range(3)]
    batches.append(Batch([end_marker(commit=True)], 6, control=True, transactional=True, producer_id=1))
    write_indexed(directory, batches, times=[each.base_timestamp for each in batches], interval=1)
    for name in ("log-start-offset-checkpoint", "replication-offset-checkpoint", "recovery-point-offset-checkpoint"):
        write_checkpoint(root / name, {("topic", 0): 0 if "start" in name else 7})
    return root


def rows(path: Path, **options: Any) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return int(kafkalog_source.scan(path, threads=1, **options).to_table().num_rows)


def put(kind: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `path` be something else than a file that can be read."""
    if kind != "unreadable":
        elsewhere = path.parents[2] / "elsewhere"
        elsewhere.write_bytes(encode([Batch(base_offset=9)]))
        put_no_file(kind, path, elsewhere)
        return
    path.write_bytes(b"0\n0\n")
    path.chmod(0)
    _refuse(path, monkeypatch)


def _refuse(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may be allowed to read everything."""
    may_access, opened = os.access, os.open

    def access(name: Any, mode: int, **more: Any) -> bool:
        return str(name) != str(path) and may_access(name, mode, **more)

    def open_(name: Any, *more: Any, **named: Any) -> int:
        if str(name) == str(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(name, *more, **named)

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr(os, "open", open_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*OF_PARTITION, *OF_LOG_DIR])
def test_a_reading_fails_at_once_or_does_without(
    logs: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = (logs / "topic-0" if name in OF_PARTITION else logs) / name
    put(kind, path, monkeypatch)
    for way in WAYS:
        try:
            found = rows(logs, **way)
        except KafkaLogError as error:
            assert str(error).isprintable()
            continue
        assert name != LOG, f"{kind} was read as a segment"
        assert found == (0 if "view" in way else 6 if "startingOffsets" not in way else 4), way
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert name != LOG or not verify([str(logs)], threads=1).is_sound
    assert main(["ls", str(logs)]) in (0, 1, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_given_as_a_path_itself(logs: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = logs / "topic-0" / LOG
    put(kind, path, monkeypatch)
    if kind == "link out":
        # Whoever names a link means what it leads to.
        assert rows(path) == 1
        return
    with pytest.raises(KafkaLogError):
        rows(path)
    assert main(["verify", str(path)]) in (1, 2)


@pytest.mark.parametrize("way", ["partition", "segment"])
def test_links_are_followed_inside_of_the_root_and_out_of_it_when_asked(logs: Path, tmp_path: Path, way: str) -> None:
    moved = logs / "moved"
    inside = logs / "topic-0" / LOG if way == "segment" else logs / "topic-0"
    inside.rename(moved)
    inside.symlink_to(moved)
    assert rows(logs) == 6
    elsewhere = tmp_path / "elsewhere"
    moved.rename(elsewhere)
    inside.unlink()
    inside.symlink_to(elsewhere)
    with pytest.raises(LogDirError, match="symbolic link that leads out"):
        rows(logs)
    assert rows(logs, followSymlinks=True) == 6


def test_names_longer_than_the_system_allows(logs: Path) -> None:
    for path in (logs / ("x" * 300), logs / "topic-0" / ("0" * 300 + ".log"), Path("/", *["d" * 200] * 30)):
        with pytest.raises(LogDirError):
            rows(path)
        assert main(["ls", str(path)]) == 2


@pytest.mark.parametrize("name", ["\0", "a\0b", "\udc80", "\ud800"])  # noqa: PT014 - ruff takes surrogates as equal
def test_names_that_no_file_can_have(logs: Path, name: str) -> None:
    with pytest.raises(KafkaLogError) as caught:
        rows(logs / name)
    assert str(caught.value).isprintable()


class Disk:
    """Stands between the reader and the files of one suffix: reads may fail, be short, or find the file cut.

    ``fail`` is asked with position and size; it gives how many bytes may be read, or raises.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, suffix: str, fail: Callable[[int, int], int]) -> None:
        self._preadv = os.preadv
        self._suffix = suffix
        self._fail = fail
        monkeypatch.setattr(source_module.os, "preadv", self.preadv)

    def preadv(self, descriptor: int, buffers: list[memoryview], position: int) -> int:
        if not os.readlink(f"/proc/self/fd/{descriptor}").endswith(self._suffix):
            return self._preadv(descriptor, buffers, position)
        size = self._fail(position, len(buffers[0]))
        return self._preadv(descriptor, [buffers[0][:size]], position) if size else 0


def unreadable(start: int, end: int) -> Callable[[int, int], int]:
    def fail(position: int, size: int) -> int:
        if start <= position < end:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return size if position >= end else min(size, start - position)

    return fail


@pytest.mark.parametrize("start", [0, 1, 100, 200])
def test_a_disk_that_cannot_read_is_an_error_that_says_where(
    logs: Path, monkeypatch: pytest.MonkeyPatch, start: int
) -> None:
    Disk(monkeypatch, ".log", unreadable(start, start + 50))
    for way in ({}, {"mode": "DROPMALFORMED"}, {"view": "damage"}, {"mode": "PERMISSIVE"}):
        with pytest.raises(LogDirError, match="Input/output error") as caught:
            rows(logs, **way)
        assert caught.value.file == str(logs / "topic-0" / LOG)
        assert caught.value.position is not None
        assert start <= caught.value.position < start + 50


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_an_index_that_the_disk_cannot_read_costs_no_rows(
    logs: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    Disk(monkeypatch, suffix, unreadable(0, 1 << 30))
    for way in WAYS:
        try:
            assert rows(logs, **way) == (0 if "view" in way else 6 if "startingOffsets" not in way else 4)
        except LogDirError as error:
            assert "Input/output" in str(error)


@pytest.mark.parametrize("most", [1, 7, 61, 100])
def test_short_reads_are_read_on(logs: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    Disk(monkeypatch, "", lambda _, size: min(size, most))
    for way in WAYS:
        assert rows(logs, **way) == (0 if "view" in way else 6 if "startingOffsets" not in way else 4)


@pytest.mark.parametrize("left", [0, 1, 60, 100, 250])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_file_that_shrinks_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int, after: int
) -> None:
    """No row is made up, and whoever gets fewer of them is told."""
    directory = write_partition(tmp_path)
    write_indexed(directory, [Batch([Record(b"k", bytes(50_000))], i) for i in range(8)])
    cut = left * 1000
    reads = 0

    def fail(position: int, size: int) -> int:
        nonlocal reads
        # Only what is read in large pieces is the reading itself.
        reads += size > 4096
        return size if reads <= after else max(0, min(size, cut - position))

    Disk(monkeypatch, ".log", fail)
    try:
        found = rows(tmp_path)
    except (DataLossError, KafkaLogError):
        return
    assert found == 8


def test_a_pipe_given_as_a_segment_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / LOG
    os.mkfifo(path)
    for command in (["dump"], ["ls"], ["verify"], ["salvage"]):
        more = [str(tmp_path / "new")] if command == ["salvage"] else []
        assert main([*command, str(path), *more]) in (1, 2)
    assert not (tmp_path / "new").exists()
