"""Both isolation levels give the offsets that a live consumer of Kafka 4.4.0 gave for the same partition."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir import list_logs
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.transactions.history import from_headers
from tests.data.cases import CASES
from tests.vectors.oracle import oracle_segments

FixtureCase = Callable[[str], Path]

WITH_CONSUMERS = ("compact-2.8", "compact-4.4", "groups-4.4", "logstart-4.4", "names-4.4", "txn-2.8", "txn-4.4")


def consumed(case: Path) -> Iterator[tuple[dict[str, Any], list[Path]]]:
    """What each consumer returned, with the log dirs that its partition is in."""
    log_dirs = sorted((case / "log").glob("disk*")) or [case / "log"]
    for file in sorted((case / "oracle" / "consumer").glob("*.json")):
        yield json.loads(file.read_text(encoding="utf-8")), log_dirs


def offsets_read(log_dirs: list[Path], topic: str, partition: int, level: str, **options: Any) -> list[int]:
    read = kafkalog_source.scan(
        log_dirs, columns=["offset"], assign={topic: [partition]}, isolationLevel=level, **options
    )
    offsets: list[int] = read.to_table()["offset"].to_pylist()
    return offsets


def wanted_offsets(found: dict[str, Any]) -> list[int]:
    return [record["offset"] for record in found["records"]]


def test_the_cases_with_consumers_are_known(fixture_case: FixtureCase) -> None:
    counts = {case: len(list(consumed(fixture_case(case)))) for case in CASES}
    assert tuple(sorted(case for case, count in counts.items() if count)) == WITH_CONSUMERS
    assert sum(counts.values()) == 88


@pytest.mark.parametrize("case", WITH_CONSUMERS)
def test_a_consumer_of_either_isolation_level_got_the_same(case: str, fixture_case: FixtureCase) -> None:
    for found, log_dirs in consumed(fixture_case(case)):
        offsets = offsets_read(log_dirs, found["topic"], found["partition"], found["isolation"])
        assert offsets == wanted_offsets(found), (found["topic"], found["partition"], found["isolation"])


TRANSACTIONAL = ("txn-4.4", "txn-2.8", "groups-4.4", "compact-4.4")


@pytest.mark.parametrize("case", TRANSACTIONAL)
@pytest.mark.parametrize("gone", [(".txnindex",), (".snapshot",), (".txnindex", ".snapshot"), (".index",)])
def test_missing_side_files_change_no_row(
    case: str, gone: tuple[str, ...], fixture_case: FixtureCase, tmp_path: Path
) -> None:
    copy = tmp_path / case
    shutil.copytree(fixture_case(case), copy)
    for file in [file for file in copy.rglob("*") if file.suffix in gone]:
        file.unlink()
    for found, log_dirs in consumed(copy):
        offsets = offsets_read(log_dirs, found["topic"], found["partition"], found["isolation"], maxPartitionBytes=3000)
        assert offsets == wanted_offsets(found), (found["topic"], found["partition"], found["isolation"])


@pytest.mark.parametrize("case", TRANSACTIONAL)
@pytest.mark.parametrize("suffix", [".txnindex", ".snapshot"])
@pytest.mark.parametrize("how", ["cut", "random", "zeros", "later version"])
def test_damaged_side_files_change_no_row(
    case: str, suffix: str, how: str, fixture_case: FixtureCase, tmp_path: Path
) -> None:
    copy = tmp_path / case
    shutil.copytree(fixture_case(case), copy)
    for file in copy.rglob("*" + suffix):
        whole = file.read_bytes()
        damaged = {"cut": whole[:-3], "random": bytes(b * 7 % 251 for b in whole), "zeros": bytes(len(whole))}
        file.write_bytes(damaged.get(how, b"\0\2" + whole[2:] if whole else b""))
    for found, log_dirs in consumed(copy):
        offsets = offsets_read(log_dirs, found["topic"], found["partition"], found["isolation"])
        assert offsets == wanted_offsets(found), (found["topic"], found["partition"], found["isolation"])


@pytest.mark.parametrize("case", WITH_CONSUMERS)
def test_the_last_stable_offset_is_kafkas(case: str, fixture_case: FixtureCase) -> None:
    for found, log_dirs in consumed(fixture_case(case)):
        if found["isolation"] != "read_committed":
            continue
        options = parse_options({"assign": {found["topic"]: [found["partition"]]}}, [str(each) for each in log_dirs])
        listing = list_logs(options.paths, wanted=options.wants)
        (log,) = listing.partitions
        offsets = PartitionOffsets(log)
        stable = from_headers(offsets, options, MAX_OFFSET).last_stable_offset
        assert min(stable, offsets.latest) == found["endOffset"]


@pytest.mark.parametrize("case", TRANSACTIONAL)
def test_states_agree_with_what_the_consumers_got(case: str, fixture_case: FixtureCase) -> None:
    """What read_committed left out is aborted or open, what it gave is committed or in no transaction."""
    by_partition: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    log_dirs: list[Path] = []
    for found, log_dirs in consumed(fixture_case(case)):  # noqa: B007
        by_partition.setdefault((found["topic"], found["partition"]), {})[found["isolation"]] = found
    for (topic, partition), levels in by_partition.items():
        table = kafkalog_source.scan(
            log_dirs, columns=["offset", "transactionState", "isTransactional"], assign={topic: [partition]}
        ).to_table()
        given = set(wanted_offsets(levels["read_committed"]))
        stable = levels["read_committed"]["endOffset"]
        for offset, state, transactional in zip(*(column.to_pylist() for column in table.columns), strict=True):
            assert (state is not None) == transactional
            if offset < stable:
                assert (state in (None, "committed")) == (offset in given)
            assert state != "open" or offset >= stable


@pytest.mark.parametrize("case", ["txn-4.4", "txn-2.8"])
def test_markers_are_in_the_state_that_they_bring_about(case: str, fixture_case: FixtureCase) -> None:
    root = fixture_case(case)
    markers = 0
    for directory in sorted({segment.log.parent for segment in oracle_segments(root)}):
        table = kafkalog_source.scan(
            directory,
            columns=["isControl", "controlType", "transactionState"],
            includeControlRecords=True,
        ).to_table()
        for is_control, kind, state in zip(*(column.to_pylist() for column in table.columns), strict=True):
            if is_control:
                markers += kind in ("COMMIT", "ABORT")
                assert state == {"COMMIT": "committed", "ABORT": "aborted"}.get(kind)
    assert markers > 50
