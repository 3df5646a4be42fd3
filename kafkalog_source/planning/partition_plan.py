"""One partition on its way from what was listed to the ranges that are read, stage by stage.

Recovered (mode=RECOVER), limited to the offsets that are wanted, stopped at the
last stable offset (read_committed), traced to where the log ends, and cut into
ranges. Each stage takes a plan and gives the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_source.partition.moved_files import check_inode
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.partition.recovery import known_of, recover
from kafkalog_source.partition.segment_range import segment_range
from kafkalog_source.partition.splits import TransactionHistory
from kafkalog_source.planning.record_limit import is_damaged, limit_records
from kafkalog_source.reporting.damage_modes import goes_on_behind_damage
from kafkalog_source.segment.opening import open_seeker
from kafkalog_source.transactions.history import from_headers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.recovery import Recovered
    from kafkalog_source.partition.splits import Origin, SplitRange
    from kafkalog_source.planning.ranges import Ranges
    from kafkalog_source.reporting.report import Report
    from kafkalog_source.segment.damage.description import Damage
    from kafkalog_source.segment.seek import Cut, Seeker, SegmentPlace
    from kafkalog_source.transactions.history import PartitionHistory

__all__ = ["PartitionPlan", "cut", "left_out", "limited", "recovered", "stopped", "traced"]


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """What is wanted of one partition, as far as the stages so far have decided.

    Attributes
    ----------
    offsets : PartitionOffsets
        The partition, as recovery leaves it where only that is read.
    recovered : Recovered or None
        What recovery takes away.
    low, high : int
        The offsets [low, high) are read.
    history : PartitionHistory or None
        What became of the transactions, where that decides what is read.
    origin : Origin or None
        What tells tasks whether the log still is the one that was planned.
    """

    offsets: PartitionOffsets
    recovered: Recovered | None = None
    low: int = 0
    high: int = 0
    history: PartitionHistory | None = None
    origin: Origin | None = None

    @property
    def bytes_read(self) -> int:
        """What was read to plan this, but for cutting."""
        found = self.offsets.bytes_read
        found += 0 if self.recovered is None else self.recovered.bytes_read
        return found + (0 if self.history is None else self.history.bytes_read)


def recovered(log: PartitionLog, options: ReadOptions) -> PartitionPlan:
    """A partition that was listed; with mode=RECOVER what a broker's recovery leaves of it."""
    if options.mode != "RECOVER":
        return PartitionPlan(PartitionOffsets(log, options.include_deleted))
    found = recover(log, options)
    return PartitionPlan(PartitionOffsets(found.log, options.include_deleted), found)


def limited(plan: PartitionPlan, ranges: Ranges) -> PartitionPlan:
    """Limited to the offsets that are wanted."""
    low, high = ranges.range_of(plan.offsets)
    return replace(plan, low=low, high=high)


def stopped(plan: PartitionPlan, ranges: Ranges, options: ReadOptions) -> PartitionPlan:
    """With read_committed, stopped at the last stable offset."""
    offsets, low, high = plan.offsets, plan.low, plan.high
    if options.isolation_level != "read_committed" or offsets.log.segments[0].is_07:
        return plan
    followed = from_headers(offsets, options, high, low, ranges.known_transactions(offsets, low))
    low, high = ranges.up_to_stable(offsets, low, high, followed.last_stable_offset)
    return replace(plan, low=low, high=high, history=followed.history)


def traced(plan: PartitionPlan) -> PartitionPlan:
    """With what tasks need to find the offsets again when files have changed."""
    return replace(plan, origin=plan.offsets.origin(plan.high)) if plan.low < plan.high else plan


def cut(plan: PartitionPlan, target: int, options: ReadOptions, report: Report) -> Iterator[SplitRange]:
    """Ranges of about `target` bytes, none with more records than maxRecordsPerPartition."""
    for place, whole in _segment_ranges(plan):
        for each in _cut_by_bytes(whole, place, target, report):
            yield from _cut_by_records(each, options, report)


def left_out(plan: PartitionPlan) -> list[tuple[SplitRange, Damage]]:
    """What recovery takes away of the offsets that are wanted, so that it is reported once."""
    return [] if plan.recovered is None else known_of(plan.recovered, plan.low, plan.high)


def _segment_ranges(plan: PartitionPlan) -> Iterator[tuple[SegmentPlace, SplitRange]]:
    """The segments that hold offsets which are wanted, each with the range that reads all of it."""
    log, low, high = plan.offsets.log, plan.low, plan.high
    if low >= high:
        return
    for number, (segment, place) in enumerate(zip(log.segments, plan.offsets.places(), strict=True)):
        # An empty segment holds no rows, but before another one it is a gap.
        to_read = segment.size > 0 or segment is not log.segments[-1]
        if place.bound > low and place.least < high and to_read:
            history = None if plan.history is None else plan.history.of_segment(number)
            yield place, segment_range(log, number, place, (low, high), history, plan.origin)


def _cut_by_bytes(whole: SplitRange, place: SegmentPlace, target: int, report: Report) -> Iterator[SplitRange]:
    if whole.low <= place.least and whole.file_size <= target:
        # The common case, a segment that is read as a whole, costs not even an open file.
        yield whole
        return
    with open_seeker(place) as seeker:
        check_inode(seeker.source, whole.inode)
        # The file may have grown since it was listed.
        start = min(seeker.start_of(whole.low), whole.file_size) if whole.low > place.least else 0
        cuts = list(_cuts_below(seeker, start, whole.file_size, target, whole.high))
        report.bytes_read += seeker.bytes_read
    known = whole.transactions
    for piece in _pieces(whole, start, cuts):
        if isinstance(known, TransactionHistory):
            yield replace(piece, transactions=known.within(piece.span.least, piece.span.bound))
        else:
            yield piece


def _cuts_below(seeker: Seeker, start: int, end: int, target: int, high: int) -> Iterator[Cut]:
    """The places to cut at, up to the first from which on all offsets are `high` or more, where nothing is wanted."""
    for each in seeker.cuts(start, end, target):
        yield each
        if each.least >= high:
            return


def _pieces(whole: SplitRange, start: int, cuts: list[Cut]) -> Iterator[SplitRange]:
    """`whole` from position `start` on, in pieces that end where the next one begins."""
    least = whole.span.least
    for each in cuts:
        # A v0 or v1 wrapper at the cut tells its last offset only: what it holds is the next piece's.
        span = replace(whole.span, start=start, end=each.position, least=least, bound=each.least, to_file_end=False)
        yield replace(whole, span=span, continuation=None)
        start, least = each.position, each.least
    if not cuts or cuts[-1].least < whole.high:
        yield replace(whole, span=replace(whole.span, start=start, least=least))


def _cut_by_records(each: SplitRange, options: ReadOptions, report: Report) -> Iterator[SplitRange]:
    most = options.max_records_per_partition
    if most is None:
        return iter([each])
    if goes_on_behind_damage(options):
        damaged, bytes_read = is_damaged(each, options.max_decompressed_batch_bytes)
        report.bytes_read += bytes_read
        if damaged:
            return iter([each])
    return limit_records(each, most, options)
