"""Bounds how many of the new offsets one micro-batch of a stream reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.planning.plan import plan_ranges
from kafkalog_source.planning.ranges import Ranges
from kafkalog_source.reading.read import SplitReader
from kafkalog_source.reporting.damage_modes import goes_on_behind_damage
from kafkalog_source.reporting.report import Report
from kafkalog_source.segment.opening import open_seeker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.logdir.names import TopicPartition
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.segment.seek import SegmentPlace

Range = tuple[int, int]
"""The offsets [low, high)."""


def share(sizes: Mapping[TopicPartition, int], most: int) -> dict[TopicPartition, int]:
    """Divide `most` in proportion to sizes, with at least 1 for each, as Spark's Kafka source does."""
    total = sum(sizes.values())
    if total <= most:
        return dict(sizes)
    return {place: max(1, most * size // total) for place, size in sizes.items()}


def limited(
    ranges: Mapping[TopicPartition, Range], logs: Mapping[TopicPartition, PartitionLog], options: ReadOptions
) -> dict[TopicPartition, int]:
    """The end offset of each of some non-empty ranges, under the options that bound a micro-batch.

    Parameters
    ----------
    ranges : mapping
        The new offsets, by partition.
    logs : mapping
        The partitions, with at least the segments that hold the ranges.
    options : ReadOptions
        maxOffsetsPerTrigger counts offsets, maxBytesPerTrigger bytes on disk; if both are set, the lower end applies.
    """
    ends = {place: high for place, (_, high) in ranges.items()}
    if options.max_offsets_per_trigger is not None:
        counts = {place: high - low for place, (low, high) in ranges.items()}
        shares = share(counts, options.max_offsets_per_trigger)
        ends = {place: low + shares[place] for place, (low, _) in ranges.items()}
    if options.max_bytes_per_trigger is not None:
        by_bytes = {place: _Bytes(logs[place], low, ends[place]) for place, (low, _) in ranges.items()}
        shares = share({place: each.count() for place, each in by_bytes.items()}, options.max_bytes_per_trigger)
        ends = {place: each.end_of(shares[place]) for place, each in by_bytes.items()}
    if goes_on_behind_damage(options):
        ends = {place: _not_in_damage(logs[place], ends[place], high, options) for place, (_, high) in ranges.items()}
    return ends


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of a segment between two positions that holds wanted offsets."""

    place: SegmentPlace
    start: int
    end: int


class _Bytes:
    """The bytes on disk of the offsets [low, high) of a partition."""

    def __init__(self, log: PartitionLog, low: int, high: int) -> None:
        self._low, self._high = low, high
        self._pieces = [
            _Piece(place, _start_of(place, low), segment.size)
            for place, segment in zip(PartitionOffsets(log).places(), log.segments, strict=True)
            if place.bound > low and place.least < high and segment.size
        ]

    def count(self) -> int:
        """The approximate number of bytes, at least 1."""
        return max(1, sum(each.end - each.start for each in self._pieces))

    def end_of(self, budget: int) -> int:
        """The end offset of about the first `budget` bytes, and of at least one batch."""
        for each in self._pieces:
            size = each.end - each.start
            if budget < size:
                return min(self._high, _end_of_budget(each, budget, self._low))
            budget -= size
            if budget == 0:
                return min(self._high, max(each.place.bound, self._low + 1))
        return self._high


def _start_of(place: SegmentPlace, low: int) -> int:
    if place.least >= low:
        return 0
    with open_seeker(place) as seeker:
        # Damage is ignored here, since reading the micro-batch reports it.
        header = next(seeker.headers_from(low, lambda _: None), None)
        return seeker.start_of(low) if header is None else header.position


def _end_of_budget(piece: _Piece, budget: int, low: int) -> int:
    """The first offset of the batch that begins after about `budget` bytes of a piece; always above `low`."""
    with open_seeker(piece.place) as seeker:
        for cut in seeker.cuts(piece.start, piece.end, budget):
            if cut.below > low:
                return max(cut.least, low + 1)
    return piece.place.bound


def _not_in_damage(log: PartitionLog, offset: int, high: int, options: ReadOptions) -> int:
    """`offset` or, if it is in a damaged region, the first one after it, so that only one micro-batch reports it."""
    if log.segments[0].is_07:
        return offset
    damage_only = replace(options, view="damage", isolation_level="read_uncommitted")
    while offset < high:
        reader = SplitReader(damage_only, ("topic",))
        for split in plan_ranges(damage_only, [log], _One(offset), Report()).splits:
            for _ in reader.read(split):
                pass
        lost = [each.last_offset for each in reader.report.damage if (each.first_offset or 0) < offset]
        after = max((high if last is None else last + 1 for last in lost), default=offset)
        if after <= offset:
            break
        offset = after
    return min(offset, high)


class _One(Ranges):
    """The range of one offset."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def range_of(self, offsets: PartitionOffsets) -> tuple[int, int]:
        """The offset and the one after it."""
        return self._offset, self._offset + 1
