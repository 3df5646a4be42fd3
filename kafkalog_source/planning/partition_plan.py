"""The plan of one partition, in stages from the listed segments to the ranges that are read.

The stages are: recovered (mode=RECOVER), limited to the wanted offsets, stopped at
the last stable offset (read_committed), traced to the end of the log, and cut into
ranges. Each stage takes a plan and returns the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_source.partition.gaps07 import gaps_07
from kafkalog_source.partition.moved_files import check_inode
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.partition.recovery import known_of, range_of_region, recover
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

__all__ = ["PartitionPlan", "cut", "left_out", "limited", "missing_07", "recovered", "stopped", "traced"]


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """The plan of one partition after some of the stages.

    Attributes
    ----------
    offsets : PartitionOffsets
        The partition; with mode=RECOVER as recovery leaves it.
    recovered : Recovered or None
        The result of recovery, with mode=RECOVER.
    low, high : int
        The offsets [low, high) are read.
    history : PartitionHistory or None
        The outcomes of transactions, if they decide what is read (read_committed).
    origin : Origin or None
        The identity of the log, by which tasks detect that it has changed since.
    """

    offsets: PartitionOffsets
    recovered: Recovered | None = None
    low: int = 0
    high: int = 0
    history: PartitionHistory | None = None
    origin: Origin | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes read for the stages before `cut`."""
        found = self.offsets.bytes_read
        found += 0 if self.recovered is None else self.recovered.bytes_read
        return found + (0 if self.history is None else self.history.bytes_read)


def recovered(log: PartitionLog, options: ReadOptions) -> PartitionPlan:
    """The first stage: a listed partition; with mode=RECOVER what a broker's recovery leaves of it."""
    if options.mode != "RECOVER":
        return PartitionPlan(PartitionOffsets(log, options.include_deleted))
    found = recover(log, options)
    return PartitionPlan(PartitionOffsets(found.log, options.include_deleted), found)


def limited(plan: PartitionPlan, ranges: Ranges) -> PartitionPlan:
    """The plan limited to the wanted offsets."""
    low, high = ranges.range_of(plan.offsets)
    return replace(plan, low=low, high=high)


def stopped(plan: PartitionPlan, ranges: Ranges, options: ReadOptions) -> PartitionPlan:
    """The plan stopped at the last stable offset, with read_committed."""
    offsets, low, high = plan.offsets, plan.low, plan.high
    if options.isolation_level != "read_committed" or offsets.log.segments[0].is_07:
        return plan
    followed = from_headers(offsets, options, high, low, ranges.known_transactions(offsets, low))
    low, high = ranges.up_to_stable(offsets, low, high, followed.last_stable_offset)
    return replace(plan, low=low, high=high, history=followed.history)


def traced(plan: PartitionPlan) -> PartitionPlan:
    """The plan with the origin that tasks need to find its offsets again if files have changed."""
    return replace(plan, origin=plan.offsets.origin(plan.high)) if plan.low < plan.high else plan


def cut(plan: PartitionPlan, target: int, options: ReadOptions, report: Report) -> Iterator[SplitRange]:
    """Yield ranges of about `target` bytes, none with more records than maxRecordsPerPartition."""
    for place, whole in _segment_ranges(plan):
        for each in _cut_by_bytes(whole, place, target, report):
            yield from _cut_by_records(each, options, report)


def left_out(plan: PartitionPlan) -> list[tuple[SplitRange, Damage]]:
    """What recovery removes of the wanted offsets, so that it is reported once."""
    return [] if plan.recovered is None else known_of(plan.recovered, plan.low, plan.high)


def missing_07(plan: PartitionPlan, options: ReadOptions, report: Report) -> list[tuple[SplitRange, Damage]]:
    """The gaps in a Kafka 0.7 log as rows of view=damage; in other views they end the read or are warnings."""
    log, low, high = plan.offsets.log, plan.low, plan.high
    found = []
    for gap in gaps_07(log, low, high):
        if options.view == "damage":
            found.append((range_of_region(log, gap.region, low, high), gap.region))
        elif options.fail_on_data_loss and gap.error is not None:
            raise gap.error
        else:
            report.missing.append(gap.region)
            report.warnings.append(gap.warning)
    return found


def _segment_ranges(plan: PartitionPlan) -> Iterator[tuple[SegmentPlace, SplitRange]]:
    """The segments with wanted offsets, each with the range that reads all of them."""
    log, low, high = plan.offsets.log, plan.low, plan.high
    if low >= high:
        return
    for number, (segment, place) in enumerate(zip(log.segments, plan.offsets.places(), strict=True)):
        # An empty segment holds no rows; but if another segment follows, it is a gap that has to be reported.
        to_read = segment.size > 0 or segment is not log.segments[-1]
        if place.bound > low and place.least < high and to_read:
            history = None if plan.history is None else plan.history.of_segment(number)
            yield place, segment_range(log, number, place, (low, high), history, plan.origin)


def _cut_by_bytes(whole: SplitRange, place: SegmentPlace, target: int, report: Report) -> Iterator[SplitRange]:
    if whole.low <= place.least and whole.file_size <= target:
        # The common case, a small segment that is read whole, does not even open the file.
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
    """The positions to cut at, up to the first one with only offsets of at least `high` after it."""
    for each in seeker.cuts(start, end, target):
        yield each
        if each.least >= high:
            return


def _pieces(whole: SplitRange, start: int, cuts: list[Cut]) -> Iterator[SplitRange]:
    """`whole` from position `start` on, in pieces that are contiguous."""
    least = whole.span.least
    for each in cuts:
        # A v0 or v1 wrapper at the cut has only its last offset in the header; its records belong to the next piece.
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
