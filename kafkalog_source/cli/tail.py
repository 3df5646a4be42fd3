"""``kafkalog tail``: the last records of each partition, and those that a broker adds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TextIO

import pyarrow as pa

from kafkalog_source.arrow.schema import check_columns, view_schema
from kafkalog_source.cli.left_out import print_left_out
from kafkalog_source.cli.printing import Printed
from kafkalog_source.cli.text import complain
from kafkalog_source.cli.times import show_times
from kafkalog_source.columns import default_columns
from kafkalog_source.errors import DONE
from kafkalog_source.logdir import list_logs
from kafkalog_source.options.read_options import ReadOptions, parse_options
from kafkalog_source.partition.splits import Split, SplitRange
from kafkalog_source.planning.missing_topics import not_found
from kafkalog_source.reading.read import make_reader
from kafkalog_source.reporting.report import Report
from kafkalog_source.segment.damage.description import Kind
from kafkalog_source.streaming.positions import Positions
from kafkalog_source.streaming.stream import Stream

__all__ = ["run"]

_POLL_SECONDS = 0.5
_GROWTH = 4
"""How many times more offsets each further look back takes, until enough records are found."""
Matching = Callable[[pa.RecordBatch], pa.RecordBatch]


def run(
    out: TextIO, paths: Sequence[str], given: Mapping[str, Any], printed: Printed, *, count: int, follow: bool
) -> int:
    """Write the last `count` records of each partition, then new ones, and return the exit status."""
    options = parse_options(given, paths, streaming=True)
    if "failondataloss" not in map(str.lower, given):
        # What retention deletes before it is read is a warning.
        options = replace(options, fail_on_data_loss=False)
    printed.check(options.view)
    show_times(given, options.times)
    listing = list_logs(options.paths, wanted=options.wants, follow_symlinks=options.follow_symlinks)
    missing = not_found(options, listing)
    if missing is not None:
        raise missing
    if not listing.partitions:
        complain("warning: no partition was selected; kafkalog ls lists all of them")
    wanted = printed.wanted or default_columns(options.view, options.mode, headers=options.include_headers)
    shown = check_columns(tuple(wanted), options.view, options.mode)
    columns = tuple(dict.fromkeys((*shown, *printed.filters.columns)))
    write = printed.writer(out, view_schema(shown, options.view), options.view)
    tail = _Tail(options, columns, printed.filters.compiled())
    for rows in tail.last(count):
        write(rows)
    while follow:
        time.sleep(_POLL_SECONDS)
        for rows in tail.added():
            write(rows)
    return DONE


class _Tail:
    """Reads partitions from their ends.

    Parameters
    ----------
    options : ReadOptions
        Of a stream.
    columns : sequence of str
    matching : callable
        Leaves the rows that are wanted.
    """

    def __init__(self, options: ReadOptions, columns: Sequence[str], matching: Matching) -> None:
        self._options = options
        self._columns = columns
        self._matching = matching
        self._stream = Stream(options, lambda text: complain(f"warning: {text}"))
        self._reached: Positions = {}
        self._warned: set[object] = set()

    def last(self, count: int) -> Iterator[pa.RecordBatch]:
        """Yield the last `count` rows of each partition, in the order of partitions.

        Offsets may be missing, and records may not match: further ones are looked for ever further back.
        """
        begin = self._stream.initial()
        self._reached = self._stream.latest({})
        ends = dict(self._reached)
        kept = {place: _Last(count) for place in sorted(ends)}
        back = count
        while waiting := [place for place in kept if kept[place].missing and ends[place] > begin.get(place, 0)]:
            lows = {place: max(begin.get(place, 0), ends[place] - back) for place in waiting}
            earlier = {place: _Last(kept[place].missing) for place in waiting}
            for each, rows in self._read(lows, {place: ends[place] for place in waiting}):
                earlier[each.topic, each.partition].add(rows)  # type: ignore[index]
            for place in waiting:
                kept[place].put_before(earlier[place])
            ends.update(lows)
            back *= _GROWTH
        for last in kept.values():
            yield from last.batches

    def added(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that were added since the last call."""
        end = self._stream.latest(self._reached)
        if end != self._reached:
            for _, rows in self._read(self._reached, end):
                yield rows
        self._reached = end

    def _read(self, start: Positions, end: Positions) -> Iterator[tuple[SplitRange, pa.RecordBatch]]:
        plan = self._stream.plan(start, end)
        reader = make_reader(self._options, self._columns)
        try:
            for each in (each for split in plan.splits for each in split.ranges):
                for rows in reader.read(Split((each,))):
                    yield each, self._matching(rows)
        finally:
            self._warn_once(reader.report)

    def _warn_once(self, report: Report) -> None:
        """Print what earlier reads of the same place have not reported; a batch that is being written is no damage."""
        warnings = [text for text in report.warnings if text not in self._warned]
        damage = [each for each in report.damage if each.kind is not Kind.TORN and each not in self._warned]
        self._warned.update(warnings, damage)
        plain = {"warnings": warnings, "damage": [each.to_dict() for each in damage]}
        print_left_out({**report.to_dict(), **plain, "partitions": 1}, self._columns)


class _Last:
    """The last rows of those that are added, at most `count`."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.batches: list[pa.RecordBatch] = []
        self.missing = count

    def add(self, rows: pa.RecordBatch) -> None:
        """Add rows at the end, and drop the first ones that are too many."""
        if rows.num_rows:
            self.batches.append(_last_rows(rows, self._count))
        excess = self._held() - self._count
        while excess > 0:
            first = self.batches.pop(0)
            if first.num_rows > excess:
                self.batches.insert(0, first.slice(excess))
            excess -= first.num_rows
        self.missing = self._count - self._held()

    def put_before(self, other: _Last) -> None:
        """Put rows at the start; together they have to be at most `count`."""
        self.batches = [*other.batches, *self.batches]
        self.missing = self._count - self._held()

    def _held(self) -> int:
        return sum(rows.num_rows for rows in self.batches)


def _last_rows(rows: pa.RecordBatch, count: int) -> pa.RecordBatch:
    """The last rows, copied, so that the memory of the others can be used again."""
    if rows.num_rows <= count:
        return rows
    return rows.take(pa.array(range(rows.num_rows - count, rows.num_rows)))
