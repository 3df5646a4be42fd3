"""How many rows a read has, from the headers of batches where they tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from kafkalog_source.columns import CORRUPT_RECORD
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading.rows import read_rows

if TYPE_CHECKING:
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.planning.plan import Plan

__all__ = ["count_by_headers", "countable_columns"]


def count_by_headers(options: ReadOptions) -> int | None:
    """Count the records of a read by the headers of batches, of which no payload is read.

    Returns
    -------
    int or None
        None if headers do not tell: in other views, if only committed records, offsets inside of the log or what
        damage leaves are wanted, and if records of format 0 or 1 are compressed.

    Raises
    ------
    KafkaLogError
        As a read of the headers does. Checksums are not compared.
    """
    if options.view != "records" or options.mode != "FAILFAST" or options.isolation_level != "read_uncommitted":
        return None
    as_batches = replace(options, view="batches", verify_checksums=False, max_records_per_partition=None)
    plan = plan_read(as_batches)
    if not _reads_whole_logs(plan):
        return None
    count = 0
    for batch in read_rows(plan, as_batches, ("recordCount", "isControl"), 1, lambda split: None):
        counts, is_control = batch.columns
        if counts.null_count:
            return None
        wanted = counts if options.include_control_records else counts.filter(pc.invert(is_control.fill_null(False)))
        count += pc.sum(wanted, min_count=0).as_py()
    return count


def countable_columns(options: ReadOptions, columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a read whose rows are only counted."""
    if options.view != "records":
        return columns
    return ("offset", CORRUPT_RECORD) if options.mode == "PERMISSIVE" else ("offset",)


def _reads_whole_logs(plan: Plan) -> bool:
    """Whether all records on disk are wanted, so that no batch is read in part."""
    return all(
        each.low <= each.offsets.log.segments[0].base_offset and each.high == MAX_OFFSET for each in plan.partitions
    )
