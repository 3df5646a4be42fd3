"""What a task reads: plain data that travels to a worker."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalog_source.segment.rows import Span


@dataclass(frozen=True, slots=True)
class SplitRange:
    """A range of one segment, and which of its records are wanted.

    Attributes
    ----------
    path : str
        The segment.
    topic : str or None
    partition : int or None
    span : Span
        The bytes, and what is known of the offsets in them.
    low, high : int
        Records with offsets in [low, high) are wanted.
    file_size, inode : int
        Of the segment when the read was planned, to notice one that was replaced or cut since.
    """

    path: str
    topic: str | None
    partition: int | None
    span: Span
    low: int
    high: int
    file_size: int
    inode: int

    @property
    def size(self) -> int:
        """Bytes of the range."""
        return self.span.end - self.span.start


@dataclass(frozen=True, slots=True)
class Split:
    """Spark's unit of work: ranges that one task reads in this order."""

    ranges: tuple[SplitRange, ...]

    @property
    def size(self) -> int:
        """Bytes of all ranges."""
        return sum(each.size for each in self.ranges)


def pack(ranges: list[SplitRange], target: int, open_cost: int, most_offsets: int | None = None) -> list[Split]:
    """Put neighbouring ranges into splits of about `target` bytes, each range weighing `open_cost` more than its bytes.

    With `most_offsets` no split spans more offsets than that; the ranges must not, either.
    """
    splits: list[Split] = []
    packed: list[SplitRange] = []
    weight = offsets = 0
    for each in ranges:
        span = each.high - each.low if most_offsets is not None else 0
        too_many = most_offsets is not None and offsets + span > most_offsets
        if packed and (too_many or weight + each.size + open_cost > target):
            splits.append(Split(tuple(packed)))
            packed, weight, offsets = [], 0, 0
        packed.append(each)
        weight += each.size + open_cost
        offsets += span
    if packed:
        splits.append(Split(tuple(packed)))
    return splits
