"""Records of Kafka's own topics as Kafka's own classes decode them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import scan
from kafkalog_source.internal_topics.columns import TOPICS, view_types
from kafkalog_source.internal_topics.view import TopicView
from tests.data.cases import INTERNAL_ORACLES, INTERNAL_SOURCE, INTERNAL_TOPICS
from tests.vectors.test_file_views_equal_kafka import roots

LINES = {
    "internal-topics": 459,
    "groups-0.9.0.1": 11,
    "groups-0.10.2.2": 10,
    "groups-1.1.1": 11,
    "groups-2.8.2": 10,
    "groups-4.4": 232,
    "kraft-metadata-4.4": 176,
    "txn-2.8": 121,
    "txn-4.4": 265,
    "views-4.4": 711,
}
"""Records in segments, of which there are more in snapshots of the metadata log."""
IN_SNAPSHOTS = {"kraft-metadata-4.4": 213, "views-4.4": 480}
CLOSE = {"malformed", "unknown frame"}
"""What Kafka says of records of which a version can be read all the same."""


def oracle(unpacked: Path, name: str, suffix: str = ".log") -> dict[tuple[str, int], dict[str, Any]]:
    """What Kafka made of the records in segments, or in snapshots of the metadata log, by topic, file and offset."""
    lines = (unpacked / "oracle" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    return {(_place(each["file"]), each["offset"]): each for each in read if each["file"].endswith(suffix)}


def _place(file: str) -> str:
    return "/".join(file.split("/")[-2:])


def rows(log: Path, view: str, *, include_secrets: bool) -> Iterator[dict[str, Any]]:
    """The rows of a view over the segments of its topic."""
    decoder = TopicView(view, tuple(view_types(view)), include_secrets=include_secrets)
    reader = scan(roots(log.parent), subscribe=TOPICS[view], includeControlRecords=True, columns=decoder.record_columns)
    for batch in reader.to_reader():
        for piece in decoder.decode(batch):
            piece.validate(full=True)
            yield from piece.to_pylist()


@pytest.mark.parametrize("name", INTERNAL_ORACLES)
def test_every_record_is_as_kafkas_classes_have_it(name: str, fixture_case: Callable[[str], Path]) -> None:
    unpacked = fixture_case(INTERNAL_TOPICS)
    case = INTERNAL_TOPICS if name == INTERNAL_SOURCE else name
    log = fixture_case(case) / "log"
    wanted = oracle(unpacked, name)
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for view in {topic.removeprefix("__") for topic in (each["topic"] for each in wanted.values())}:
        for row in rows(log, view, include_secrets=True):
            found[(_place(row["file"]), row["offset"])] = row
    assert len(wanted) == LINES[case]
    assert found.keys() == wanted.keys()
    for place, row in found.items():
        assert shown(row) == as_kafka(wanted[place], row), place


@pytest.mark.parametrize("name", INTERNAL_ORACLES)
def test_every_record_of_a_snapshot_is_as_kafkas_classes_have_it(
    name: str, fixture_case: Callable[[str], Path]
) -> None:
    unpacked = fixture_case(INTERNAL_TOPICS)
    wanted = oracle(unpacked, name, ".checkpoint")
    case = fixture_case(INTERNAL_TOPICS if name == INTERNAL_SOURCE else name)
    table = scan(roots(case), view="cluster_metadata", includeSecrets=True).to_table() if wanted else None
    found = {(_place(row["file"]), row["offset"]): row for row in (table.to_pylist() if table else ())}
    found = {key: row for key, row in found.items() if row["source"] != "log"}
    assert found.keys() == wanted.keys()
    assert len(found) == IN_SNAPSHOTS.get(name, len(found))
    for place, row in found.items():
        assert shown(row) == as_kafka(wanted[place], row), place


def shown(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "recordType": row["recordType"],
        "recordTypeId": row["recordTypeId"],
        "version": row["version"],
        "isTombstone": row["isTombstone"],
        "keyJson": row["keyJson"],
        "valueJson": row["valueJson"],
        "failed": row["decodeError"] is not None,
    }


def as_kafka(record: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """The same fields by the oracle, where a null metadata record, which Kafka has no name for, counts as decoded."""
    error = record["error"]
    without_version = error is not None and error.split(":")[0] in CLOSE
    return {
        "recordType": record["recordType"],
        "recordTypeId": record["recordTypeId"],
        "version": row["version"] if without_version else record["version"],
        "isTombstone": record["tombstone"],
        "keyJson": _text(record["key"]),
        "valueJson": _text(record["value"]),
        "failed": error is not None and not (record["tombstone"] and record["recordTypeId"] is None),
    }


def _text(value: object) -> str | None:
    """JSON in Kafka's form: no spaces, no escapes but those that JSON demands."""
    return None if value is None else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def test_what_kafkas_redactor_hides_of_a_broker_is_hidden(fixture_case: Callable[[str], Path]) -> None:
    unpacked = fixture_case(INTERNAL_TOPICS)
    wanted = oracle(unpacked, INTERNAL_SOURCE)
    seen = 0
    for row in rows(unpacked / "log", "cluster_metadata", include_secrets=False):
        record = wanted[(_place(row["file"]), row["offset"])]
        hides = "redacted" in record and (
            record.get("sensitivity") == "secret" or record["value"].get("resourceType") == 4
        )
        if hides:
            seen += 1
            assert row["valueJson"] == _text(record["redacted"])
            assert row["value"] is None
        elif record["value"] is not None and "redacted" not in record:
            assert row["valueJson"] == _text(record["value"])
    assert seen > 5
