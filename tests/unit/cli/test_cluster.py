"""``kafkalog cluster``: what it prints, and what it refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]
METADATA = "__cluster_metadata-0"
FORMATTED = "00000000000000000000-0000000000.checkpoint"


@pytest.fixture
def kraft(fixture_case: Callable[[str], Path]) -> Path:
    return fixture_case("kraft-metadata-4.4") / "log"


@pytest.fixture
def copy(kraft: Path, tmp_path: Path) -> Path:
    """A copy of the metadata log to change."""
    shutil.copytree(kraft / METADATA, tmp_path / METADATA)
    shutil.copy(kraft / "meta.properties", tmp_path)
    return tmp_path


def snapshots(log_dir: Path) -> list[Path]:
    """Those that were taken of the log, without the one that the log dir was formatted with."""
    return sorted(path for path in (log_dir / METADATA).glob("*.checkpoint") if path.name != FORMATTED)


def test_the_state_is_printed_in_sections(kafkalog: Kafkalog, kraft: Path) -> None:
    run = kafkalog("cluster", kraft)
    assert (run.status, run.err) == (0, "")
    head, *sections = run.out.split("\n\n")
    assert "metadata.version 4.4-IV2" in head
    assert ", the end of the log\n" in head
    assert [each.split("\n")[0] for each in sections[:3]] == ["brokers", "controllers", "topics"]
    assert sections[2].split("\n")[1].split() == [
        *("TOPIC", "PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "ELR", "STATE")
    ]
    assert sections[-1].startswith("1 broker, ")


def test_json_is_one_object_with_everything(kafkalog: Kafkalog, kraft: Path) -> None:
    run = kafkalog("cluster", kraft, "--json")
    (line,) = run.out.splitlines()
    found = json.loads(line)
    assert {"topics", "brokers", "controllers", "configs", "acls", "quotas", "users", "voters"} <= found.keys()
    assert found["isLogEnd"] is True
    assert found["problems"] == []
    assert found["timestamp"].endswith("Z")
    assert "(redacted)" in line
    assert "(redacted)" not in kafkalog("cluster", kraft, "--json", "--include-secrets").out


def test_an_offset_and_its_time_give_the_same(kafkalog: Kafkalog, kraft: Path) -> None:
    end = json.loads(kafkalog("cluster", kraft, "--json").out)["offset"]
    before = json.loads(kafkalog("cluster", kraft, "--json", "--at-offset", end - 20).out)
    assert (before["offset"], before["isLogEnd"]) == (end - 20, False)
    by_time = json.loads(kafkalog("cluster", kraft, "--json", "--at", before["timestamp"]).out)
    assert by_time["timestamp"] == before["timestamp"]
    assert by_time["offset"] >= before["offset"]


def test_of_several_copies_the_longest_is_read(kafkalog: Kafkalog, kraft: Path, copy: Path) -> None:
    wanted = json.loads(kafkalog("cluster", kraft, "--json").out)
    last = max((copy / METADATA).glob("*.log"))
    last.unlink()
    for order in ((copy, kraft), (kraft, copy)):
        assert json.loads(kafkalog("cluster", *order, "--json").out) == wanted
    assert json.loads(kafkalog("cluster", copy, "--json").out)["offset"] < wanted["offset"]


def test_a_copy_that_reaches_back_is_read_where_the_longest_does_not(
    kafkalog: Kafkalog, kraft: Path, copy: Path
) -> None:
    for log in sorted((copy / METADATA).glob("*.log"))[:-1]:
        log.unlink()
    (copy / METADATA / FORMATTED).unlink()
    alone = kafkalog("cluster", copy, "--at-offset", "30")
    assert alone.status == 2
    assert "--at-offset is before the metadata that is on disk (found 30, expected " in alone.err
    found = json.loads(kafkalog("cluster", copy, kraft, "--at-offset", "30", "--json").out)
    assert found["offset"] == 30


def test_a_snapshot_alone_is_a_state_and_what_follows_it_is_not(kafkalog: Kafkalog, copy: Path) -> None:
    for log in (copy / METADATA).glob("*.log"):
        log.unlink()
    *_, before, last = snapshots(copy)
    found = json.loads(kafkalog("cluster", copy, "--json").out)
    assert found["offset"] == found["committedOffset"] == int(last.name[:20]) - 1
    end = int(before.name[:20])
    assert json.loads(kafkalog("cluster", copy, "--json", "--at-offset", end - 1).out)["snapshot"] == str(before)
    run = kafkalog("cluster", copy, "--at-offset", end)
    assert run.status == 1
    assert "after the nearest snapshot are missing (found no log" in run.err


def test_the_leader_is_that_of_quorum_state_if_the_log_has_lost_the_election(kafkalog: Kafkalog, copy: Path) -> None:
    wanted = json.loads(kafkalog("cluster", copy, "--json").out)["leader"]
    assert wanted == 1
    for log in (copy / METADATA).glob("*.log"):
        log.unlink()
    assert json.loads(kafkalog("cluster", copy, "--json").out)["leader"] == wanted
    (copy / METADATA / "quorum-state").unlink()
    assert json.loads(kafkalog("cluster", copy, "--json").out)["leader"] is None


def test_a_log_dir_that_was_only_formatted(
    kafkalog: Kafkalog, fixture_case: Callable[[str], Path], tmp_path: Path
) -> None:
    for name in ("bootstrap.checkpoint", "meta.properties"):
        shutil.copy(fixture_case("broker-3.9.1") / "log" / name, tmp_path)
    run = kafkalog("cluster", tmp_path)
    assert run.status == 0
    assert "as it was formatted, before the first record of the metadata log" in run.out
    assert kafkalog("cluster", tmp_path, "--at-offset", "0").status == 2


def test_a_snapshot_that_was_cut_is_damage(kafkalog: Kafkalog, copy: Path) -> None:
    last = snapshots(copy)[-1]
    last.write_bytes(last.read_bytes()[:-90])
    run = kafkalog("cluster", copy)
    assert run.status == 1
    assert last.name in run.err


def test_what_is_refused(kafkalog: Kafkalog, kraft: Path, fixture_case: Callable[[str], Path]) -> None:
    expected = {
        ("--at", "now", "--at-offset", "3"): "both given",
        ("--at", "soon"): "not a time",
        ("--at", "2020-01-01"): "--at is before the metadata that is on disk (found 2020-01-01T00:00:00Z",
        ("--at-offset", "99999999"): "after the end of the metadata log",
    }
    for arguments, words in expected.items():
        run = kafkalog("cluster", kraft, *arguments)
        assert (run.status, run.out) == (2, "")
        assert words in run.err
    run = kafkalog("cluster", fixture_case("v0-2.8") / "log")
    assert run.status == 2
    assert "no path holds a metadata log" in run.err
    run = kafkalog("cluster", kraft, fixture_case("broker-3.9.1") / "log")
    assert run.status == 2
    assert "several clusters" in run.err


def test_records_that_cannot_be_applied_are_listed(kafkalog: Kafkalog, fixture_case: Callable[[str], Path]) -> None:
    run = kafkalog("cluster", fixture_case("internal-topics") / "log")
    assert run.status == 1
    assert len(run.err.splitlines()) == 11
    assert " was not applied: " in run.err
    assert "more; --json lists them" in run.err
