"""Growth and retention, against a loop that deletes segments as a broker does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from tests.recipes.page import RECIPES

RECIPE = RECIPES["Growth and retention by topic"]
NOW = datetime(2026, 11, 22, 4, 16, tzinfo=UTC)
DAY = timedelta(days=1)
DEFAULT_MS = 604_800_000


@dataclass(frozen=True)
class Segment:
    """A segment, whose newest record is this old."""

    size: int
    age: timedelta
    partition: int = 0
    has_times: bool = True


def segments_table(segments: list[Segment], topic: str = "orders") -> pa.Table:
    time = pa.timestamp("us", "UTC")
    return pa.table(
        {
            "topic": [topic] * len(segments),
            "partition": pa.array([each.partition for each in segments], pa.int32()),
            "baseOffset": range(len(segments)),
            "size": [each.size for each in segments],
            "maxTimestamp": pa.array([NOW - each.age if each.has_times else None for each in segments], time),
            "modified": pa.array([NOW - each.age for each in segments], time),
        }
    )


def metadata_table(
    *configs: tuple[str, str, str | None], snapshots: dict[int, list[tuple[str, str, str]]] | None = None
):
    """Give the log with these configs (topic, or "" for all brokers; name; value), and snapshots at their offsets."""
    rows = [config_row(None, offset, *config) for offset, config in enumerate(configs)]
    for at, content in (snapshots or {}).items():
        rows += [config_row(at, offset, *config) for offset, config in enumerate(content)]
    rows += [dict.fromkeys(rows[0] if rows else COLUMNS) | {"source": "log", "offset": 1000}]
    return pa.Table.from_pylist(rows, schema=COLUMNS)


COLUMNS = pa.schema(
    [("source", pa.string()), ("snapshotOffset", pa.int64()), ("offset", pa.int64())]
    + [(name, pa.string()) for name in ("resourceType", "resourceName", "configName", "configValue")]
)


def config_row(snapshot: int | None, offset: int, resource: str, name: str, value: str | None) -> dict[str, Any]:
    kind = "TOPIC" if resource else "BROKER"
    where = {"source": "log" if snapshot is None else "snapshot", "snapshotOffset": snapshot, "offset": offset}
    return where | {"resourceType": kind, "resourceName": resource, "configName": name, "configValue": value}


def answer(segments: list[Segment], metadata: pa.Table) -> dict[str, Any]:
    names = ("topic", "bytes", "perDay", "days", "limitBytes", "steady", "nextDeletion")
    (row,) = RECIPE.ask(segments=segments_table(segments), metadata=metadata)
    return dict(zip(names, row, strict=True))


def first_deletion(segments: list[Segment], limit_ms: int | None, limit_bytes: int | None) -> datetime | None:
    """Go on in minutes: each partition grows as in the last seven days, and the broker looks at its first segment."""
    moments = []
    for partition in {each.partition for each in segments}:
        mine = [each for each in segments if each.partition == partition]
        rate = sum(each.size for each in mine if each.age < 7 * DAY) / (7 * 24 * 60)
        for minute in range(100 * 24 * 60):
            after_first = sum(each.size for each in mine[1:]) + rate * minute
            now = NOW + timedelta(minutes=minute)
            too_old = limit_ms is not None and now - (NOW - mine[0].age) >= timedelta(milliseconds=limit_ms)
            if too_old or (limit_bytes is not None and after_first >= limit_bytes):
                moments.append(now)
                break
    return min(moments, default=None)


GROWING = [Segment(1000, 9 * DAY), Segment(3000, 5 * DAY), Segment(2000, 2 * DAY), Segment(500, DAY / 24)]
TWO = [*GROWING, Segment(100, 6 * DAY, 1), Segment(4000, 3 * DAY, 1)]


@pytest.mark.parametrize("segments", [GROWING, TWO, GROWING[2:]])
@pytest.mark.parametrize(
    ("configs", "limit_ms", "limit_bytes"),
    [
        ([], DEFAULT_MS, None),
        ([("orders", "retention.ms", "1209600000")], 14 * 86_400_000, None),
        ([("orders", "retention.ms", "-1")], None, None),
        ([("orders", "retention.ms", "-1"), ("orders", "retention.bytes", "20000")], None, 20_000),
        ([("orders", "retention.bytes", "7000"), ("orders", "retention.ms", "8640000000")], 100 * 86_400_000, 7_000),
        ([("", "log.retention.ms", "1209600000"), ("", "log.retention.bytes", "-1")], 14 * 86_400_000, None),
        ([("", "log.retention.ms", "1"), ("orders", "retention.ms", "1209600000")], 14 * 86_400_000, None),
        ([("orders", "retention.ms", "1"), ("orders", "retention.ms", None)], DEFAULT_MS, None),
        ([("orders", "cleanup.policy", "compact")], None, None),
        ([("orders", "cleanup.policy", "compact,delete")], DEFAULT_MS, None),
        ([("other", "retention.ms", "1")], DEFAULT_MS, None),
    ],
)
def test_when_the_first_segment_is_deleted_and_how_much_stays(
    segments: list[Segment], configs: list[tuple[str, str, str | None]], limit_ms: int | None, limit_bytes: int | None
) -> None:
    row = answer(segments, metadata_table(*configs))
    assert row["bytes"] == sum(each.size for each in segments)
    recent = [each for each in segments if each.age < 7 * DAY]
    assert row["perDay"] == round(sum(each.size for each in recent) / 7)
    assert row["days"] == (None if limit_ms is None else round(limit_ms / 86_400_000, 2))
    assert row["limitBytes"] == limit_bytes
    steady = 0.0
    for partition in {each.partition for each in segments}:
        rate = sum(each.size for each in recent if each.partition == partition) / 7
        by_time = float("inf") if limit_ms is None else rate * limit_ms / 86_400_000
        steady += min(by_time, float("inf") if limit_bytes is None else limit_bytes)
    assert row["steady"] == (None if steady == float("inf") else pytest.approx(steady, abs=1))
    expected = first_deletion(segments, limit_ms, limit_bytes)
    assert (row["nextDeletion"] is None) == (expected is None)
    if expected is not None and expected > NOW:
        assert abs(row["nextDeletion"] - expected) <= timedelta(minutes=1)
    elif expected is not None:
        assert row["nextDeletion"] <= NOW


def test_a_segment_without_timestamps_is_as_old_as_its_file() -> None:
    row = answer([Segment(10, 3 * DAY, has_times=False)], metadata_table())
    assert row["nextDeletion"] == NOW + 4 * DAY


def test_the_last_snapshot_and_what_follows_it() -> None:
    """A config that the log had before is gone if the snapshot does not have it."""
    log = [("orders", "retention.ms", "1"), ("x", "a", "b"), ("orders", "retention.bytes", "9")]
    old, last = [("orders", "cleanup.policy", "compact")], [("orders", "retention.ms", "86400000")]
    row = answer(GROWING, metadata_table(*log, snapshots={1: old, 2: last}))
    assert (row["days"], row["limitBytes"]) == (1, 9)
