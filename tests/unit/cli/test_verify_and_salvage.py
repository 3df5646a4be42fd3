"""The commands verify and salvage: what they print and what they exit with."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source.cli.progress import progress_bar
from tests.builders.index_files import TOPIC_ID, write_indexed
from tests.unit.cli.conftest import Run
from tests.unit.salvage.conftest import flip
from tests.unit.salvage.conftest import logs as logs  # a fixture: a log dir with the metadata of its cluster
from tests.unit.verifying.conftest import batches

Kafkalog = Callable[..., Run]
SEGMENT = "orders-0/00000000000000000000.log"


def test_verify_of_a_sound_log_dir(kafkalog: Kafkalog, logs: Path) -> None:
    run = kafkalog("verify", logs)
    assert (run.status, run.err) == (0, "")
    rows = [line.split() for line in run.out.splitlines()]
    assert rows[0] == ["TOPIC", "PARTITION", "SEGMENTS", "BYTES", "BATCHES", "RECORDS", "DAMAGE", "MISLEADING", "NOTES"]
    assert rows[2][:3] == ["orders", "0", "2"]
    assert rows[2][4:] == ["20", "60", "0", "0", "0"]
    assert run.out.splitlines()[-1] == "sound: 3 partitions, 4 segments, 22 batches, 62 records"


def test_verify_tells_each_finding_in_a_line(kafkalog: Kafkalog, logs: Path) -> None:
    flip(logs / SEGMENT, 100)
    (logs / "orders-0" / "00000000000000000030.index").write_bytes(b"\1")
    run = kafkalog("verify", logs)
    assert run.status == 1
    lines = run.out.splitlines()[4:]
    assert lines[0].startswith(f"damage: {logs / SEGMENT}, position 0: the batch's checksum is wrong (")
    assert lines[0].endswith(", offsets from 0 to 2)")
    assert lines[1].startswith(f"misleading: {logs}/orders-0/00000000000000000030.index: the index's size is neither")
    assert lines[2].startswith("not sound: ")
    assert lines[2].endswith("; findings: 1 damage, 1 misleading")
    # The log starts at offset 2.
    assert lines[3:] == [
        "lost: orders-0: at most 1 of 58 offsets (1.72 %): 2",
        "lost in all: at most 1 of 58 offsets (1.72 %) in this 1 of 3 partitions",
        f"next: kafkalog export {logs} --rescue -o OUT.parquet  (all records that can be read)",
        f"next: kafkalog salvage {logs} DST  (all good batches, as a new log dir)",
    ]


@pytest.mark.parametrize(("lost", "words"), [(1, "1 note"), (2, "2 notes")])
def test_verify_counts_notes(kafkalog: Kafkalog, logs: Path, lost: int, words: str) -> None:
    for index in sorted((logs / "orders-0").glob("*.index"))[:lost]:
        index.unlink()
    run = kafkalog("verify", logs)
    assert run.status == 0
    assert run.out.splitlines()[-1].endswith(f"; findings: {words}")


def test_verify_counts_what_is_missing_and_what_cannot_be_read(kafkalog: Kafkalog, logs: Path) -> None:
    """A damaged batch, a segment that is missing, one that is none, and an end that nobody knows."""
    directory = logs / "orders-0"
    (directory / "00000000000000000030.log").unlink()
    write_indexed(directory, batches(90, 3), base_offset=90)
    write_indexed(directory, batches(120, 3), base_offset=120)
    (directory / "00000000000000000090.log").write_bytes(b"no segment at all" * 10)
    flip(logs / "__cluster_metadata-0" / "00000000000000000000.log", 100)
    lines = kafkalog("verify", logs, "--assign", '{"orders": [0]}').out.splitlines()
    assert lines[-3] == "lost: orders-0: at most 90 of 127 offsets (70.9 %): 30 to 119"
    assert lines[-2].startswith(f"next: kafkalog export {logs} --assign '{{\"orders\": [0]}}' --rescue -o ")


def test_verify_says_that_nothing_is_lost(kafkalog: Kafkalog, logs: Path) -> None:
    (logs / "orders-0" / "00000000000000000030.index").write_bytes(b"\1")
    run = kafkalog("verify", logs)
    assert (run.status, run.out.splitlines()[-1]) == (1, "lost: nothing; all records can be read")


def test_verify_as_json_has_the_losses(kafkalog: Kafkalog, logs: Path) -> None:
    flip(logs / SEGMENT, 100)
    (lost,) = json.loads(kafkalog("verify", logs, "--json").out)["lost"]
    assert (lost["topic"], lost["partition"], lost["lostOffsets"], lost["offsets"]) == ("orders", 0, 1, 58)
    assert lost["ranges"] == [{"firstOffset": 2, "lastOffset": 2}]


def test_verify_as_json(kafkalog: Kafkalog, logs: Path) -> None:
    flip(logs / SEGMENT, 100)
    run = kafkalog("verify", logs, "--json", "--threads", "1", "--subscribe", "orders")
    assert run.status == 1
    document = json.loads(run.out)
    assert document["sound"] is False
    assert [each["topic"] for each in document["partitions"]] == ["orders", "orders"]
    (finding,) = document["partitions"][0]["findings"]
    assert (finding["severity"], finding["position"], finding["lastOffset"]) == ("damage", 0, 2)
    assert (finding["firstOffset"], finding["file"]) == (0, str(logs / SEGMENT))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify", "{logs}/none"], "no such file or directory"),
        (["verify", "{logs}", "-o", "mode=PERMISSIVE"], "does not apply to verify"),
        (["verify", "{logs}", "--threads", "0"], "range 1<=x<=1024"),
        (["salvage", "{logs}"], "DST"),
        (["salvage", "{logs}", "{logs}/new"], "inside the old one, or the other way round"),
        (["salvage", "{logs}/none", "{logs}-new"], "not a directory"),
        (["salvage", "{logs}", "{logs}-new", "--topic-ids", "orders=?"], "this is not a topic id"),
        (["salvage", "{logs}", "{logs}-new", "-o", "startingOffsets=earliest"], "does not apply to salvage"),
    ],
)
def test_what_cannot_run(kafkalog: Kafkalog, logs: Path, arguments: list[str], said: str) -> None:
    run = kafkalog(*(argument.replace("{logs}", str(logs)) for argument in arguments))
    assert (run.status, run.out) == (2, "")
    assert said in run.err
    assert len(run.err.splitlines()) == 1
    assert {path.name for path in logs.parent.iterdir()} == {"logs"}


def test_salvage(kafkalog: Kafkalog, logs: Path) -> None:
    target = logs.parent / "new"
    flip(logs / SEGMENT, 100)
    run = kafkalog("salvage", logs, target)
    assert (run.status, run.err) == (1, "")
    rows = [line.split() for line in run.out.splitlines()]
    assert rows[0] == ["TOPIC", "PARTITION", "SEGMENTS", "BYTES", "BATCHES", "RECORDS", "START", "END", "LEFT-OUT"]
    assert rows[2][4:] == ["19", "57", "0", "60", "1"]
    assert run.out.splitlines()[4].startswith(f"left out: {logs / SEGMENT}, position 0, ")
    assert run.out.splitlines()[-1].startswith(f"{target}: 3 partitions, 21 batches, ")
    assert kafkalog("verify", target).status == 0


def test_salvage_of_what_cannot_be_read(kafkalog: Kafkalog, logs: Path) -> None:
    target = logs.parent / "new"
    (logs / "orders-0" / "00000000000000000099.log").mkdir()
    run = kafkalog("salvage", logs, target)
    assert (run.status, run.out) == (2, "")
    assert "--skip-unreadable" in run.err
    assert not target.exists()
    run = kafkalog("salvage", logs, target, "--skip-unreadable")
    assert (run.status, run.err) == (1, "")
    assert "left out: " in run.out
    assert run.out.endswith("; of these 1 path could not be read and is not in DST\n")


def test_salvage_as_json(kafkalog: Kafkalog, logs: Path) -> None:
    target = logs.parent / "new"
    run = kafkalog("salvage", logs, target, "--json", "--topic-ids", f"orders={TOPIC_ID}")
    assert run.status == 0
    document = json.loads(run.out)
    assert document["complete"] is True
    assert [(each["topic"], each["endOffset"]) for each in document["partitions"]] == [("orders", 60), ("orders", 0)]
    assert [each["loss"] for each in document["leftOut"]] == [False]


@pytest.mark.parametrize("arguments", [["verify", "--help"], ["salvage", "--help"]])
def test_help_has_examples_and_the_exit_status(kafkalog: Kafkalog, arguments: list[str]) -> None:
    run = kafkalog(*arguments)
    assert run.status == 0
    assert "examples:" in run.out
    assert "exit status:" in run.out


def test_control_characters_in_names_are_escaped(kafkalog: Kafkalog, logs: Path) -> None:
    evil = logs.parent / "e\x1b]0;x\x07vil"
    logs.rename(evil)
    flip(evil / SEGMENT, 100)
    for run in (kafkalog("verify", evil), kafkalog("verify", evil, "--json"), kafkalog("salvage", evil, logs)):
        assert run.status == 1
        assert all(line.isprintable() for line in run.out.splitlines())


def test_the_bar_is_drawn_only_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Semaphore(0)

    def state() -> tuple[int, int]:
        asked.release()
        return 3_000_000, 12_000_000

    # Some people set it for all programs; a bar in a log file would be noise all the same.
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("verifying", state):
        assert not asked.acquire(timeout=0.3)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    with progress_bar("verifying", state):
        # One call comes with the construction, one with the start; the third one shows that it is polled.
        for _ in range(3):
            assert asked.acquire(timeout=30)
    err = capsys.readouterr().err
    (frame, *_) = [line for line in re.split(r"[\r\n]", err) if "verifying" in line]
    text = re.sub(r"\x1b\[\??[0-9;]*[a-zA-Z]", "", frame)
    assert text.startswith("verifying ")
    assert " 25% 2.9/11.4 MiB " in text
    assert len(text) <= 80
    assert err.endswith("\x1b[2K")


def test_a_bar_without_a_total_pulses(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar("salvaging", lambda: (0, 0)):
        pass
    assert "0/? bytes" in capsys.readouterr().err
