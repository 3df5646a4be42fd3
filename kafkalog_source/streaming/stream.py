"""A stream over log directories: where it starts, which offsets are available, and the plan of each micro-batch.

Positions are offsets only, so that segments may be rolled, compacted, deleted or replaced between two micro-batches.
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
    """One stream, as Spark's driver uses it. Not thread-safe.

    Parameters
    ----------
    options : ReadOptions
    warn : callable
        Called with each distinct warning once.
    """

    def __init__(self, options: ReadOptions, warn: Callable[[str], None]) -> None:
        self._options = options
        self._follower = LogFollower(options)
        self._warn = warn
        self._warned: set[str] = set()
        self._target: Positions | None = None
        self._latest: Positions = {}
        self._last_batch = -float("inf")

    def initial(self) -> Positions:
        """The positions at which a stream without a checkpoint starts.

        Raises
        ------
        LogDirError, OptionError, DataLossError
            If a topic, partition, offset or timestamp that the options name does not exist.
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
                # With startingOffsetsByTimestampStrategy=latest a timestamp after all records gives an empty range.
                positions[place] = min(low, extent.visible_end) if low == high else low
        absent = filter(None, map(absent_segments, listing.partitions))
        self._warn_once([*listing.warnings, *absent, *report.warnings, *ranges.warnings])
        return positions

    def fix_target(self) -> None:
        """Make the stream end at the offsets that are available now, as with ``availableNow``."""
        self._target = {place: extent.visible_end for place, extent in self._follower.look({}).items()}

    def latest(self, start: Positions, *, is_limited: bool = False) -> Positions:
        """The positions at which a micro-batch that begins at `start` can end.

        Parameters
        ----------
        start : Positions
        is_limited : bool
            Whether to apply the options that bound a micro-batch.

        Returns
        -------
        Positions
            Equal to `start` if there is nothing new, or less than minOffsetsPerTrigger. New partitions are included,
            and removed ones keep their position.

        Raises
        ------
        DataLossError
            With failOnDataLoss=true, if a partition was removed or ends before its position in `start`.
        """
        extents = self._follower.look(start)
        self._warn_once(self._follower.warnings)
        ends = {place: self._end(place, start.get(place), extent) for place, extent in extents.items()}
        for place in start.keys() - extents.keys():
            self._data_loss(f"{_name(place)} no longer exists")
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
        """The positions at which a micro-batch without bounds could have ended at the last call of `latest`."""
        return self._latest

    def plan(self, start: Positions, end: Positions) -> Plan:
        """The splits of the micro-batch from `start` to `end`.

        Raises
        ------
        DataLossError
            With failOnDataLoss=true, if offsets in between are not on disk.
        """
        for place in start.keys() - end.keys():
            self._data_loss(f"{_name(place)} no longer exists")
        wanted = {place: (start.get(place), high) for place, high in end.items() if start.get(place) != high}
        return until_files_stay(lambda: self._plan(wanted, start), self._options.paths)

    def _plan(self, wanted: Mapping[TopicPartition, tuple[int | None, int]], start: Positions) -> Plan:
        if not wanted:
            return Plan([], Report())
        found = {(log.topic, log.partition): log for log in self._follower.listing(start).partitions if log.segments}
        for place in wanted.keys() - found.keys():
            self._data_loss(f"{_name(place)} no longer exists")
        logs = [found[place] for place in sorted(wanted) if place in found]
        ranges = _StreamRanges(wanted, self._follower.known_transactions, self._data_loss)
        plan = plan_ranges(self._options, logs, ranges, Report())
        self._warn_once(plan.report.warnings)
        return plan

    def _low(self, place: TopicPartition, start: Positions, extents: Mapping[TopicPartition, Extent]) -> int | None:
        if place in start:
            return start[place]
        return extents[place].earliest if place in extents else None

    def _end(self, place: TopicPartition, start: int | None, extent: Extent) -> int:
        if start is None:
            return max(extent.earliest, extent.visible_end)
        if extent.end < start:
            self._data_loss(
                f"{_name(place)} ends at offset {extent.end}, but the stream has read up to {start}", extent
            )
            return extent.end
        return max(start, extent.visible_end)

    def _is_too_little(self, ranges: Mapping[TopicPartition, tuple[int, int]]) -> bool:
        """Whether to wait for more records; always False for a stream with a fixed target."""
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
            remedy="Restore them, or set failOnDataLoss=false to continue with what is on disk",
        )
        if self._options.fail_on_data_loss:
            raise error
        self._warn_once([str(error)])

    def _warn_once(self, warnings: Mapping[str, None] | list[str]) -> None:
        for each in warnings:
            if each not in self._warned:
                self._warned.add(each)
                self._warn(each)


class _StreamRanges(Ranges):
    """The ranges of one micro-batch, which ends below the last stable offset already.

    Parameters
    ----------
    wanted : mapping
        Start (None: the earliest offset) and end by partition.
    known : callable
        Returns the known transactions of a partition at an offset of at most the given one, or None.
    data_loss : callable
        Called with a description of lost offsets; raises or warns.
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
        """The offsets [low, high) of the micro-batch that are on disk."""
        place: TopicPartition = (offsets.log.topic, offsets.log.partition)  # type: ignore[assignment]
        low, high = self._wanted[place]
        if self._check_remote(place, offsets, low, high):
            low = min(offsets.earliest, high)
        if low is None:
            low = min(offsets.earliest, high)
        if low < offsets.earliest:
            what = "deleted" if offsets.log.segments[0].base_offset <= low else "removed"
            last = min(offsets.earliest, high) - 1
            self._data_loss(f"{_name(place)}: offsets {low} to {last} were {what} before they were read", None)
            low = min(offsets.earliest, high)
        if high > low and not offsets.reaches(high):
            self._data_loss(f"{_name(place)} ends at offset {offsets.end}, but reached {high} before", None)
        return low, high

    def _check_remote(self, place: TopicPartition, offsets: PartitionOffsets, low: int | None, high: int) -> bool:
        """Report offsets between `low` and `high` that are in remote storage; False if there are none."""
        # The listing begins at the last segment that may hold `low`, so `remote` is meaningless above it.
        remote = offsets.remote if low is None or low < offsets.earliest else None
        if remote is None or (low is None and not remote.is_expected):
            return False
        if (low or 0) > remote.last_offset or high <= remote.first_offset:
            return False
        self._data_loss(f"{_name(place)}: {remote.text}; reading remote storage is not supported yet", None)
        return True

    def known_transactions(self, offsets: PartitionOffsets, low: int) -> KnownTransactions | None:
        """The transactions that an earlier look found open at an offset of at most `low`."""
        return self._known((offsets.log.topic, offsets.log.partition), low)  # type: ignore[arg-type]


def _up_to(ends: Positions, target: Positions, start: Positions) -> Positions:
    """`ends` limited to `target`; partitions not in `target` stay at `start`, or are left out if they are new."""
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
