"""Lag by the recipes equals lag by a loop over what Kafka's own classes read from the same disk."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafkalog_source import scan
from tests.data.cases import INTERNAL_TOPICS
from tests.recipes.kafkas_reading import CASE, Batch, Commit, batches_of, commits_of, lag_at, most_lag
from tests.recipes.page import RECIPES

NOW, THEN, DAY = (
    RECIPES[name] for name in ("Groups and their lag", "Lag at a time", "How far each group lagged that day")
)
# In the case, groups commit within eight seconds; the first time is before all commits, the last after them.
TIMES = ["11:56:41Z", "11:56:41.400Z", "11:56:41.450Z", "11:56:42.100Z", "11:56:42.200Z", "11:56:48.500Z", "11:57:00Z"]


def milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.fixture
def log(fixture_case: Callable[[str], Path]) -> Path:
    return fixture_case(CASE) / "log"


@pytest.fixture
def known(fixture_case: Callable[[str], Path]) -> tuple[list[Commit], list[Batch]]:
    oracle = fixture_case(CASE) / "oracle"
    records = fixture_case(INTERNAL_TOPICS) / "oracle" / f"{CASE}.jsonl"
    return commits_of(oracle, records), batches_of(oracle)


def test_the_case_has_what_makes_it_hard(known: tuple[list[Commit], list[Batch]], log: Path) -> None:
    commits, _ = known
    all_commits = scan(log, view="consumer_offsets", columns=["recordType"]).to_table()["recordType"].to_pylist()
    assert all_commits.count("OFFSET_COMMIT") > len(commits), "none was in an aborted transaction"
    assert any(commit.committed is None for commit in commits), "none was deleted"


def test_lag_now(known: tuple[list[Commit], list[Batch]], log: Path) -> None:
    rows = NOW.ask(offsets=scan(log, view="consumer_offsets"), segments=scan(log, view="segments"))
    expected = lag_at(*known, time=1 << 60)
    assert {row[:3]: row[3:5] for row in rows} == expected
    assert len(rows) == len(expected) == 12
    assert [row[5] for row in rows] == sorted((row[4] - row[3] for row in rows), reverse=True)


@pytest.mark.parametrize("time", TIMES)
def test_lag_at_a_time(known: tuple[list[Commit], list[Batch]], log: Path, time: str) -> None:
    then = THEN.about(**{"2026-11-22 04:13:10Z": f"2026-11-21 {time}"})
    rows = then.ask(offsets=scan(log, view="consumer_offsets"), batches=scan(log, view="batches"))
    assert {row[:3]: row[3:5] for row in rows} == lag_at(*known, time=milliseconds(f"2026-11-21 {time}"))


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("2026-11-21 00:00:00Z", "2026-11-22 00:00:00Z"),
        # Groups that committed before, and nothing since.
        ("2026-11-21 11:56:45Z", "2026-11-21 11:56:47Z"),
        ("2026-11-21 11:56:41.400Z", "2026-11-21 11:56:42Z"),
        ("2026-11-22 00:00:00Z", "2026-11-23 00:00:00Z"),
        ("2020-01-01 00:00:00Z", "2026-11-21 11:56:41Z"),
    ],
)
def test_the_greatest_lag_of_a_day(known: tuple[list[Commit], list[Batch]], log: Path, low: str, high: str) -> None:
    day = DAY.about(**{"2026-11-22 00:00:00Z": low, "2026-11-23 00:00:00Z": high})
    rows = day.ask(offsets=scan(log, view="consumer_offsets"), batches=scan(log, view="batches"))
    assert {row[:3]: row[3] for row in rows} == most_lag(*known, low=milliseconds(low), high=milliseconds(high))
