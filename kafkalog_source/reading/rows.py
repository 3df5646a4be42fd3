"""The rows of a planned read, by one or several threads, with warnings of what was left out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from kafkalog_source.columns import CORRUPT_RECORD
from kafkalog_source.errors import DamageWarning
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading.parallel import read_in_order
from kafkalog_source.reading.read import make_reader
from kafkalog_source.segment.damage.description import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.splits import Split
    from kafkalog_source.planning.plan import Plan
    from kafkalog_source.reading.read import Reader
    from kafkalog_source.reporting.report import Report

__all__ = ["first_values", "read_rows"]

_SPLITS_SAMPLED = 32
_VALUES_SAMPLED = 200
"""Values of each split that are sampled."""


def read_rows(
    plan: Plan, options: ReadOptions, columns: Sequence[str], threads: int, finished: Callable[[Split], None]
) -> Iterator[pa.RecordBatch]:
    """Yield the Arrow batches of all splits in order, and complete the plan's report.

    Parameters
    ----------
    plan : Plan
    options : ReadOptions
    columns : sequence of str
    threads : int
        The most threads to read with.
    finished : callable
        Called with each split whose rows have all been yielded.
    """
    readers = [make_reader(options, columns) for _ in range(max(1, min(threads, len(plan.splits))))]
    try:
        yield from _read_splits(plan, readers, finished)
    except Exception:
        # An error may hold back rows about damage, so that PERMISSIVE needs the warnings too.
        _warn(plan.report, options, ("DROPMALFORMED", "RECOVER", "PERMISSIVE"))
        raise
    _warn(plan.report, options, ("DROPMALFORMED", "RECOVER"))


def first_values(options: ReadOptions, column: str) -> Iterator[bytes | None]:
    """Yield the first values of a column in each of the first splits, without warnings of what is left out."""
    columns = (column, CORRUPT_RECORD) if options.mode == "PERMISSIVE" else (column,)
    reader = make_reader(options, columns)
    for split in plan_read(options).splits[:_SPLITS_SAMPLED]:
        batch = next((batch for batch in reader.read(split) if batch.num_rows), None)
        if batch is not None:
            yield from batch.column(0).slice(0, _VALUES_SAMPLED).to_pylist()


def _read_splits(plan: Plan, readers: Sequence[Reader], finished: Callable[[Split], None]) -> Iterator[pa.RecordBatch]:
    try:
        if len(readers) > 1:
            yield from read_in_order(plan.splits, readers, finished)
            return
        for split in plan.splits:
            yield from readers[0].read(split)
            finished(split)
    finally:
        for reader in readers:
            plan.report.add_reading(reader.report)


def _warn(report: Report, options: ReadOptions, modes: Sequence[str]) -> None:
    """Warn of what was left out in some `modes`; a torn end alone, and view=damage, need no warning."""
    if options.view == "damage" or options.mode not in modes:
        return
    if any(each.kind is not Kind.TORN for each in report.damage):
        for text in report.left_out_texts(options.mode):
            warnings.warn(text, DamageWarning, stacklevel=2)
