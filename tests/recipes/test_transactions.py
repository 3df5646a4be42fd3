"""Who holds back the last stable offset, by what Kafka's own classes read of batches and of the coordinator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import scan
from tests.data.cases import INTERNAL_TOPICS
from tests.recipes.kafkas_reading import batches_below, lines
from tests.recipes.page import RECIPES

RECIPE = RECIPES["Who holds back the last stable offset"]


def expected_rows(oracle: Path, records: Path) -> list[tuple[Any, ...]]:
    """Give topic, partition, first offset, offsets from there, transactional id and the coordinator's last state."""
    open_since: dict[str, dict[int, int]] = {}
    ends: dict[str, int] = {}
    for name, line in batches_below(oracle):
        ends[name] = line["lastOffset"] + 1
        since = open_since.setdefault(name, {})
        if line["isControl"]:
            since.pop(line["producerId"], None)
        elif line["isTransactional"]:
            since.setdefault(line["producerId"], line["baseOffset"])
    ids = {line["value"]["producerId"]: line for line in lines(records) if line["recordType"] == "TRANSACTION_LOG"}
    rows = []
    for name, since in open_since.items():
        if since:
            first, producer = min((offset, producer) for producer, offset in since.items())
            topic, _, partition = name.rpartition("-")
            last = ids[producer]
            state = STATES[last["value"]["transactionStatus"]]
            rows.append((topic, int(partition), first, ends[name] - first, last["key"]["transactionalId"], state))
    return sorted(rows)


STATES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead")


@pytest.mark.parametrize("case", ["txn-4.4", "txn-2.8", "groups-4.4"])
def test_it_names_the_first_open_transaction(fixture_case: Callable[[str], Path], case: str) -> None:
    log = fixture_case(case) / "log"
    every = {"subscribePattern": ".*"}
    rows = RECIPE.ask(
        transactions=scan(log, view="transactions", **every),
        segments=scan(log, view="segments", **every),
        states=scan(log, view="transaction_state"),
    )
    expected = expected_rows(fixture_case(case) / "oracle", fixture_case(INTERNAL_TOPICS) / "oracle" / f"{case}.jsonl")
    assert expected
    assert [(*row[:4], *row[5:]) for row in rows] == expected
    assert all(row[4].microsecond == 0 for row in rows)
