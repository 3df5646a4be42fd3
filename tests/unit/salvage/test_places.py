"""Where may be read and written, what a failure leaves, and the ids of topics."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from kafkalog_source.errors import LogDirError, OptionError
from kafkalog_source.salvage import parse_topic_ids, salvage
from tests.builders.index_files import TOPIC_ID
from tests.unit.salvage.conftest import salvaged, tree

NEW_ID = uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")


def refused(source: Path, target: Path, said: str) -> None:
    with pytest.raises(LogDirError, match=said):
        salvage(str(source), str(target))


def test_places_that_are_refused(logs: Path, tmp_path: Path) -> None:
    before = tree(tmp_path)
    refused(logs, logs, "inside the old one, or the other way round")
    refused(logs, logs / "new", "inside the old one, or the other way round")
    refused(logs, tmp_path, "inside the old one, or the other way round")
    (tmp_path / "link").symlink_to(logs)
    refused(logs, tmp_path / "link" / "new", "inside the old one, or the other way round")
    refused(tmp_path / "nothing", tmp_path / "new", "not a directory")
    refused(logs / "orders-0", logs / "new", "inside the old one, or the other way round")
    (tmp_path / "logs2").mkdir()
    refused(tmp_path / "logs2", tmp_path / "new", "is neither a log dir nor a partition directory")
    (tmp_path / "logs2").rmdir()
    refused(logs, tmp_path / "none" / "new", "does not exist")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    refused(logs, tmp_path / "full", "is not empty")
    refused(logs, tmp_path / "full" / "x", "exists and is not a directory")
    (tmp_path / "new.kafkalog-salvage").mkdir()
    refused(logs, tmp_path / "new", "interrupted")
    assert {name: each for name, each in tree(tmp_path).items() if not name.startswith("full")} == before


def test_an_empty_directory_is_filled(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "new" / "lost+found").mkdir(parents=True)
    target, _ = salvaged(logs)
    assert {path.name for path in target.iterdir()} >= {"lost+found", "orders-0", "meta.properties"}
    assert not list(target.glob(".kafkalog*"))


def test_nothing_is_left_behind_by_a_failure(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync
    calls = iter(range(1000))

    def fail(descriptor: int) -> None:
        if next(calls) > 5:
            raise OSError(28, os.strerror(28))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LogDirError, match="cannot be written: No space left"):
        salvaged(logs)
    assert {path.name for path in tmp_path.iterdir()} == {"logs"}


def test_a_log_dir_that_a_broker_has_locked_is_refused(logs: Path, tmp_path: Path) -> None:
    (logs / ".lock").write_bytes(b"")
    program = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.lockf(f, fcntl.LOCK_EX); print(1, flush=True); "
        "sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(logs / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        refused(logs, tmp_path / "new", "running broker")
        process.communicate()
    assert salvaged(logs)[1].is_complete


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (f"orders={TOPIC_ID}", ["orders"]),
        (f"orders={TOPIC_ID}, a.b-c={NEW_ID}", ["orders", "a.b-c"]),
    ],
)
def test_topic_ids_on_the_command_line(text: str, ids: list[str]) -> None:
    assert list(parse_topic_ids(text)) == ids


def test_topic_ids_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ids"
    path.write_text(
        f"# ids\norders {TOPIC_ID}\n\nTopic: a.b\tTopicId: {TOPIC_ID}\tPartitionCount: 1\n\tTopic: a.b\tPartition: 0\n"
    )
    assert list(parse_topic_ids(str(path))) == ["orders", "a.b"]


@pytest.mark.parametrize(
    "text", ["", "orders", "orders=", "orders=short", f"or/ders={TOPIC_ID}", f"a={TOPIC_ID},a={NEW_ID}", "a b c"]
)
def test_what_is_no_topic_id(text: str) -> None:
    with pytest.raises(OptionError):
        parse_topic_ids(text)


def test_a_file_of_topic_ids_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "ids"
    path.touch()
    os.truncate(path, (64 << 20) + 1)
    with pytest.raises(OptionError, match=r"too large \(found .*/ids of 67108865 bytes, expected at most 67108864 b"):
        parse_topic_ids(str(path))


def test_an_id_for_a_topic_that_is_not_there(logs: Path) -> None:
    with pytest.raises(OptionError, match="not found: odrers"):
        salvaged(logs, topic_ids={"odrers": NEW_ID})
    assert not (logs.parent / "new").exists()
