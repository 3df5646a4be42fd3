"""Looking up what became of a batch's transaction."""

from __future__ import annotations

import pytest

from kafkalog_source._core.outcomes import TransactionStates

COMMITTED, ABORTED, OPEN = 1, 2, 3
STATES = TransactionStates([(5, 10, 20), (5, 30, 40), (6, 15, 16)], [(5, 50), (9, 0)])


@pytest.mark.parametrize(
    ("producer_id", "offset", "state"),
    [
        (5, 9, COMMITTED),
        (5, 10, ABORTED),
        (5, 19, ABORTED),
        (5, 21, COMMITTED),
        (5, 29, COMMITTED),
        (5, 39, ABORTED),
        (5, 49, COMMITTED),
        (5, 50, OPEN),
        (5, 2**62, OPEN),
        (6, 15, ABORTED),
        (6, 17, COMMITTED),
        (7, 15, COMMITTED),
        (9, 0, OPEN),
        (2**62, 0, COMMITTED),
        (-1, 0, COMMITTED),
    ],
)
def test_the_state_of_a_batch(producer_id: int, offset: int, state: int) -> None:
    assert STATES.look_up(producer_id, offset) == state


def test_without_any_everything_is_committed() -> None:
    assert TransactionStates().look_up(0, 0) == COMMITTED


def test_what_is_told_twice_counts_once() -> None:
    states = TransactionStates([(1, 5, 9), (1, 5, 9), (1, 7, 9)])
    assert [states.look_up(1, offset) for offset in (4, 5, 8)] == [COMMITTED, ABORTED, ABORTED]
