"""What real brokers wrote is sound; what was damaged by hand is not, and the finding says where."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source import KafkaLogError, scan
from kafkalog_source.salvage import salvage
from kafkalog_source.verifying import Severity, Verification, verify
from tests.data.cases import CASES

FixtureCase = Callable[[str], Path]

DAMAGED_BY_HAND = ("corrupt", "codec-variants", "side-files")
SOUND = [name for name in CASES if name not in DAMAGED_BY_HAND]


def log_dirs(case: Path) -> list[Path]:
    log = case / "log"
    inner = sorted(path for path in log.glob("disk*") if path.is_dir())
    return inner or [log]


def told(found: Verification) -> list[str]:
    return [str(finding) for finding in found.all_findings]


@pytest.mark.parametrize("name", SOUND)
def test_what_a_broker_wrote_is_sound(name: str, fixture_case: FixtureCase) -> None:
    for log_dir in log_dirs(fixture_case(name)):
        found = verify([str(log_dir)])
        assert told(found) == []
        assert sum(partition.batches for partition in found.partitions) > 0


REFUSED_BY_KAFKA = {
    "gzip-bad-trailer-crc-0",
    "lz4-linked-blocks-0",
    "lz4-old-header-checksum-0",
    "lz4-v1-old-checksum-0",
    "zstd-bad-checksum-0",
}


def test_streams_of_other_producers(fixture_case: FixtureCase) -> None:
    found = verify([str(fixture_case("codec-variants") / "log")])
    damaged = {Path(f.file).parent.name for f in found.all_findings if f.severity is Severity.DAMAGE}
    assert damaged == REFUSED_BY_KAFKA


SIDE_FILES = {
    "no-indexes-0": set(),
    "odd-length-0": {"the index's size is neither zero nor a multiple of its entry's"},
    "garbage-0": {
        "the offsets of the index do not rise",
        "the timestamps of the index do not rise",
        "the offset of the first entry is below the offset at which the segment begins",
    },
    "past-end-0": {"no batch begins where the index points"},
    "mid-batch-0": {"no batch begins where the index points"},
    "swapped-0": {"no batch begins where the index points"},
    "zero-padded-0": set(),
    "leftovers-0": set(),
    "first-segment-gone-0": set(),
    "middle-segment-gone-0": {"offsets are missing before the next segment: a segment is missing"},
}


def test_side_files_that_lie(fixture_case: FixtureCase) -> None:
    log = fixture_case("side-files") / "log"
    found = verify([str(log)])
    problems: dict[str, set[str]] = {}
    for partition in found.partitions:
        bad = (finding for finding in partition.findings if finding.severity is not Severity.NOTE)
        problems[Path(partition.log.path).name] = {finding.problem for finding in bad}
    assert problems == SIDE_FILES
    assert {Path(finding.file).name for finding in found.findings} == {
        "log-start-offset-checkpoint",
        "replication-offset-checkpoint",
        "meta.properties",
    }


def severities_of_a_read(path: Path) -> set[Severity]:
    read = scan(path, columns=["offset"])
    try:
        read.to_table()
    except KafkaLogError:
        return {Severity.DAMAGE}
    return {Severity.NOTE for _ in read.report()["damage"]}


def test_damaged_segments(fixture_case: FixtureCase) -> None:
    """Verify finds damage where a read does, and a torn end where a read tells one."""
    log = fixture_case("corrupt") / "log"
    cases = json.loads((log / "CORRUPTION.json").read_text())["cases"]
    paths = [log / case["file"] for case in cases if case["file"].endswith(".log") and case["kind"] != "text-file"]
    assert len(paths) > 150
    for path in paths:
        found = verify([str(path)])
        severities = {finding.severity for finding in found.all_findings}
        assert severities == severities_of_a_read(path), (path, told(found))
        assert all(finding.file == str(path) for finding in found.all_findings)


@pytest.mark.parametrize(
    "name", ["v2-4.4", "txn-4.4", "compact-4.4", "groups-4.4", "broker-3.9.1", "kraft-metadata-4.4"]
)
def test_a_sound_log_dir_comes_out_as_it_went_in(name: str, fixture_case: FixtureCase, tmp_path: Path) -> None:
    source = fixture_case(name) / "log"
    report = salvage(str(source), str(tmp_path / "new"))
    assert report.is_complete
    for partition in report.partitions:
        old, new = source / Path(partition.path).name, Path(partition.path)
        for path in new.iterdir():
            before = old / path.name
            if path.suffix == ".txnindex" or path.suffix in ("", ".metadata", ".checkpoint", ".log"):
                assert path.read_bytes() == before.read_bytes(), path
        # The interval of index entries is not known, so the indexes may be sparser.
        assert {p.name for p in old.iterdir() if p.suffix in (".log", ".index", ".timeindex")} == {
            p.name for p in new.iterdir() if p.suffix in (".log", ".index", ".timeindex")
        }
    assert told(verify([str(tmp_path / "new")])) == []
