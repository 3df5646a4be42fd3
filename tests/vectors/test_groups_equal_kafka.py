"""`kafkalog groups` at every time of a log, against the records as Kafka's own classes decode them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source.answers.groups import GroupsAnswer, groups_at
from tests.reference import groups as reference
from tests.reference.groups import KafkaRecord
from tests.vectors.oracle import json_lines, oracle_segments

FixtureCase = Callable[[str], Path]

CASES = {"groups-0.10.2.2": 10, "groups-1.1.1": 11, "groups-2.8.2": 10, "groups-4.4": 78, "views-4.4": 186}
"""Records of ``__consumer_offsets`` in each, markers among them. Those of 0.9 have no times."""


def log_dirs(case: Path) -> list[str]:
    log = case / "log"
    return [str(path) for path in sorted(log.glob("disk*"))] or [str(log)]


def kafka_records(case: Path, decoded: Path) -> list[KafkaRecord]:
    """The records of ``__consumer_offsets``, with the producer of each out of the batches."""
    producers: dict[tuple[int, int], int | None] = {}
    for segment in oracle_segments(case):
        directory = segment.name.split("/")[-2]
        if directory.startswith("__consumer_offsets-"):
            partition = int(directory.rpartition("-")[2])
            for batch, record in segment.records():
                producers[partition, record.offset] = batch.producer_id if batch.is_transactional else None
    found = []
    for line in map(json.loads, decoded.read_text(encoding="utf-8").splitlines()):
        if line["topic"] == "__consumer_offsets":
            partition = int(line["file"].split("/")[-2].rpartition("-")[2])
            found.append(
                KafkaRecord(
                    partition,
                    line["offset"],
                    line["timestamp"],
                    line["recordType"],
                    line["key"],
                    line["value"],
                    producers[partition, line["offset"]],
                    line["control"],
                )
            )
    return found


def log_times(case: Path) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """Offset and time of every record of each partition, by Kafka's reading."""
    found: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for dump in sorted((case / "oracle").rglob("*.log.records.jsonl")):
        topic, _, partition = dump.parent.name.rpartition("-")
        times = [(line["offset"], line["timestamp"]) for line in json_lines(dump)]
        found.setdefault((topic, int(partition)), []).extend(times)
    return found


@pytest.fixture(name="records")
def _records(request: pytest.FixtureRequest, fixture_case: FixtureCase) -> tuple[Path, list[KafkaRecord]]:
    case = fixture_case(request.param)
    records = kafka_records(case, fixture_case("internal-topics") / "oracle" / f"{request.param}.jsonl")
    assert len(records) == CASES[request.param]
    return case, records


def offsets(answer: GroupsAnswer) -> dict[tuple[str, str, int], int]:
    return {
        (group.name, each.topic, each.partition): each.commit.offset
        for group in answer.groups
        for each in group.positions
        if each.commit is not None
    }


@pytest.mark.parametrize("records", CASES, indirect=True)
def test_groups_are_kafkas_at_every_time(records: tuple[Path, list[KafkaRecord]]) -> None:
    case, decoded = records
    times = sorted({each.timestamp for each in decoded})
    before = times[0] - 1
    for at_ms in (None, before, *times):
        answer = groups_at(log_dirs(case), {}, at_ms=at_ms)
        assert offsets(answer) == reference.committed_offsets(decoded, at_ms), at_ms
        found = {(group.name, member.member_id) for group in answer.groups for member in group.members}
        assert found == reference.members(decoded, at_ms), at_ms
        types = {group.name: group.type for group in answer.groups if group.type != "simple"}
        assert types == reference.types(decoded, at_ms), at_ms


@pytest.mark.parametrize("records", ["views-4.4", "groups-4.4"], indirect=True)
def test_ends_and_lags_are_those_of_the_logs_at_every_time(records: tuple[Path, list[KafkaRecord]]) -> None:
    case, decoded = records
    logs = log_times(case)
    compared = 0
    for at_ms in (None, *sorted({each.timestamp for each in decoded})):
        for group in groups_at(log_dirs(case), {}, at_ms=at_ms).groups:
            for each in group.positions:
                assert each.log is not None
                assert each.log.end == reference.log_end(logs[each.topic, each.partition], at_ms)
                if each.commit is not None:
                    assert each.lag == each.log.end - each.commit.offset
                    compared += 1
    assert compared > 100


def test_groups_of_a_broker_without_record_times(fixture_case: FixtureCase) -> None:
    case = fixture_case("groups-0.9.0.1")
    records = kafka_records(case, fixture_case("internal-topics") / "oracle" / "groups-0.9.0.1.jsonl")
    assert {each.timestamp for each in records} == {-1}
    assert offsets(groups_at(log_dirs(case), {})) == reference.committed_offsets(records, None)
    commits = [each for each in records if each.type == "OFFSET_COMMIT"]
    for at_ms in sorted({each.value["commitTimestamp"] for each in commits if each.value is not None}):
        by_time = [each for each in commits if each.value is not None and each.value["commitTimestamp"] <= at_ms]
        assert offsets(groups_at(log_dirs(case), {}, at_ms=at_ms)) == reference.committed_offsets(by_time, None)


def test_share_groups_have_the_positions_that_kafka_recorded(fixture_case: FixtureCase) -> None:
    case = fixture_case("views-4.4")
    lines = (fixture_case("internal-topics") / "oracle" / "views-4.4.jsonl").read_text(encoding="utf-8").splitlines()
    states = [line for line in map(json.loads, lines) if line["topic"] == "__share_group_state"]
    for at_ms in (None, *sorted({line["timestamp"] for line in states})):
        wanted: dict[tuple[str, int], int | None] = {}
        for line in states:
            if at_ms is None or line["timestamp"] <= at_ms:
                place = (line["key"]["groupId"], line["key"]["partition"])
                wanted[place] = line["value"]["startOffset"] if line["value"] else None
        found = {
            (group.name, each.partition): each.offset
            for group in groups_at(log_dirs(case), {}, at_ms=at_ms).groups
            if group.type == "share"
            for each in group.positions
            if each.offset is not None
        }
        assert found == {place: offset for place, offset in wanted.items() if offset not in (None, -1)}, at_ms
