"""``view=producer_state``, ``checkpoints`` and ``transactions`` say what Kafka's own classes say of all cases."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import scan
from kafkalog_source.errors import LogDirError
from tests.data.cases import FILE_VIEWS, INTERNAL_SOURCE, INTERNAL_TOPICS
from tests.vectors.oracle import json_lines
from tests.vectors.test_file_views_equal_kafka import SOUND, FixtureCase, rows

Line = dict[str, Any]
Row = tuple[Any, ...]
Files = dict[str, list[Row]]

PRODUCER_STATE = [
    "topic",
    "partition",
    "baseOffset",
    "version",
    "crc",
    "producerId",
    "producerEpoch",
    "firstSequence",
    "lastSequence",
    "lastOffset",
    "offsetDelta",
    "lastTimestamp",
    "coordinatorEpoch",
    "currentTxnFirstOffset",
]
CHECKPOINTS = ["topic", "partition", "checkpoint", "version", "leaderEpoch", "offset", "name", "value"]
SAME = [
    "topic",
    "partition",
    "producerId",
    "producerEpoch",
    "transactionalId",
    "state",
    "firstOffset",
    "lastOffset",
    "markerOffset",
    "markerEpoch",
    "coordinatorEpoch",
    "durationMs",
    "batchCount",
    "recordCount",
    "sizeInBytes",
    "pinsLastStableOffset",
]
TIMES = ("firstTimestamp", "lastTimestamp", "markerTimestamp")


@pytest.fixture(scope="module")
def oracle(fixture_case: FixtureCase) -> Callable[[str, str], list[Line]]:
    """Give what Kafka made of the files of a kind in a case."""

    def lines(kind: str, case: str) -> list[Line]:
        path = fixture_case(FILE_VIEWS) / "oracle" / kind / f"{case}.jsonl"
        return list(json_lines(path)) if path.exists() else []

    return lines


def found(case: Path, view: str, columns: list[str]) -> Files:
    """The rows of each file, by the end of its path."""
    by_file: Files = defaultdict(list)
    for file, *row in rows(case, view, "file", *columns):
        by_file[os.path.relpath(file, case / "log")].append(tuple(row))
    return {file: sorted(each, key=repr) for file, each in by_file.items()}


def wanted(lines: list[Line], rows_of: Callable[[Line], Iterator[Row]]) -> Files:
    by_file = {line["file"].split("/", 1)[1]: sorted(rows_of(line), key=repr) for line in lines if line["readable"]}
    return {file: each for file, each in by_file.items() if each}


def place(line: Line) -> tuple[str | None, int | None]:
    match = re.fullmatch(r"(.+)-(\d+)", Path(line["file"]).parent.name)
    return (match[1], int(match[2])) if match else (None, None)


def none(number: int) -> int | None:
    return None if number == -1 else number


def times(milliseconds: int | None) -> int | None:
    return None if milliseconds in (None, -1) else milliseconds * 1000  # type: ignore[operator]


def producers(line: Line) -> Iterator[Row]:
    base = int(Path(line["file"]).stem)
    for each in line["entries"]:
        last, delta = none(each["lastSequence"]), each["offsetDelta"]
        yield (
            *(*place(line), base, line["version"], line["crc"], each["producerId"], each["epoch"]),
            *(None if last is None else last - delta, last, none(each["lastOffset"]), delta),
            *(times(each["timestamp"]), none(each["coordinatorEpoch"]), none(each["currentTxnFirstOffset"])),
        )


def checkpoint(line: Line) -> Iterator[Row]:
    name, where = line["name"], place(line)
    if name.endswith("-offset-checkpoint"):
        for each in line["entries"]:
            yield each["topic"], each["partition"], name, line["version"], None, each["offset"], None, None
    elif name == "leader-epoch-checkpoint":
        for each in line["entries"]:
            yield *where, name, line["version"], each["leaderEpoch"], each["offset"], None, None
    elif name in ("partition.metadata", "meta.properties"):
        for each in line["entries"]:
            yield *where, name, line.get("version"), None, None, each["name"], each["value"]
    else:
        fields, version = line.get("json"), line.get("version")
        if not fields:
            yield *where, name, None, None, None, None, None
        for key, value in (fields or {}).items():
            text = value if isinstance(value, str) else json.dumps(value)
            yield *where, name, fields.get("version", version), None, None, key, text


@pytest.mark.parametrize("case", SOUND)
def test_every_producer_of_every_snapshot(
    case: str, fixture_case: FixtureCase, oracle: Callable[[str, str], list[Line]]
) -> None:
    assert found(fixture_case(case), "producer_state", PRODUCER_STATE) == wanted(oracle("snapshots", case), producers)


@pytest.mark.parametrize("case", SOUND)
def test_every_line_and_property_of_every_checkpoint(
    case: str, fixture_case: FixtureCase, oracle: Callable[[str, str], list[Line]]
) -> None:
    assert found(fixture_case(case), "checkpoints", CHECKPOINTS) == wanted(oracle("checkpoints", case), checkpoint)


def test_checkpoints_that_kafka_cannot_read_are_errors_and_the_others_are_rows(
    fixture_case: FixtureCase, oracle: Callable[[str, str], list[Line]]
) -> None:
    log, lines = fixture_case("side-files") / "log", oracle("checkpoints", "side-files")
    assert any(not line["readable"] for line in lines)
    with pytest.raises(LogDirError):
        scan(log, view="checkpoints", subscribePattern=".*").to_table()
    table = scan(log, view="checkpoints", subscribePattern=".*", mode="PERMISSIVE").to_table()
    by_file = defaultdict(list)
    for row in table.to_pylist():
        by_file[os.path.relpath(row["file"], log)].append(row["_corrupt_record"] is None)
    for line in lines:
        # Kafka's properties are any text; what a version means is not their reader's to judge.
        if line["name"] != "meta.properties" and (line["entries"] or not line["readable"]):
            assert set(by_file[line["file"].split("/", 1)[1]]) == {line["readable"]}, line["file"]


@pytest.mark.parametrize("case", [*SOUND, INTERNAL_SOURCE])
def test_every_transaction(case: str, fixture_case: FixtureCase, oracle: Callable[[str, str], list[Line]]) -> None:
    directory = fixture_case(INTERNAL_TOPICS if case == INTERNAL_SOURCE else case)
    columns = ("file", *SAME, *TIMES)
    shown = sorted(
        (
            (Path(file).parent.relative_to(directory / "log"), *row)
            for file, *row in rows(directory, "transactions", *columns)
        ),
        key=repr,
    )
    expected = [
        (Path(line["dir"].split("/", 1)[1]), *(line[name] for name in SAME), *(times(line[name]) for name in TIMES))
        for line in oracle("transactions", case)
    ]
    assert shown == sorted(expected, key=repr)


def test_the_cases_have_enough_of_each(fixture_case: FixtureCase, oracle: Callable[[str, str], list[Line]]) -> None:
    counts = {
        kind: sum(len(oracle(kind, case)) for case in (*SOUND, INTERNAL_SOURCE))
        for kind in ("snapshots", "checkpoints", "transactions")
    }
    assert counts["snapshots"] > 350
    assert counts["checkpoints"] > 400
    assert counts["transactions"] > 200
    states = {(line["state"], line["pinsLastStableOffset"]) for case in SOUND for line in oracle("transactions", case)}
    assert {("open", True), ("aborted", False), ("committed", False)} <= states
