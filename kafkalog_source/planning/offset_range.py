"""Computes the range of offsets [low, high) of a partition that a read wants, from its options and what is on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, OptionError, printable
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.options.times import iso_text
from kafkalog_source.partition.time_offsets import offset_at_time
from kafkalog_source.planning.ranges import Ranges
from kafkalog_source.reporting.damage_modes import goes_on_behind_damage
from kafkalog_source.segment.damage.description import Kind, raise_damage

if TYPE_CHECKING:
    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.logdir.absent import RemotePart
    from kafkalog_source.options.limits import OffsetLimit
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.offsets import PartitionOffsets
    from kafkalog_source.segment.damage.description import Damage

_EARLIEST, _LATEST = -2, -1
_ANY_TIME = -(2**63)


class OffsetRanges(Ranges):
    """Computes the range of each partition by the options of a read."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._warnings: list[str] = []
        self._without_high_watermark: list[str] = []

    @property
    def warnings(self) -> list[str]:
        """The warnings so far, with one sentence for all partitions without a high watermark."""
        if not self._without_high_watermark:
            return self._warnings
        names = _list(self._without_high_watermark)
        return [*self._warnings, f"the high watermark of {names} is unknown: records above it are read too"]

    def check_named(self, partitions: set[tuple[str, int]]) -> None:
        """Refuse offsets or timestamps that do not name exactly the partitions to read, as Spark's source does."""
        for limit in (self._options.starting_limit, self._options.ending_limit):
            named = limit.offsets if limit.offsets is not None else limit.timestamps_ms
            if named is None:
                continue
            given = {(topic, partition) for topic, places in named.items() for partition in places}
            if given != partitions:
                raise OptionError(
                    f"{limit.option} has to name every partition that is read and no other",
                    found=_names(given),
                    expected=_names(partitions),
                    remedy="Use -2 for earliest and -1 for latest, or choose the partitions with assign",
                )

    def range_of(self, offsets: PartitionOffsets) -> tuple[int, int]:
        """The wanted offsets [low, high); `high` is `MAX_OFFSET` if all up to the end of the log are wanted."""
        self._check_log_start(offsets)
        visible_end = self._read_up_to(offsets.log)
        high = min(self._end(offsets), visible_end)
        low = self._start(offsets, high, visible_end)
        remote = offsets.remote
        if remote is not None and self._first_wanted(offsets, low) <= remote.last_offset and high > remote.first_offset:
            self._check_remote(offsets, remote)
        return low, high

    def up_to_stable(self, offsets: PartitionOffsets, low: int, high: int, stable: int) -> tuple[int, int]:
        """The range [low, high) up to the last stable offset, below which a starting timestamp must be found."""
        if stable <= low < high and _timestamp(self._starting(offsets.log), offsets.log) is not None:
            self._check_time_may_be_missing(offsets.log)
        return low, stable

    def _check_time_may_be_missing(self, log: PartitionLog) -> None:
        if self._options.starting_offsets_by_timestamp_strategy == "error":
            limit = self._starting(log)
            raise OptionError(
                f"no record of {_name(log)} is at or after the time of {limit.option}",
                found=iso_text(_timestamp(limit, log) or 0),
                remedy="Choose an earlier time, or set startingOffsetsByTimestampStrategy=latest",
            )

    def _starting(self, log: PartitionLog) -> OffsetLimit:
        return self._options.limits(log.topic, log.partition)[0]

    def _ending(self, log: PartitionLog) -> OffsetLimit:
        return self._options.limits(log.topic, log.partition)[1]

    def _start(self, offsets: PartitionOffsets, high: int, visible_end: int) -> int:
        limit = self._starting(offsets.log)
        timestamp = _timestamp(limit, offsets.log)
        if timestamp is not None:
            found = offset_at_time(offsets, timestamp, self._options, self._on_damage)
            if found is not None and found < visible_end:
                return max(found, offsets.earliest)
            self._check_time_may_be_missing(offsets.log)
            return high
        wanted = _offset(limit, offsets.log)
        if wanted is None or wanted == _EARLIEST:
            return offsets.earliest
        if _is_lost(offsets, wanted):
            self._data_loss(limit, offsets, wanted)
            if offsets.log.is_cut:
                # Everything up to the cut is valid, so there is no row after it, and all that was cut off is reported.
                return max(offsets.earliest, min(wanted, offsets.latest))
        # Not limited to the end of the log: rows below the start are not wanted even if the log ends before it.
        return max(wanted, offsets.earliest)

    def _end(self, offsets: PartitionOffsets) -> int:
        limit = self._ending(offsets.log)
        timestamp = _timestamp(limit, offsets.log)
        if timestamp is not None:
            found = offset_at_time(offsets, timestamp, self._options, self._on_damage)
            return MAX_OFFSET if found is None else found
        wanted = _offset(limit, offsets.log)
        if wanted is None or wanted == _LATEST:
            return MAX_OFFSET
        if _is_lost(offsets, wanted):
            self._data_loss(limit, offsets, wanted)
        return wanted

    def _first_wanted(self, offsets: PartitionOffsets, low: int) -> int:
        """The first wanted offset, which may be below all offsets on disk."""
        limit = self._starting(offsets.log)
        if _timestamp(limit, offsets.log) is not None:
            # If a local record is older than the timestamp, records before it are assumed to be older too.
            return low if low > self._first_with_time(offsets) else 0
        wanted = _offset(limit, offsets.log)
        return 0 if wanted is None or wanted == _EARLIEST else wanted

    def _first_with_time(self, offsets: PartitionOffsets) -> int:
        found = offset_at_time(offsets, _ANY_TIME, self._options, self._on_damage)
        return offsets.earliest if found is None else found

    def _check_remote(self, offsets: PartitionOffsets, remote: RemotePart) -> None:
        """Refuse offsets that a broker would read from remote storage, or warn of them."""
        local = offsets.earliest
        problem = remote.text
        limit = self._starting(offsets.log)
        if _timestamp(limit, offsets.log) is not None:
            problem += f", and may hold records at or after the time of {limit.option}"
        error = DataLossError(
            f"{problem}; reading remote storage is not supported yet",
            file=offsets.log.path,
            found=f"{local} as the first offset on disk",
            remedy=f"Set startingOffsets of this partition to {local} or above, "
            "or set failOnDataLoss=false to read what is on disk",
        )
        if self._options.fail_on_data_loss and remote.is_expected:
            raise error
        self._warnings.append(error.without_remedy())

    def _read_up_to(self, log: PartitionLog) -> int:
        """The offset at which readUpTo ends every range: the high watermark, if it is chosen and known."""
        if self._options.read_up_to != "highWatermark":
            return MAX_OFFSET
        if log.high_watermark is None:
            self._without_high_watermark.append(_name(log))
            return MAX_OFFSET
        return log.high_watermark

    def _check_log_start(self, offsets: PartitionOffsets) -> None:
        """Warn of a log start offset after the end of the log, of which nothing is read then."""
        log = offsets.log
        start = log.log_start_offset
        if start is None or self._options.include_deleted or start <= log.segments[-1].base_offset:
            return
        if not offsets.is_within_end(start):
            self._warnings.append(
                f"{printable(log.path)}: the log start offset is {start}, but the log ends at {offsets.end}: all of it "
                "is deleted, or its last segment is missing; includeDeleted=true reads what is on disk"
            )

    def _on_damage(self, damage: Damage) -> None:
        """Handle damage in the batches that are searched for a timestamp: warn of it if the mode tolerates it."""
        if not goes_on_behind_damage(self._options):
            raise_damage(damage)
            return
        warning = f"{damage.to_text()}; records at or after the wanted timestamp may be lost there"
        # The searches for the start and for the end of the range may both find it.
        if damage.kind is not Kind.TORN and warning not in self._warnings:
            self._warnings.append(warning)

    def _data_loss(self, limit: OffsetLimit, offsets: PartitionOffsets, wanted: int) -> None:
        is_deleted = offsets.log.segments[0].base_offset <= wanted < offsets.earliest
        what = "below the log start offset, and so deleted" if is_deleted else "not on disk"
        if not is_deleted and wanted < offsets.earliest and offsets.remote is not None:
            what += f", and {offsets.remote.text}"
        choices = ["Choose offsets in that range", "set failOnDataLoss=false to read what is on disk"]
        if is_deleted:
            choices.insert(1, "set includeDeleted=true")
        error = DataLossError(
            f"{limit.option} names an offset of {_name(offsets.log)} that is {what}",
            file=offsets.log.path,
            found=wanted,
            expected=f"{offsets.earliest} to {offsets.latest}",
            remedy=", or ".join(choices),
        )
        if self._options.fail_on_data_loss:
            raise error
        self._warnings.append(error.without_remedy())


def _is_lost(offsets: PartitionOffsets, wanted: int) -> bool:
    """Whether an offset is not on disk and no check of the whole range reports its absence."""
    if wanted < offsets.earliest:
        remote = offsets.remote
        return remote is None or not remote.is_expected or wanted < remote.first_offset
    return not offsets.reaches(wanted)


def _timestamp(limit: OffsetLimit, log: PartitionLog) -> int | None:
    if limit.timestamps_ms is not None and log.topic is not None and log.partition is not None:
        return limit.timestamps_ms[log.topic][log.partition]
    return limit.timestamp_ms


def _offset(limit: OffsetLimit, log: PartitionLog) -> int | None:
    """The offset that an option names; None for a keyword, which is the default for its end of the range."""
    if limit.offset is not None:
        return limit.offset
    if limit.offsets is None or log.topic is None or log.partition is None:
        return None
    return limit.offsets[log.topic][log.partition]


def _name(log: PartitionLog) -> str:
    return printable(log.path) if log.topic is None else f"{log.topic}-{log.partition}"


def _names(partitions: set[tuple[str, int]]) -> str:
    return _list([f"{topic}-{partition}" for topic, partition in sorted(partitions)])


def _list(names: list[str]) -> str:
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "") if names else "none"
