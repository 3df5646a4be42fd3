"""Packing ranges into splits: by weight, in order, and never over a bound on offsets."""

from __future__ import annotations

import pickle

import pytest

from kafkalog_source.partition.splits import Split, SplitRange, pack
from kafkalog_source.segment.span import Span


def span_of(size: int, *, low: int = 0, high: int = 10, partition: int = 0) -> SplitRange:
    span = Span(0, size, 0, 2**63 - 1, high, True, True)
    return SplitRange("path", "topic", partition, span, low, high, size, 1)


def sizes(splits: list[Split]) -> list[list[int]]:
    return [[each.size for each in split.ranges] for split in splits]


@pytest.mark.parametrize(
    ("given", "target", "cost", "packed"),
    [
        ([], 10, 0, []),
        ([5], 10, 0, [[5]]),
        ([5, 5, 5], 10, 0, [[5, 5], [5]]),
        ([5, 6, 5], 10, 0, [[5], [6], [5]]),
        ([100, 1, 100], 10, 0, [[100], [1], [100]]),
        ([1, 1, 1, 1], 10, 4, [[1, 1], [1, 1]]),
        ([1, 1, 1], 10, 100, [[1], [1], [1]]),
        ([0, 0, 0], 1, 0, [[0, 0, 0]]),
    ],
)
def test_neighbours_share_a_split_up_to_its_target(
    given: list[int], target: int, cost: int, packed: list[list[int]]
) -> None:
    assert sizes(pack([span_of(size) for size in given], target, cost)) == packed


def test_a_bound_on_offsets_opens_a_new_split() -> None:
    ranges = [span_of(1, low=0, high=3), span_of(1, low=3, high=6), span_of(1, low=6, high=7), span_of(1, high=9)]
    splits = pack(ranges, 1000, 0, most_offsets=6)
    assert [[each.high - each.low for each in split.ranges] for split in splits] == [[3, 3], [1], [9]]


def test_a_split_is_plain_data_that_travels() -> None:
    split = Split((span_of(5), span_of(6)))
    again = pickle.loads(pickle.dumps(split))
    assert again == split
    assert split.size == 11
    assert len(pickle.dumps(split)) < 1000
