"""A stream over log directories: where it starts, how far it can go now, and the plan of each micro-batch.

All is told by offset, so that segments may be rolled, compacted, deleted or replaced between two micro-batches.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError
from kafkalog_source.logdir.absent import absent_segments
from kafkalog_source.partition.moved_files import until_files_stay
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.planning.offset_range import OffsetRanges
from kafkalog_source.planning.plan import Plan, check_found, plan_ranges
from kafkalog_source.planning.ranges import Ranges
from kafkalog_source.reporting.report import Report
from kafkalog_source.streaming.log_follower import Extent, LogFollower
from kafkalog_source.streaming.rates import limited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kafkalog_source.logdir.names import TopicPartition
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.streaming.positions import Positions
    from kafkalog_source.transactions.history import KnownTransactions

__all__ = ["Stream"]

_LATEST = -1


class Stream:
    """What Spark's driver asks about one stream; it is asked by one thread.

    Parameters
    ----------
    options : ReadOptions
    warn : callable
        Takes what is to be told, each sentence once.
    """

    def __init__(self, options: ReadOptions, warn: Callable[[str], None]) -> None:
        self._options = options
        self._follower = LogFollower(options)
        self._warn = warn
        self._told: set[str] = set()
        self._target: Positions | None = None
        self._latest: Positions = {}
        self._last_batch = -float("inf")

    def initial(self) -> Positions:
        """Where a stream without a checkpoint starts.

        Raises
        ------
        LogDirError, OptionError, DataLossError
            A topic, partition, offset or time asked for is not there.
        """
        return until_files_stay(self._initial, self._options.paths)

    def _initial(self) -> Positions:
        options, report = self._options, Report()
        extents = self._follower.look({})
        listing = self._follower.listed
        check_found(options, listing, report)
        ranges = OffsetRanges(options)
        ranges.check_named(set(extents))
        positions: Positions = {}
        for place, extent in extents.items():
            positions[place] = extent.visible_end
            if not _starts_at_latest(options, place):
                low, high = ranges.range_of(PartitionOffsets(extent.log, options.include_deleted))
                # A time that no record has reached, with the strategy latest, is where the range ends.
                positions[place] = min(low, extent.visible_end) if low == high else low
        absent = filter(None, map(absent_segments, listing.partitions))
        self._tell([*listing.warnings, *absent, *report.warnings, *ranges.warnings])
        return positions

    def fix_target(self) -> None:
        """Take what is there now for all that will ever be: the stream is to end there."""
        self._target = {place: extent.visible_end for place, extent in self._follower.look({}).items()}

    def latest(self, start: Positions, *, is_limited: bool = False) -> Positions:
        """How far a micro-batch that begins at `start` can go.

        Parameters
        ----------
        start : Positions
        is_limited : bool
            Whether the options' bounds of a micro-batch hold.

        Returns
        -------
        Positions
            `start` itself if there is nothing new, or too little by minOffsetsPerTrigger. Partitions that are new are
            there too, and those that are gone keep their place.

        Raises
        ------
        DataLossError
            With failOnDataLoss=true, a partition is gone, or ends before it should begin.
        """
        extents = self._follower.look(start)
        self._tell(self._follower.warnings)
        ends = {place: self._end(place, start.get(place), extent) for place, extent in extents.items()}
        for place in start.keys() - extents.keys():
            self._data_loss(f"{_name(place)} was there and is gone")
            ends[place] = start[place]
        self._latest = dict(ends)
        if self._target is not None:
            ends = _up_to(ends, self._target, start)
        ranges = {
            place: (low, end)
            for place, end in ends.items()
            if (low := self._low(place, start, extents)) is not None and low < end
        }
        if not is_limited:
            return ends
        if self._is_too_little(ranges):
            return start
        logs = {place: extents[place].log for place in ranges}
        return {**ends, **limited(ranges, logs, self._options)}

    def newest(self) -> Positions:
        """How far the last look saw that a stream without bounds could go."""
        return self._latest

    def plan(self, start: Positions, end: Positions) -> Plan:
        """The splits of the micro-batch from `start` to `end`.

        Raises
        ------
        DataLossError
            With failOnDataLoss=true, offsets in between are not on disk.
        """
        for place in start.keys() - end.keys():
            self._data_loss(f"{_name(place)} was there and is gone")
        wanted = {place: (start.get(place), high) for place, high in end.items() if start.get(place) != high}
        return until_files_stay(lambda: self._plan(wanted, start), self._options.paths)

    def _plan(self, wanted: Mapping[TopicPartition, tuple[int | None, int]], start: Positions) -> Plan:
        if not wanted:
            return Plan([], Report())
        found = {(log.topic, log.partition): log for log in self._follower.listing(start).partitions if log.segments}
        for place in wanted.keys() - found.keys():
            self._data_loss(f"{_name(place)} was there and is gone")
        logs = [found[place] for place in sorted(wanted) if place in found]
        ranges = _StreamRanges(wanted, self._follower.known_transactions, self._data_loss)
        plan = plan_ranges(self._options, logs, ranges, Report())
        self._tell(plan.report.warnings)
        return plan

    def _low(self, place: TopicPartition, start: Positions, extents: Mapping[TopicPartition, Extent]) -> int | None:
        if place in start:
            return start[place]
        return extents[place].earliest if place in extents else None

    def _end(self, place: TopicPartition, start: int | None, extent: Extent) -> int:
        if start is None:
            return max(extent.earliest, extent.visible_end)
        if extent.end < start:
            self._data_loss(f"{_name(place)} ends at offset {extent.end}, and {start} was reached before", extent)
            return extent.end
        return max(start, extent.visible_end)

    def _is_too_little(self, ranges: Mapping[TopicPartition, tuple[int, int]]) -> bool:
        """Whether to wait for more, which a stream that is to end never does."""
        least, now = self._options.min_offsets_per_trigger, time.monotonic()
        waited = (now - self._last_batch) * 1000
        count = sum(high - low for low, high in ranges.values())
        if least is None or self._target is not None or count >= least or waited >= self._options.max_trigger_delay:
            self._last_batch = now if count else self._last_batch
            return False
        return True

    def _data_loss(self, what: str, extent: Extent | None = None) -> None:
        error = DataLossError(
            f"offsets of the stream are not on disk: {what}",
            file=None if extent is None else extent.log.path,
            remedy="Restore them, or set failOnDataLoss=false to go on with what is there",
        )
        if self._options.fail_on_data_loss:
            raise error
        self._tell([str(error)])

    def _tell(self, warnings: Mapping[str, None] | list[str]) -> None:
        for each in warnings:
            if each not in self._told:
                self._told.add(each)
                self._warn(each)


class _StreamRanges(Ranges):
    """The offsets of one micro-batch, which lay below the last stable offset when they were decided.

    Parameters
    ----------
    wanted : mapping
        Where each partition begins (None: at its earliest offset) and ends.
    known : callable
        What is remembered of a place's transactions at an offset not above a given one.
    data_loss : callable
        Raises or warns.
    """

    def __init__(
        self,
        wanted: Mapping[TopicPartition, tuple[int | None, int]],
        known: Callable[[TopicPartition, int], KnownTransactions | None],
        data_loss: Callable[[str, None], None],
    ) -> None:
        self._wanted = wanted
        self._known = known
        self._data_loss = data_loss

    def range_of(self, offsets: PartitionOffsets) -> tuple[int, int]:
        """The offsets [low, high), as far as they are on disk."""
        place: TopicPartition = (offsets.log.topic, offsets.log.partition)  # type: ignore[assignment]
        low, high = self._wanted[place]
        if self._check_remote(place, offsets, low, high):
            low = min(offsets.earliest, high)
        if low is None:
            low = min(offsets.earliest, high)
        if low < offsets.earliest:
            what = "deleted" if offsets.log.segments[0].base_offset <= low else "gone"
            last = min(offsets.earliest, high) - 1
            self._data_loss(f"{_name(place)}: offsets {low} to {last} were {what} before they were read", None)
            low = min(offsets.earliest, high)
        if high > low and not offsets.reaches(high):
            self._data_loss(f"{_name(place)} ends at offset {offsets.end}, and {high} was there before", None)
        return low, high

    def _check_remote(self, place: TopicPartition, offsets: PartitionOffsets, low: int | None, high: int) -> bool:
        """Tell of offsets between `low` and `high` that are in remote storage; False if there are none."""
        # What is listed begins at the last segment that may hold `low`, so that nothing is told above it.
        remote = offsets.remote if low is None or low < offsets.earliest else None
        if remote is None or (low is None and not remote.is_expected):
            return False
        if (low or 0) > remote.last_offset or high <= remote.first_offset:
            return False
        self._data_loss(f"{_name(place)}: {remote.text}; reading remote storage is not supported yet", None)
        return True

    def known_transactions(self, offsets: PartitionOffsets, low: int) -> KnownTransactions | None:
        """What was seen before of what this micro-batch may hold."""
        return self._known((offsets.log.topic, offsets.log.partition), low)  # type: ignore[arg-type]


def _up_to(ends: Positions, target: Positions, start: Positions) -> Positions:
    """`ends` with nothing behind `target`, and without partitions that it does not have and that are not begun."""
    bounded = {}
    for place, end in ends.items():
        if place in target:
            bounded[place] = max(min(end, target[place]), min(end, start.get(place, 0)))
        elif place in start:
            bounded[place] = start[place]
    return bounded


def _starts_at_latest(options: ReadOptions, place: TopicPartition) -> bool:
    limit = options.starting_limit
    return limit.keyword == "latest" or (limit.offsets or {}).get(place[0], {}).get(place[1]) == _LATEST


def _name(place: TopicPartition) -> str:
    return f"{place[0]}-{place[1]}"
