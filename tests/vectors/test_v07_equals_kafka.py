"""kafkalog and the reference read every packed segment of Kafka 0.7 as its own classes did.

The dump's `iteratorOffset` is what 0.7's iterator handed out: where the next fetch begins. The offset of a row is
where its own message stands, which is the one that had to be fetched to get it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from tests.comparing import assert_same_rows, reference_rows, scan_rows
from tests.reference.v07 import decode_segment_07
from tests.vectors.oracle import json_lines

FixtureCase = Callable[[str], Path]
COLUMNS = ("topic", "partition", "offset", "value", "magic", "compression", "batchPosition", "batchBaseOffset", "file")
CODECS = ("none", "gzip", "snappy")
MESSAGES, PARTITIONS = 1588, 7


def oracle_lines(log: Path, case: Path) -> list[dict[str, Any]]:
    return json_lines(case / "oracle" / log.parent.name / f"{log.name}.messages.jsonl")


def oracle_rows(log: Path, case: Path) -> Iterator[tuple[object, ...]]:
    topic, _, partition = log.parent.name.rpartition("-")
    for line in oracle_lines(log, case):
        assert line["valid"]
        assert line["offset"] == int(log.stem) + line["position"]
        for message in line["messages"]:
            value = base64.b64decode(message["payloadB64"])
            place = (line["position"], line["offset"], str(log))
            yield topic, int(partition), line["offset"], value, message["magic"], CODECS[line["codec"]], *place


@pytest.fixture
def case(fixture_case: FixtureCase) -> Path:
    return fixture_case("log-0.7")


def logs(case: Path) -> list[Path]:
    return sorted((case / "log").glob("*/*.kafka"))


def test_every_segment_equals_kafka(case: Path) -> None:
    for log in logs(case):
        assert_same_rows(scan_rows(log, COLUMNS), list(oracle_rows(log, case)), COLUMNS)


def test_the_reference_equals_kafkalog_in_every_column(case: Path) -> None:
    for log in logs(case):
        topic, _, partition = log.parent.name.rpartition("-")
        records = decode_segment_07(log.read_bytes(), base_offset=int(log.stem))
        assert_same_rows(scan_rows(log), reference_rows(records, log, topic=topic, partition=int(partition)))


def test_every_partition_and_the_whole_log_directory_equal_kafka(case: Path) -> None:
    wanted = [row for log in logs(case) for row in oracle_rows(log, case)]
    assert len(wanted) == MESSAGES
    assert_same_rows(scan_rows(case / "log", COLUMNS), wanted, COLUMNS)
    for directory in sorted((case / "log").iterdir()):
        rows = [row for row in wanted if Path(str(row[-1])).parent == directory]
        assert_same_rows(scan_rows(directory, COLUMNS), rows, COLUMNS)
    report = kafkalog_source.scan(str(case / "log")).report()
    assert report["partitions"] == PARTITIONS


@pytest.mark.parametrize("size", [1, 1000, 20_000])
def test_any_cut_gives_the_same_rows(case: Path, size: int) -> None:
    directory = case / "log" / "mixed.all_v-1-0"
    whole = scan_rows(directory, ["offset", "value"])
    scan = kafkalog_source.scan(str(directory), maxPartitionBytes=size, openCostInBytes=0)
    assert len(scan.splits()) > 3
    assert scan_rows(directory, ["offset", "value"], maxPartitionBytes=size, openCostInBytes=0) == whole


def test_a_read_begins_at_the_first_message_at_or_above_an_offset(case: Path) -> None:
    """What 0.7's iterator called the offset of a message is where the rows behind it begin."""
    log = case / "log" / "plain-1"
    for segment in sorted(log.glob("*.kafka")):
        for line in oracle_lines(segment, case)[::7]:
            for start in (line["offset"] - 3, line["offset"], line["nextOffset"]):
                found = scan_rows(
                    log, ["offset"], assign='{"plain":[1]}', startingOffsets={"plain": {"1": max(start, 0)}}
                )
                later = [row for row in scan_rows(log, ["offset"]) if row[0] >= start]
                assert found == later
