"""The state of a cluster from its log equals the state from the snapshots that Kafka took of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source.answers.metadata_copies import Copy, find_copies
from kafkalog_source.answers.metadata_log import ClusterState, read_cluster, read_state
from kafkalog_source.answers.metadata_start import Point, Start
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.options.read_options import parse_options

CASES = (
    *("broker-3.9.1", "compact-4.4", "groups-4.4", "killed-4.4", "kraft-metadata-4.4", "librdkafka-4.4"),
    *("logstart-4.4", "names-4.4", "txn-4.4", "v2-4.4"),
)
KRAFT = "kraft-metadata-4.4"


def metadata_log(log: Path) -> Copy:
    """The metadata log of a case."""
    paths = [str(each.parent) for each in log.rglob("__cluster_metadata-0")]
    (copy,) = find_copies(parse_options({"view": "cluster_metadata", "includeSecrets": "true"}, paths))
    return copy


def image(state: ClusterState) -> dict[str, Any]:
    """What a snapshot holds: without the voters of a cluster whose nodes have them as a setting."""
    assert state.image.problems == []
    found = state.image.to_json()
    if not found["kraftVersion"]:
        del found["kraftVersion"], found["voters"]
    return found


def test_the_log_up_to_a_snapshot_makes_what_the_snapshot_holds(fixture_case: Callable[[str], Path]) -> None:
    copy = metadata_log(fixture_case(KRAFT) / "log")
    _, *snapshots = copy.snapshots
    assert len(snapshots) == 3
    for snapshot in snapshots:
        from_log = read_state(Start(copy, None, 0, snapshot.end_offset))
        from_snapshot = read_state(Start(copy, snapshot, snapshot.end_offset, snapshot.end_offset))
        assert image(from_log) == image(from_snapshot)
        assert from_log.offset == from_snapshot.offset == snapshot.end_offset - 1
        assert from_log.epoch == from_snapshot.epoch
        assert from_log.timestamp_ms == from_snapshot.timestamp_ms


@pytest.mark.parametrize("case", CASES)
def test_the_end_of_the_log_is_the_same_from_every_snapshot(case: str, fixture_case: Callable[[str], Path]) -> None:
    copy = metadata_log(fixture_case(case) / "log")
    wanted = read_state(Start(copy, None, 0, MAX_OFFSET))
    assert image(wanted)["topics"]
    for snapshot in copy.snapshots:
        found = read_state(Start(copy, snapshot, snapshot.end_offset, MAX_OFFSET))
        assert image(found) == image(wanted)
        assert (found.offset, found.epoch, found.image.leader) == (wanted.offset, wanted.epoch, wanted.image.leader)


def test_every_offset_is_reached_from_the_nearest_snapshot(fixture_case: Callable[[str], Path]) -> None:
    log = fixture_case(KRAFT) / "log"
    copy = metadata_log(log)
    # With it a node begins that has read nothing yet; the log repeats what it holds.
    formatted = copy.snapshots[0]
    assert formatted.end_offset == 0
    ends = [each.end_offset for each in copy.snapshots]
    for offset in range(0, copy.end, 7):
        found = read_cluster([str(log)], {"includeSecrets": "true"}, Point(offset=offset))
        assert image(found) == image(read_state(Start(copy, formatted, 0, offset + 1))), offset
        assert found.snapshot_offset == max(end for end in ends if end <= offset + 1) - 1
        assert found.offset == offset


def test_a_time_is_the_last_record_that_is_not_later(fixture_case: Callable[[str], Path]) -> None:
    log = fixture_case(KRAFT) / "log"
    copy = metadata_log(log)
    rows = [
        row
        for batch in copy.read_log(0, MAX_OFFSET, ("offset", "timestamp"))
        for row in zip(batch.column(0).to_pylist(), batch.column(1).cast("int64").to_pylist(), strict=True)
    ]
    for time_us in sorted({time for _, time in rows})[::9]:
        last = max(offset for offset, time in rows if time <= time_us)
        found = read_cluster([str(log)], {}, Point(time_ms=time_us // 1000))
        assert (found.offset, found.timestamp_ms) == (last, time_us // 1000)


def test_secrets_are_shown_only_if_they_are_asked_for(fixture_case: Callable[[str], Path]) -> None:
    log = str(fixture_case(KRAFT) / "log")
    hidden = read_cluster([log], {}, Point()).to_json()["users"]
    shown = read_cluster([log], {"includeSecrets": "true"}, Point()).to_json()["users"]
    assert hidden
    for one, other in zip(hidden, shown, strict=True):
        assert one["salt"] == one["storedKey"] == one["serverKey"] == "(redacted)"
        assert "(redacted)" not in other.values()
        assert one["name"] == other["name"]
