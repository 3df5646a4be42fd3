"""One rule for what every command exits with when a path is missing, is no segment or may not be read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source import errors
from kafkalog_source.errors import BAD_DATA, NOT_RUN, OptionError, exit_status, kind_of
from tests.unit.cli.conftest import Run
from tests.unit.salvage.conftest import flip
from tests.unit.salvage.conftest import logs as logs  # a fixture: a log dir with the metadata of its cluster

Kafkalog = Callable[..., Run]
COMMANDS = ("ls", "dump", "verify", "salvage", "cluster", "transactions")
SEGMENT = "orders-0/00000000000000000000.log"


@pytest.fixture
def run_all(kafkalog: Kafkalog, tmp_path: Path) -> Callable[[Path], dict[str, Run]]:
    def run(path: Path) -> dict[str, Run]:
        return {
            command: kafkalog(command, path, *([tmp_path / "new"] if command == "salvage" else []))
            for command in COMMANDS
        }

    return run


def deny(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the right to read a file away, also from a superuser, whom the system would let read it all the same."""
    path.chmod(0o600)
    access = os.access
    monkeypatch.setattr(os, "access", lambda asked, mode: os.fspath(asked) != str(path) and access(asked, mode))


@pytest.mark.parametrize(
    "name", ["none", "none.log", "orders-0/notes.txt", "orders-0/leader-epoch-checkpoint", "empty"]
)
def test_a_path_that_holds_nothing_to_read(run_all: Callable[[Path], dict[str, Run]], logs: Path, name: str) -> None:
    (logs / "orders-0" / "notes.txt").write_text("nothing of Kafka's")
    (logs / "empty").mkdir()
    for command, run in run_all(logs / name).items():
        assert (run.status, run.out) == (NOT_RUN, ""), command
        assert len(run.err.splitlines()) == 1


@pytest.mark.parametrize("given", ["", "orders-0", SEGMENT])
def test_a_segment_that_may_not_be_read(
    run_all: Callable[[Path], dict[str, Run]], logs: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    deny(logs / SEGMENT, monkeypatch)
    runs = run_all(logs / given)
    # It reads no other segments than those of the metadata log.
    assert runs.pop("cluster").status == (NOT_RUN if given else BAD_DATA)
    for command, run in runs.items():
        assert run.status == NOT_RUN, command
        if command != "salvage" or not given:
            assert f"{logs / SEGMENT}: permission denied" in run.out + run.err


def test_verify_checks_the_rest_of_what_may_not_be_read(
    kafkalog: Kafkalog, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deny(logs / SEGMENT, monkeypatch)
    flip(logs / SEGMENT.replace("00000.log", "00030.log"), 100)
    run = kafkalog("verify", logs)
    assert run.status == NOT_RUN
    assert "checksum" in run.out
    lines = run.out.splitlines()
    assert lines[-5].startswith("not fully checked, permission denied for 1 file: 3 partitions")
    # What was not checked is not called lost.
    assert lines[-4] == "lost: orders-0: at most 3 of 30 offsets (10 %): 30 to 32"
    assert "orphaned" not in run.out
    assert '"complete":false' in kafkalog("verify", logs, "--json").out.replace(" ", "")


@pytest.mark.parametrize("command", ["dump", "verify"])
def test_content_that_is_no_segment_is_bad_data(kafkalog: Kafkalog, logs: Path, command: str) -> None:
    (logs / SEGMENT).write_bytes(b"this was never a segment of Kafka's\n" * 100)
    assert kafkalog(command, logs / SEGMENT).status == BAD_DATA
    assert kafkalog(command, logs / "orders-0").status == BAD_DATA


def test_every_kind_of_error_has_its_status() -> None:
    not_run = {"LogDirError", "NotASegmentError", "OptionError", "PermissionDeniedError"}
    kinds = {name for name in errors.__all__ if name.endswith("Error")}
    assert {name for name in kinds if exit_status(getattr(errors, name)) == NOT_RUN} == not_run
    assert {exit_status(getattr(errors, name)) for name in kinds - not_run} == {BAD_DATA}
    assert exit_status(OptionError) == NOT_RUN


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (PermissionError(13, "x"), "PermissionDeniedError"),
        (FileNotFoundError(2, "x"), "LogDirError"),
        (OSError(5, "Input/output error"), "ReadFailedError"),
    ],
)
def test_failures_of_the_system(error: OSError, name: str) -> None:
    assert kind_of(error).__name__ == name
