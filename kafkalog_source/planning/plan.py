"""Plans a read: chooses partitions and offsets by its options, then cuts and packs them into splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.columns import FILE_VIEWS, VIEWS
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir import list_logs
from kafkalog_source.logdir.absent import absent_segments
from kafkalog_source.logdir.given_log_dirs import given_log_dirs
from kafkalog_source.partition.gaps07 import check_07
from kafkalog_source.partition.moved_files import until_files_stay
from kafkalog_source.partition.splits import Split, pack
from kafkalog_source.planning.metadata_snapshots import snapshot_ranges
from kafkalog_source.planning.missing_topics import not_found
from kafkalog_source.planning.offset_range import OffsetRanges
from kafkalog_source.planning.partition_plan import cut, left_out, limited, missing_07, recovered, stopped, traced
from kafkalog_source.reporting.report import Report
from kafkalog_source.views.plan import plan_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source.logdir import Listing, PartitionLog
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.planning.partition_plan import PartitionPlan
    from kafkalog_source.planning.ranges import Ranges


@dataclass(frozen=True, slots=True)
class Plan:
    """The splits of a read, and a report of what was chosen and left out.

    Attributes
    ----------
    splits : list of Split
    report : Report
    partitions : sequence of PartitionPlan
        Those that are read, with their wanted offsets; empty for views of files.
    """

    splits: list[Split]
    report: Report
    partitions: Sequence[PartitionPlan] = ()


def plan_read(options: ReadOptions, piece_bytes: int | None = None) -> Plan:
    """Plan a read.

    Parameters
    ----------
    options : ReadOptions
    piece_bytes : int, optional
        Size in bytes at which to cut, if it is smaller than maxPartitionBytes.

    Raises
    ------
    LogDirError, OptionError, DataLossError
        If a path, partition or offset that the options name does not exist.
    """
    return until_files_stay(lambda: _plan(options, piece_bytes), options.paths)


def _plan(options: ReadOptions, piece_bytes: int | None) -> Plan:
    report = Report(times=options.times)
    listing = list_logs(options.paths, wanted=options.wants, follow_symlinks=options.follow_symlinks)
    report.warnings += listing.warnings
    report.skipped += [(each.path, each.reason) for each in listing.skipped]
    report.warnings += [f"option {name} has no effect in a batch query" for name in options.trigger_bounds]
    report.warnings += filter(None, map(absent_segments, listing.partitions))
    check_found(options, listing, report)
    if options.view in FILE_VIEWS:
        splits = plan_files(options, listing)
        _fill(report, (), listing.partitions, splits)
        return Plan(splits, report)
    partitions = read_by_view(options, listing.partitions)
    logs = [log for log in partitions if log.segments]
    report.without_segments = len(partitions) - len(logs)
    plan = plan_ranges(options, logs, OffsetRanges(options), report, piece_bytes)
    if options.view == "cluster_metadata":
        plan.splits.extend(_snapshots(options, partitions))
        report.splits = len(plan.splits)
    return plan


def read_by_view(options: ReadOptions, partitions: tuple[PartitionLog, ...]) -> tuple[PartitionLog, ...]:
    """Without those of other topics, given by their own paths, where the view decodes one topic."""
    own = VIEWS[options.view].topic
    return partitions if own is None else tuple(log for log in partitions if log.topic in (own, None))


def _snapshots(options: ReadOptions, partitions: Sequence[PartitionLog]) -> list[Split]:
    log_dirs = given_log_dirs(options.paths, options.follow_symlinks)
    ranges = snapshot_ranges(log_dirs, [log.path for log in partitions if not log.is_single_file])
    return pack(ranges, options.max_partition_bytes, options.open_cost_in_bytes)


def plan_ranges(
    options: ReadOptions, logs: Sequence[PartitionLog], ranges: Ranges, report: Report, piece_bytes: int | None = None
) -> Plan:
    """Plan the wanted ranges of some partitions.

    Parameters
    ----------
    options : ReadOptions
    logs : sequence of PartitionLog
        Each with at least one segment.
    ranges : Ranges
    report : Report
        Receives counts and warnings.
    piece_bytes : int, optional
        As for `plan_read`.
    """
    ranges.check_named({(log.topic, log.partition) for log in logs if log.topic is not None})  # type: ignore[misc]
    plans = [limited(recovered(log, options), ranges) for log in logs]
    report.warnings += ranges.warnings
    for each in plans:
        check_07(each.offsets.log, options)
    missing = [region for each in plans for region in missing_07(each, options, report)]
    plans = [traced(stopped(each, ranges, options)) for each in plans]
    splits = _split_up(plans, options, report, min(options.max_partition_bytes, piece_bytes or MAX_OFFSET))
    if missing:
        splits.append(Split((), tuple(missing)))
    _fill(report, plans, logs, splits)
    return Plan(splits, report, plans)


def _split_up(plans: Sequence[PartitionPlan], options: ReadOptions, report: Report, target: int) -> list[Split]:
    """Cut and pack the partitions, into smaller pieces until there are at least minPartitions splits."""
    splits = _splits(plans, options, report, target, options.open_cost_in_bytes)
    wanted = options.min_partitions or 0
    target = min(target, max(1, sum(each.size for each in splits) // max(1, wanted)))
    while len(splits) < wanted:
        splits = _splits(plans, options, report, target, 0)
        if target == 1:
            break
        target //= 2
    return splits


def _splits(
    plans: Sequence[PartitionPlan], options: ReadOptions, report: Report, target: int, open_cost: int
) -> list[Split]:
    """Splits of about `target` bytes; what recovery removes is reported by a split without ranges."""
    ranges = [each for plan in plans for each in cut(plan, target, options, report)]
    known = tuple(each for plan in plans for each in left_out(plan))
    packed = pack(ranges, target, open_cost, options.max_records_per_partition)
    return [*packed, Split((), known)] if known else packed


def _fill(report: Report, plans: Sequence[PartitionPlan], logs: Sequence[PartitionLog], splits: list[Split]) -> None:
    """Add the counts of what was chosen to the report."""
    report.splits = len(splits)
    report.topics = len({log.topic for log in logs})
    report.partitions = len(logs)
    report.segments = sum(len(log.segments) for log in logs)
    report.bytes_total = sum(each.size for log in logs for each in log.segments)
    report.bytes_read += sum(each.bytes_read for each in plans)
    for history in filter(None, (each.history for each in plans)):
        report.warnings += history.warnings


def check_found(options: ReadOptions, listing: Listing, report: Report) -> None:
    """Raise or warn if a topic or partition that the options name does not exist."""
    error = not_found(options, listing)
    if error is None:
        return
    if options.fail_on_data_loss:
        raise error
    report.warnings.append(str(error))
