"""Recipes over the metadata log: the cluster before an offset, and configs before and after, by replaying the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import scan
from tests.data.cases import INTERNAL_TOPICS
from tests.docs.blocks import ROOT
from tests.recipes.kafkas_reading import lines
from tests.recipes.page import RECIPES

CASE = "kraft-metadata-4.4"
SAMPLE = ROOT / "spark_jobs" / "sample-groups" / "disk1"
BEFORE, CHANGES = RECIPES["What the cluster looked like before the change"], RECIPES["What changed, and when"]


@pytest.fixture
def log(fixture_case: Callable[[str], Path]) -> Path:
    return fixture_case(CASE) / "log"


@pytest.fixture
def records(fixture_case: Callable[[str], Path]) -> list[dict[str, Any]]:
    """Give the records of the case's log, without its snapshots, as Kafka reads them."""
    found = lines(fixture_case(INTERNAL_TOPICS) / "oracle" / f"{CASE}.jsonl")
    return [line for line in found if line["file"].endswith(".log")]


@pytest.fixture
def of_sample() -> list[dict[str, Any]]:
    """Give the records of the sample's log in the same form."""
    rows = scan(SAMPLE, view="cluster_metadata").to_table().to_pylist()
    return [{**row, "value": json.loads(row["valueJson"])} for row in rows if row["source"] == "log"]


def partitions_before(records: list[dict[str, Any]], offset: int) -> dict[tuple[str, int], tuple[Any, ...]]:
    """Replay the log from its start: the leader, the in-sync replicas and the replicas of each partition."""
    names: dict[str, str] = {}
    partitions: dict[tuple[str, int], dict[str, Any]] = {}
    for line in records:
        value = line["value"]
        if line["offset"] >= offset:
            break
        if line["recordType"] == "TOPIC_RECORD":
            names[value["topicId"]] = value["name"]
        elif line["recordType"] == "REMOVE_TOPIC_RECORD":
            del names[value["topicId"]]
        elif line["recordType"] == "PARTITION_RECORD":
            partitions[value["topicId"], value["partitionId"]] = dict(value)
        elif line["recordType"] == "PARTITION_CHANGE_RECORD":
            changed = {name: each for name, each in value.items() if each is not None}
            partitions[value["topicId"], value["partitionId"]].update(changed)
    return {
        (names[topic], partition): (each["leader"], each["isr"], each["replicas"])
        for (topic, partition), each in partitions.items()
        if topic in names
    }


def check_before(path: Path, records: list[dict[str, Any]], offset: int) -> None:
    rows = BEFORE.about(**{"454": str(offset), "'streams-%'": "''"}).ask(metadata=scan(path, view="cluster_metadata"))
    answer = {row[:2]: tuple(map(json.loads, row[2:])) for row in rows}
    assert answer == partitions_before(records, offset)
    assert len(answer) == len(rows)


# Before, at and after the snapshots at 50, 91 and 128, and at the end.
@pytest.mark.parametrize("offset", [30, 50, 51, 80, 91, 100, 128, 150, 176])
def test_the_cluster_before_an_offset(log: Path, records: list[dict[str, Any]], offset: int) -> None:
    check_before(log, records, offset)


# A topic is removed at 275, and a partition changes its directory before and after; snapshots are at 237 and 284.
@pytest.mark.parametrize("offset", [60, 236, 275, 276, 283, 300, 454, 460, 478])
def test_the_cluster_of_the_sample(of_sample: list[dict[str, Any]], offset: int) -> None:
    check_before(SAMPLE, of_sample, offset)


def test_the_sample_has_removed_topics_and_changed_leaders(of_sample: list[dict[str, Any]]) -> None:
    before, after = partitions_before(of_sample, 275), partitions_before(of_sample, 1 << 60)
    assert before.keys() - after.keys() == {("gone", 0)}
    assert {place for place in before.keys() & after.keys() if before[place] != after[place]}


def changes_of(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Give offset, resource, config, its value before and after, of each config of a topic or broker that is set."""
    known: dict[tuple[int, str, str], str | None] = {}
    found = []
    for line in records:
        value = line["value"]
        if line["recordType"] == "CONFIG_RECORD" and value["resourceType"] in (2, 4):
            name = (value["resourceType"], value["resourceName"], value["name"])
            found.append((line["offset"], *name[1:], known.get(name), value["value"]))
            known[name] = value["value"]
    return found


def changes_by_the_recipe(path: Path, **options: bool) -> list[tuple[Any, ...]]:
    wide = {"2026-11-22 04:14:10Z": "2000-01-01", "2026-11-22 04:14:20Z": "2100-01-01"}
    rows = CHANGES.about(**wide).ask(metadata=scan(path, view="cluster_metadata", **options))
    return [(row[0], row[2].split(" ", 1)[1], row[3], row[5], row[4]) for row in rows]


def test_configs_before_and_after(log: Path, records: list[dict[str, Any]]) -> None:
    assert changes_by_the_recipe(log, includeSecrets=True) == changes_of(records)


def test_configs_of_the_sample(of_sample: list[dict[str, Any]]) -> None:
    expected = changes_of(of_sample)
    assert changes_by_the_recipe(SAMPLE) == expected
    assert any(before is not None for *_, before, _ in expected)
    assert "(redacted)" in {after for *_, after in expected}
