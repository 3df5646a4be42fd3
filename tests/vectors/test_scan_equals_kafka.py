"""kafkalog reads every packed segment, and every partition directory, as Kafka's own classes did."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source import KafkaLogError
from tests.comparing import COLUMNS, Row, assert_same_rows, reference_rows, scan_rows
from tests.data.cases import CASES
from tests.reference import RefCorrupt, decode_segment
from tests.vectors.oracle import OracleBatch, OracleRecord, OracleSegment, oracle_segments
from tests.vectors.test_reference_equals_kafka import EXPECTED_OTHERWISE

FixtureCase = Callable[[str], Path]

READABLE = [name for name in CASES if name not in ("corrupt", "log-0.7")]
PARTITION = re.compile(r"(.+)-(\d+)")
SET_ASIDE = re.compile(PARTITION.pattern + r"\.[0-9a-f]{32}-(delete|future|stray)")
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata")
FROM_ORACLE = tuple(name for name in COLUMNS if name != "controlType")
"""Kafka's dump does not name control types; the reference test holds them."""


def none_if_minus_one(number: int) -> int | None:
    return None if number == -1 else number


def oracle_row(log: Path, batch: OracleBatch, record: OracleRecord) -> Row:
    """The columns of FROM_ORACLE."""
    place = SET_ASIDE.fullmatch(log.parent.name) or PARTITION.fullmatch(log.parent.name)
    return (
        record.key,
        record.value,
        place[1] if place else None,
        int(place[2]) if place else None,
        record.offset,
        None if record.timestamp_ms == -1 else record.timestamp_ms * 1000,
        record.timestamp_type,
        record.headers or None,
        none_if_minus_one(batch.leader_epoch),
        none_if_minus_one(batch.producer_id),
        none_if_minus_one(batch.producer_epoch),
        none_if_minus_one(record.sequence),
        batch.is_transactional,
        batch.is_control,
        batch.magic,
        batch.codec,
        None if record.key is None else len(record.key),
        None if record.value is None else len(record.value),
        str(log),
        batch.position,
        batch.base_offset,
    )


def oracle_rows(segment: OracleSegment) -> list[Row]:
    return [oracle_row(segment.log, batch, record) for batch, record in segment.records()]


@pytest.mark.parametrize("case", READABLE)
def test_every_segment_equals_kafka(case: str, fixture_case: FixtureCase) -> None:
    for segment in oracle_segments(fixture_case(case)):
        if any(batch.refused for batch in segment.batches):
            with pytest.raises(KafkaLogError) as raised:
                scan_rows(segment.log)
            assert raised.value.position == next(b.position for b in segment.batches if b.refused)
        else:
            assert_same_rows(scan_rows(segment.log, FROM_ORACLE), oracle_rows(segment), FROM_ORACLE)


@pytest.mark.parametrize("case", READABLE)
def test_default_columns_leave_out_control_records(case: str, fixture_case: FixtureCase) -> None:
    for segment in oracle_segments(fixture_case(case)):
        if not any(batch.refused for batch in segment.batches):
            found = scan_rows(segment.log, ["offset"], includeControlRecords=False)
            assert found == [(record.offset,) for batch, record in segment.records() if not batch.is_control]


def rows_by_partition(case: Path) -> dict[Path, list[Row]]:
    """The rows of each partition directory that Kafka could read to its end."""
    found: dict[Path, list[Row]] = defaultdict(list)
    unreadable = set()
    for segment in oracle_segments(case):
        found[segment.log.parent] += oracle_rows(segment)
        if any(batch.refused for batch in segment.batches):
            unreadable.add(segment.log.parent)
    return {directory: rows for directory, rows in found.items() if directory not in unreadable}


def log_start(directory: Path) -> int:
    """The first offset that is not deleted, from the checkpoint beside the partition."""
    checkpoint = directory.parent / "log-start-offset-checkpoint"
    lines = checkpoint.read_text(encoding="utf-8").splitlines() if checkpoint.exists() else []
    starts = {f"{topic}-{number}": int(start) for topic, number, start in map(str.split, lines[2:])}
    return starts.get(directory.name, 0)


OFFSET = FROM_ORACLE.index("offset")


@pytest.mark.parametrize("case", READABLE)
def test_every_partition_directory_equals_kafka(case: str, fixture_case: FixtureCase) -> None:
    for directory, rows in rows_by_partition(fixture_case(case)).items():
        start = log_start(directory) if case != "side-files" else 0
        wanted = [row for row in rows if row[OFFSET] >= start]
        found = scan_rows(directory, FROM_ORACLE, failOnDataLoss=case != "side-files")
        assert_same_rows(found, wanted, FROM_ORACLE)


@pytest.mark.parametrize("case", [name for name in READABLE if name not in ("codec-variants", "side-files")])
def test_a_whole_log_directory_equals_kafka(case: str, fixture_case: FixtureCase) -> None:
    root = fixture_case(case)
    wanted = set()
    for directory, rows in rows_by_partition(root).items():
        place = PARTITION.fullmatch(directory.name)
        if place and place[1] not in INTERNAL:
            start = log_start(directory)
            wanted |= {(place[1], int(place[2]), row[OFFSET]) for row in rows if row[OFFSET] >= start}
    log_dirs = sorted((root / "log").glob("disk*")) or [root / "log"]
    found = scan_rows(log_dirs, ["topic", "partition", "offset"])
    assert len(found) == len(set(found))
    assert set(found) == wanted


def test_damage_is_judged_as_described(fixture_case: FixtureCase) -> None:
    log = fixture_case("corrupt") / "log"
    wrong = {}
    for case in json.loads((log / "CORRUPTION.json").read_text(encoding="utf-8"))["cases"]:
        path = log / case["file"]
        expected = EXPECTED_OTHERWISE.get(case["file"], case["expect"])
        try:
            rows = scan_rows(path)
        except KafkaLogError as error:
            if expected in ("rows", "torn"):
                wrong[case["file"]] = str(error)
            continue
        if expected == "damage":
            wrong[case["file"]] = f"{len(rows)} rows"
        elif expected != "any":
            assert_same_rows(rows, wanted_rows(path))
    assert wrong == {}


def wanted_rows(path: Path) -> list[Row]:
    place = PARTITION.fullmatch(path.parent.name)
    assert place is not None
    try:
        records = decode_segment(path.read_bytes(), base_offset=int(path.stem))
    except RefCorrupt as error:
        raise AssertionError(f"the reference refuses {path.name} of {path.parent.name}: {error}") from error
    return reference_rows(records, path, topic=place[1], partition=int(place[2]))
