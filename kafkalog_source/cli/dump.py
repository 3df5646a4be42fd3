"""``kafkalog dump``: print records, or the rows of a view, one a line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import pyarrow as pa

import kafkalog_source
from kafkalog_source.cli.left_out import print_left_out
from kafkalog_source.cli.printing import Printed
from kafkalog_source.cli.times import show_times
from kafkalog_source.errors import BAD_DATA, DONE, DamageWarning

if TYPE_CHECKING:
    from kafkalog_source.reading.scan import Scan

__all__ = ["run"]


def run(
    out: TextIO, paths: Sequence[str], given: Mapping[str, Any], printed: Printed, *, limit: int | None = None
) -> int:
    """Write a line for each row, and return the exit status."""
    view = given.get("view", "records")
    printed.check(view)
    # With a limit, reading ahead on several threads would be wasted work.
    threads = None if limit is None else 1
    found = kafkalog_source.scan(paths, columns=printed.wanted, threads=threads, **given)
    show_times(given, found.times)
    shown = found.schema
    hidden = [name for name in printed.filters.columns if name not in shown.names]
    if hidden:
        found = kafkalog_source.scan(paths, columns=[*shown.names, *hidden], threads=threads, **given)
    matching = printed.filters.compiled()
    write = printed.writer(out, shown, view)
    with warnings.catch_warnings():
        # `print_left_out` prints a line for each region.
        warnings.simplefilter("ignore", DamageWarning)
        for rows in _batches(found, matching, limit):
            write(rows)
    return BAD_DATA if found.report()["without_segments"] else DONE


def _batches(
    found: Scan, matching: Callable[[pa.RecordBatch], pa.RecordBatch], limit: int | None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows; after the last one, and also if reading fails, print what they do not show."""
    try:
        yield from _limited(map(matching, found.to_reader()), limit)
    except Exception as error:
        report = found.report()
        place = (getattr(error, "file", None), getattr(error, "position", None))
        # The error describes its own region. Other regions are printed: their rows may not have been yielded.
        others = [region for region in report["damage"] if (region["file"], region["position"]) != place]
        print_left_out({**report, "damage": others})
        raise
    print_left_out(found.report(), shown=found.schema.names)


def _limited(batches: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    left = limit
    while left is None or left > 0:
        rows = next(batches, None)
        if rows is None:
            return
        yield rows if left is None else rows.slice(0, left)
        if left is not None:
            left -= rows.num_rows
