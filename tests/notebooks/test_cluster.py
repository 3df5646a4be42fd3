"""What the notebook of a cluster computes and shows, against the sample and against what Kafka's own classes read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kafkalog_source import scan
from tests.data.cases import INTERNAL_TOPICS
from tests.recipes.kafkas_reading import CASE, batches_of, commits_of, lag_at

pytest.importorskip("nbclient", reason="the notebook extra is not installed")
pytest.importorskip("matplotlib", reason="the notebook extra is not installed")

from tests.notebooks.executing import ROOT, read, texts
from tests.notebooks.test_notebooks import code_cells, pictures

CLUSTER = ROOT / "spark_jobs" / "notebooks" / "cluster.ipynb"
SAMPLE = str(ROOT / "spark_jobs" / "sample-groups" / "disk*")


def query(name: str) -> str:
    """Give the SQL that makes a DataFrame of the notebook."""
    code = "\n".join(cell.source for cell in code_cells(read(CLUSTER)))
    found = re.search(rf'^{name} = duckdb\.sql\("""(.*?)"""\)', code, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def ask(sql: str, **views: Any) -> list[tuple[Any, ...]]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for name, view in views.items():
        connection.register(name, view)
    return connection.execute(sql).fetchall()


def test_the_lag_of_a_group_over_time_is_the_sum_over_its_partitions(fixture_case: Callable[[str], Path]) -> None:
    log, oracle = fixture_case(CASE) / "log", fixture_case(CASE) / "oracle"
    commits = commits_of(oracle, fixture_case(INTERNAL_TOPICS) / "oracle" / f"{CASE}.jsonl")
    batches = batches_of(oracle)
    views = {"offsets": scan(log, view="consumer_offsets"), "batches": scan(log, view="batches")}
    rows = ask(query("history"), **views)
    assert {row[0] for row in rows} == {commit.owner[0] for commit in commits}
    for group, time, _, lag in rows:
        then = lag_at(commits, batches, milliseconds(time))
        known = [end - committed for owner, (committed, end) in then.items() if owner[0] == group and end is not None]
        assert lag == (sum(known) if known else None)
    assert len({lag for *_, lag in rows}) > 10


def milliseconds(time: datetime) -> int:
    return round(time.astimezone(UTC).timestamp() * 1000)


def test_the_steps_of_transactions_are_those_of_the_coordinator() -> None:
    rows = ask(query("steps"), states=scan(SAMPLE, view="transaction_state"))
    states = scan(SAMPLE, view="transaction_state").to_table().to_pylist()
    started = {(state["transactionalId"], state["startTimestamp"]) for state in states if state["startTimestamp"]}
    assert {(row[0], row[1].astimezone(UTC)) for row in rows} == started
    for name, start in started:
        mine = {row[2]: row[3:5] for row in rows if (row[0], row[1].astimezone(UTC)) == (name, start)}
        written = [each for each in states if (each["transactionalId"], each["startTimestamp"]) == (name, start)]
        times = {state: [each["lastUpdateTimestamp"] for each in written if each["state"] == state] for state in mine}
        for state, (since, until) in mine.items():
            assert since == (min(times[state]) - start).total_seconds() * 1000
            after = [each["lastUpdateTimestamp"] for each in written if each["lastUpdateTimestamp"] > max(times[state])]
            end = min(after, default=max(times[state]))
            assert until in (None, (end - start).total_seconds() * 1000)


def test_it_shows_its_pictures_and_tables() -> None:
    cells = code_cells(read(CLUSTER))
    assert sum(len(pictures(cell)) for cell in cells) == 4
    said = "\n".join(text for cell in cells for text in texts(cell))
    rows = scan(SAMPLE, view="segments", subscribePattern=".*").to_table().to_pylist()
    records: Counter[str] = Counter()
    for row in rows:
        records[row["topic"]] += row["recordCount"]
    for topic, count in records.items():
        name = re.escape(topic[:40])
        assert re.search(rf"^\d+ +{name}\S* +\d+ +{count} *$", said, re.MULTILINE), topic
    for change in ("remove topic", "log.cleaner.threads", "(redacted)"):
        assert change in said
