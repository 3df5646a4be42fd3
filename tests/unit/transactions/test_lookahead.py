"""How far a lookahead reads, and that its answers depend on that alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kafkalog_source._core.outcomes import TransactionStates
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.transactions.lookahead import Lookahead, TransactionFinder
from tests.builders import Batch, Record, end_marker, partition_dir, write_segment
from tests.builders.disk import Entry


def data(base_offset: int, producer_id: int) -> Batch:
    return Batch([Record()], base_offset, transactional=True, producer_id=producer_id)


def marker(base_offset: int, producer_id: int, *, commit: bool = False) -> Batch:
    return Batch([end_marker(commit=commit)], base_offset, transactional=True, control=True, producer_id=producer_id)


SEGMENTS: tuple[Sequence[Entry], ...] = (
    [data(0, 1), data(1, 2), marker(2, 1), data(3, 3), marker(4, 2, commit=True)],
    [data(5, 4), marker(6, 3)],
)
BATCHES = {0: 1, 1: 2, 3: 3}
"""Offset and producer of the first segment's batches with records."""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = partition_dir(tmp_path)
    for entries in SEGMENTS:
        write_segment(made, entries, base_offset=entries[0].last_offset)
    return made


def outcomes(states: TransactionStates) -> dict[int, int]:
    return {offset: states.look_up(producer, offset) for offset, producer in BATCHES.items()}


@pytest.mark.parametrize("steps", [(3,), (0, 3), (0, 1, 2, 3), (3, 0, 1)])
def test_answers_depend_only_on_how_far_it_has_come(directory: Path, steps: Sequence[int]) -> None:
    options = parse_options({}, [str(directory)])
    each = plan_read(options).splits[0].ranges[0]
    with LocalFile(each.path) as source:
        lookahead = Lookahead(TransactionFinder(options), source, each)
        for step in steps:
            lookahead.advance_to(step, -1)
            assert lookahead.known_below > step
            assert outcomes(lookahead.states) == outcomes(lookahead.states)
        lookahead.advance_to(3, -1)
        found = outcomes(lookahead.states)
        lookahead.close()
    assert found == {0: 2, 1: 1, 3: 2}


def test_nothing_is_read_before_it_is_advanced(directory: Path) -> None:
    options = parse_options({}, [str(directory)])
    each = plan_read(options).splits[0].ranges[0]
    with LocalFile(each.path) as source:
        lookahead = Lookahead(TransactionFinder(options), source, each)
        assert lookahead.known_below <= 0
        assert source.bytes_read == 0
        lookahead.advance_to(3, -1)
        assert source.bytes_read > 0
        read = source.bytes_read
        lookahead.advance_to(1, -1)
        assert source.bytes_read == read
        lookahead.close()
