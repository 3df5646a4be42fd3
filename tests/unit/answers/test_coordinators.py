"""What an open transaction is, by what its coordinator knows."""

from __future__ import annotations

from typing import Any

import pytest

from kafkalog_source.answers.coordinators import Coordinators
from kafkalog_source.answers.open_transactions import verdict_of

OPEN = {"topic": "orders", "partition": 0, "producerId": 7, "producerEpoch": 2, "transactionalId": "tx"}


def record(state: str | None = "Ongoing", **fields: Any) -> dict[str, Any]:
    return {
        "timestamp": 1_000,
        "isTombstone": state is None,
        "transactionalId": "tx",
        "producerId": 7,
        "producerEpoch": 2,
        "transactionTimeoutMs": 60_000,
        "state": state,
        "partitions": [{"topic": "orders", "partitions": [0, 1]}],
        **fields,
    }


def coordinators(*records: dict[str, Any], present: int = 3, count: int | None = None) -> Coordinators:
    found = Coordinators(present=present, count=count)
    for each in records:
        found.add(each)
    return found


def verdict(*records: dict[str, Any], **known: Any) -> tuple[str, str]:
    found = verdict_of(OPEN, coordinators(*records, **known))
    return found["verdict"], found["reason"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("Ongoing", "ongoing"),
        ("PrepareCommit", "ending"),
        ("PrepareAbort", "ending"),
        ("PrepareEpochFence", "ending"),
        ("CompleteCommit", "hanging"),
        ("CompleteAbort", "hanging"),
        ("Empty", "hanging"),
        ("Dead", "hanging"),
    ],
)
def test_the_state_of_the_last_record_counts(state: str, expected: str) -> None:
    found, reason = verdict(record("CompleteCommit", partitions=None), record(state))
    assert found == expected
    assert f"the coordinator has it as {state}" in reason


def test_a_transaction_without_the_partition_is_another_one() -> None:
    other = [{"topic": "orders", "partitions": [1]}, {"topic": "payments", "partitions": [0]}]
    found, reason = verdict(record(partitions=other))
    assert (found, reason) == ("hanging", "the coordinator has a transaction as Ongoing, but without this partition")


def test_a_transactional_id_with_another_producer_id_has_left_the_transaction() -> None:
    found, reason = verdict(record(), record(producerId=9))
    assert found == "hanging"
    assert reason.endswith("another producer id, 9")


@pytest.mark.parametrize("records", [[], [record(producerId=8)], [record(), record(None)]])
def test_what_no_coordinator_has_hangs_if_all_of_them_are_known(records: list[dict[str, Any]]) -> None:
    assert verdict(*records, count=3)[0] == "hanging"
    some = "the 3 of 50 partitions of __transaction_state in PATH do not have it"
    assert verdict(*records, count=50) == ("unknown", some)
    assert verdict(*records) == ("unknown", "the 3 partitions of __transaction_state in PATH do not have it")
    assert verdict(*records, present=0, count=3)[1] == "no partition of __transaction_state is in PATH"


def test_what_the_coordinator_has_is_in_the_row() -> None:
    found = verdict_of(OPEN, coordinators(record("PrepareAbort", producerEpoch=3)))
    assert found["coordinatorState"] == "PrepareAbort"
    assert (found["coordinatorProducerEpoch"], found["transactionTimeoutMs"]) == (3, 60_000)


def test_the_newest_time() -> None:
    assert coordinators(record(timestamp=5), record(timestamp=3), record(timestamp=None)).newest_us == 5
