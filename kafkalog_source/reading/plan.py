"""From options to splits: which partitions, which offsets of each, cut and packed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_source.logdir import list_logs
from kafkalog_source.reading.damage_modes import goes_on_behind_damage
from kafkalog_source.reading.gaps import continuation_of
from kafkalog_source.reading.gaps07 import check_07
from kafkalog_source.reading.live import check_inode, until_files_stay
from kafkalog_source.reading.named import not_found
from kafkalog_source.reading.offset_range import OffsetRanges
from kafkalog_source.reading.partition_offsets import PartitionOffsets
from kafkalog_source.reading.record_limit import is_damaged, limit_records
from kafkalog_source.reading.recovery import known_of, recover
from kafkalog_source.reading.report import Report
from kafkalog_source.reading.splits import Split, SplitRange, TransactionHistory, TransactionsAhead, pack
from kafkalog_source.reading.transactions import PartitionTransactions
from kafkalog_source.segment.opening import open_seeker
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_source.logdir import Listing, PartitionLog, SegmentFile
    from kafkalog_source.reading.options import ReadOptions
    from kafkalog_source.reading.ranges import Ranges
    from kafkalog_source.segment.seek import Cut, Seeker, SegmentPlace


@dataclass(frozen=True, slots=True)
class Plan:
    """The splits of a read, and the report of what was chosen and left out."""

    splits: list[Split]
    report: Report


def plan_read(options: ReadOptions, piece_bytes: int | None = None) -> Plan:
    """Decide what to read.

    Parameters
    ----------
    options : ReadOptions
    piece_bytes : int, optional
        Cut finer than maxPartitionBytes says, at about this many bytes.

    Raises
    ------
    LogDirError, OptionError, DataLossError
        A path, partition or offset asked for is not there.
    """
    return until_files_stay(lambda: _plan(options, piece_bytes), options.paths)


def _plan(options: ReadOptions, piece_bytes: int | None) -> Plan:
    report = Report()
    listing = list_logs(options.paths, wanted=options.wants, follow_symlinks=options.follow_symlinks)
    report.warnings += listing.warnings
    report.skipped += [(each.path, each.reason) for each in listing.skipped]
    report.warnings += [f"option {name} has no effect in a batch query" for name in options.trigger_bounds]
    check_found(options, listing, report)
    logs = [log for log in listing.partitions if log.segments]
    return plan_ranges(options, logs, OffsetRanges(options), report, piece_bytes)


def plan_ranges(
    options: ReadOptions, logs: Sequence[PartitionLog], ranges: Ranges, report: Report, piece_bytes: int | None = None
) -> Plan:
    """Cut and pack what is wanted of some partitions.

    Parameters
    ----------
    options : ReadOptions
    logs : sequence of PartitionLog
        Each with at least one segment.
    ranges : Ranges
    report : Report
        Takes what is chosen and noticed.
    piece_bytes : int, optional
        As for `plan_read`.
    """
    chosen = _Chosen(options, logs, ranges, report)
    target = min(options.max_partition_bytes, piece_bytes or options.max_partition_bytes)
    splits = chosen.splits(target, options.open_cost_in_bytes)
    wanted = options.min_partitions or 0
    target = min(target, max(1, sum(each.size for each in splits) // max(1, wanted)))
    while len(splits) < wanted:
        splits = chosen.splits(target, 0)
        if target == 1:
            break
        target //= 2
    chosen.fill(report, len(splits))
    return Plan(splits, report)


def check_found(options: ReadOptions, listing: Listing, report: Report) -> None:
    """Every topic and partition asked for by name has to be there."""
    error = not_found(options, listing)
    if error is None:
        return
    if options.fail_on_data_loss:
        raise error
    report.warnings.append(str(error))


class _Chosen:
    """The partitions of a read with the offsets wanted of each."""

    def __init__(self, options: ReadOptions, found: Sequence[PartitionLog], ranges: Ranges, report: Report) -> None:
        self._options = options
        self._bytes_total = sum(each.size for log in found for each in log.segments)
        self._segments = sum(len(log.segments) for log in found)
        self._recovered = [recover(log, options) for log in found] if options.mode == "RECOVER" else []
        self._logs = [each.log for each in self._recovered] or list(found)
        self._bytes_read = sum(each.bytes_read for each in self._recovered)
        ranges.check_named({(log.topic, log.partition) for log in self._logs if log.topic is not None})  # type: ignore[misc]
        self._offsets = [PartitionOffsets(log, options.include_deleted) for log in self._logs]
        self._limits = [ranges.range_of(offsets) for offsets in self._offsets]
        report.warnings += ranges.warnings
        for log, (low, high) in zip(self._logs, self._limits, strict=True):
            report.warnings += check_07(log, low, high, options)
        self._transactions: list[PartitionTransactions | None] = [None] * len(self._logs)
        if options.isolation_level == "read_committed":
            self._stop_at_open_transactions(ranges)

    def splits(self, target: int, open_cost: int) -> list[Split]:
        """Splits of about `target` bytes."""
        most = self._options.max_records_per_partition
        ranges = [
            each
            for offsets, transactions, (low, high) in zip(self._offsets, self._transactions, self._limits, strict=True)
            for each in self._ranges(offsets, transactions, low, high, target)
        ]
        if most is not None:
            ranges = [piece for each in ranges for piece in self._limited(each, most)]
        return [*pack(ranges, target, open_cost, most), *self._left_out()]

    def _left_out(self) -> Iterator[Split]:
        """What recovery takes away, as a split without ranges, so that it is told once."""
        known = [
            each
            for recovered, limits in zip(self._recovered, self._limits if self._recovered else (), strict=True)
            for each in known_of(recovered, *limits)
        ]
        if known:
            yield Split((), tuple(known))

    def _limited(self, each: SplitRange, most: int) -> Iterator[SplitRange]:
        if goes_on_behind_damage(self._options):
            damaged, bytes_read = is_damaged(each, self._options.max_decompressed_batch_bytes)
            self._bytes_read += bytes_read
            if damaged:
                return iter([each])
        return limit_records(each, most, self._options)

    def fill(self, report: Report, splits: int) -> None:
        """Write what was chosen into the report."""
        report.splits = splits
        report.topics = len({log.topic for log in self._logs})
        report.partitions = len(self._logs)
        report.segments = self._segments
        report.bytes_total = self._bytes_total
        report.bytes_read += self._bytes_read + sum(each.bytes_read for each in self._offsets)
        for transactions in filter(None, self._transactions):
            report.bytes_read += transactions.bytes_read
            report.warnings += transactions.warnings

    def _stop_at_open_transactions(self, ranges: Ranges) -> None:
        """Lower the end of each partition to its last stable offset."""
        for number, (offsets, (low, high)) in enumerate(zip(self._offsets, self._limits, strict=True)):
            if offsets.log.segments[0].is_07:
                continue
            known = ranges.known_transactions(offsets, low)
            transactions = self._transactions[number] = PartitionTransactions(offsets, self._options, known)
            stable = transactions.last_stable_offset(high, low)
            self._limits[number] = ranges.up_to_stable(offsets, low, high, stable)

    def _ranges(
        self,
        offsets: PartitionOffsets,
        transactions: PartitionTransactions | None,
        low: int,
        high: int,
        target: int,
    ) -> Iterator[SplitRange]:
        segments = offsets.log.segments
        for number, (segment, place) in enumerate(zip(segments, offsets.places(), strict=True)):
            # An empty segment holds no rows, but before another one it is a gap.
            to_read = segment.size > 0 or segment is not segments[-1]
            if low < high and place.bound > low and place.least < high and to_read:
                history = None if transactions is None else transactions.of_segment(number)
                yield from self._cut(offsets.log, number, place, low, high, target, history)

    def _cut(
        self,
        log: PartitionLog,
        number: int,
        place: SegmentPlace,
        low: int,
        high: int,
        target: int,
        history: TransactionHistory | None,
    ) -> Iterator[SplitRange]:
        segment = log.segments[number]
        base_07 = segment.base_offset if segment.is_07 else None
        span = Span(0, segment.size, place.least, place.bound, high, True, segment is log.segments[-1], base_07)
        known = _ahead(log, segment, place) if history is None else history.within(max(low, place.least), high)
        whole = SplitRange(
            segment.path,
            log.topic,
            log.partition,
            span,
            low,
            high,
            segment.size,
            segment.inode,
            known,
            continuation_of(log, number, high),
        )
        if low <= place.least and segment.size <= target:
            # The common case, a segment that is read as a whole, costs not even an open file.
            yield whole
            return
        with open_seeker(place) as seeker:
            check_inode(seeker.source, segment.inode)
            # The file may have grown since it was listed.
            start = min(seeker.start_of(low), segment.size) if low > place.least else 0
            cuts = list(_cuts_below(seeker, start, segment.size, target, high))
            self._bytes_read += seeker.bytes_read
        for piece in _pieces(whole, start, cuts):
            if isinstance(known, TransactionHistory):
                yield replace(piece, transactions=known.within(piece.span.least, piece.span.bound))
            else:
                yield piece


def _ahead(log: PartitionLog, segment: SegmentFile, place: SegmentPlace) -> TransactionsAhead | None:
    if segment.is_07:
        return None
    last = log.segments[-1]
    indexed = segment.txn_index is not None
    return TransactionsAhead(place.least, place.bound, indexed, last.base_offset, last.size, log.lone, log.is_cut)


def _cuts_below(seeker: Seeker, start: int, end: int, target: int, high: int) -> Iterator[Cut]:
    """The places to cut at, up to the first from which on all offsets are `high` or more, where nothing is wanted."""
    for cut in seeker.cuts(start, end, target):
        yield cut
        if cut.least >= high:
            return


def _pieces(whole: SplitRange, start: int, cuts: list[Cut]) -> Iterator[SplitRange]:
    """`whole` from position `start` on, in pieces that end where the next one begins."""
    least = whole.span.least
    for cut in cuts:
        span = replace(whole.span, start=start, end=cut.position, least=least, bound=cut.below, to_file_end=False)
        yield replace(whole, span=span, continuation=None)
        start, least = cut.position, cut.least
    if not cuts or cuts[-1].least < whole.high:
        yield replace(whole, span=replace(whole.span, start=start, least=least))
