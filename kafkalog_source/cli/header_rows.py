"""Batch headers for `count` and `stat`: the rows of ``view=batches``, range by range, with progress."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from kafkalog_source.cli.left_out import print_left_out
from kafkalog_source.cli.progress import progress_bar
from kafkalog_source.cli.times import show_times
from kafkalog_source.errors import BAD_DATA, DONE, OptionError, printable
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.partition.splits import Split, SplitRange
from kafkalog_source.planning.missing_topics import check_named
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading.read import make_reader
from kafkalog_source.segment.damage.description import Kind

__all__ = ["HeaderRows"]

_FIXED = ("view", "mode")


class HeaderRows:
    """The headers of the batches of a read, which skips damage and missing segments; iterable once.

    Parameters
    ----------
    paths : sequence of str
    given : mapping
        The options of the read, without a view and a mode.
    columns : sequence of str
        Columns of ``view=batches``.
    verb : str
        What the progress bar says.

    Attributes
    ----------
    include_control_records : bool
        The option of this name.

    Raises
    ------
    OptionError
        If an option is invalid.
    """

    def __init__(self, paths: Sequence[str], given: Mapping[str, Any], columns: Sequence[str], verb: str) -> None:
        for name in given:
            if name.lower() in _FIXED:
                raise OptionError(f"this command has no {printable(name)}: it reads headers, and skips damage")
        options = parse_options({**given, "view": "batches", "mode": "DROPMALFORMED"}, paths)
        if not any(name.lower() == "failondataloss" for name in given):
            # A missing segment is reported like damage; a misspelt topic is still an error.
            check_named(options)
            options = replace(options, fail_on_data_loss=False)
        self._options = options
        show_times(given, self._options.times)
        self.include_control_records = self._options.include_control_records
        self._columns = columns
        self._verb = verb
        self._plan = plan_read(self._options)
        self._done = 0

    def __iter__(self) -> Iterator[tuple[SplitRange, pa.RecordBatch]]:
        """Yield each range with its rows, in Arrow batches of about 1 MiB; at least one, which may be empty."""
        reader = make_reader(self._options, self._columns)
        total = sum(split.size for split in self._plan.splits)
        try:
            with progress_bar(self._verb, lambda: (self._done, total)):
                for each in self._ranges():
                    for rows in reader.read(Split((each,))):
                        yield each, rows
                    self._done += each.size
        finally:
            self._plan.report.add_reading(reader.report)

    def places(self) -> list[tuple[str | None, int | None, str]]:
        """The topic, partition and path of each segment that is read."""
        return list(dict.fromkeys((each.topic, each.partition, each.path) for each in self._ranges()))

    def records(self, each: SplitRange, columns: Sequence[str], low: int, high: int) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range with offsets in [low, high), control records too."""
        options = replace(self._options, view="records", include_control_records=True)
        wanted = replace(each, low=max(each.low, low), high=min(each.high, high))
        yield from make_reader(options, columns).read(Split((wanted,)))

    def finish(self) -> int:
        """Print what was left out, and return the exit status."""
        report = self._plan.report
        print_left_out(report.to_dict())
        is_damaged = any(each.kind is not Kind.TORN for each in report.damage)
        return BAD_DATA if is_damaged or report.missing or report.without_segments else DONE

    def _ranges(self) -> Iterator[SplitRange]:
        return (each for split in self._plan.splits for each in split.ranges)
