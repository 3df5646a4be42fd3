"""How lost offsets are counted and put into words."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir import list_logs
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.reporting.losses import Loss, loss_lines, loss_of, percent
from tests.builders import Batch, Record, partition_dir, write_segment


@pytest.fixture
def offsets(tmp_path: Path) -> PartitionOffsets:
    """Offsets 100 to 199."""
    batch = Batch([Record(offset_delta=number) for number in range(100)], base_offset=100)
    write_segment(partition_dir(tmp_path), [batch], base_offset=100)
    return PartitionOffsets(list_logs([str(tmp_path)], wanted=lambda *_: True).partitions[0])


@pytest.mark.parametrize(
    ("wanted", "regions", "ranges", "unknown", "total"),
    [
        ((100, MAX_OFFSET), [(110, 119)], [(110, 119)], 0, 100),
        ((100, MAX_OFFSET), [(115, 129), (110, 120), (130, 130)], [(110, 130)], 0, 100),
        ((115, 118), [(110, 119)], [(115, 117)], 0, 3),
        ((100, MAX_OFFSET), [(200, 249)], [(200, 249)], 0, 150),
        ((100, MAX_OFFSET), [(190, None)], [(190, 199)], 1, 100),
        ((100, MAX_OFFSET), [(200, None)], [], 1, 100),
        ((100, MAX_OFFSET), [(None, None)], [], 1, 100),
    ],
)
def test_regions_are_summed_up(
    offsets: PartitionOffsets,
    wanted: tuple[int, int],
    regions: list[tuple[int | None, int | None]],
    ranges: list[tuple[int, int]],
    unknown: int,
    total: int,
) -> None:
    found = loss_of(offsets, wanted, regions)
    assert found is not None
    assert (list(found.ranges), found.unknown, found.total) == (ranges, unknown, total)


@pytest.mark.parametrize("regions", [[], [(110, 109)], [(50, 99)]])
def test_what_is_no_loss(offsets: PartitionOffsets, regions: list[tuple[int, int]]) -> None:
    assert loss_of(offsets, (100, MAX_OFFSET), regions) is None


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 10, "0 %"),
        (10, 10, "100 %"),
        (1, 3, "33.3 %"),
        (1, 10_000_000, "less than 0.001 %"),
        (9_999_999, 10_000_000, "more than 99.9 %"),
        (0, 0, "0 %"),
    ],
)
def test_per_cent(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text


def test_lines() -> None:
    one = Loss("orders", 0, "/logs/orders-0", ((3, 3), (5, 9)), 0, 10)
    other = Loss(None, None, "/0.log", (), 2, 10)
    assert loss_lines([one], 1) == ["lost: orders-0: at most 6 of 10 offsets (60 %): 3, 5 to 9"]
    unknown = "2 regions whose end is unknown"
    assert loss_lines([one, other], 4)[1:] == [
        f"lost: /0.log: an unknown number of offsets, in {unknown}",
        f"lost in all: at most 6 of 20 offsets (30 %), and what was in {unknown} in these 2 of 4 partitions",
    ]
    assert loss_lines([], 4) == []
    assert loss_lines([one] * 25, 30)[20] == "lost: … and in 5 more partitions"
