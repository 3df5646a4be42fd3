"""`scan`: the rows of log directories as Arrow, without Spark."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkalog_source.arrow.schema import check_columns, view_schema
from kafkalog_source.columns import FILE_VIEWS, default_columns
from kafkalog_source.errors import DamageWarning, OptionError
from kafkalog_source.options.read_options import ReadOptions, parse_options
from kafkalog_source.planning.plan import Plan, plan_read
from kafkalog_source.reading.parallel import read_in_order
from kafkalog_source.reading.read import make_reader, read_split
from kafkalog_source.segment.damage.description import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_source.partition.splits import Split
    from kafkalog_source.reporting.report import Report

_PIECE_BYTES = 16 << 20
"""Approximate size of the pieces that threads take, small enough for all threads to end at about the same time."""


def scan(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: Sequence[str] | None = None,
    threads: int | None = None,
    **options: Any,
) -> Scan:
    """Read Kafka's log directories, partitions or segments as Arrow.

    Nothing is read before rows, splits or the report are requested from the result.

    Parameters
    ----------
    path : str, path or sequence of these
        Broker log dirs, globs, ``topic-partition`` directories or segment files.
    columns : sequence of str, optional
        The columns to return, in this order. By default those of Spark's Kafka source.
    threads : int, optional
        Number of decoding threads, by default the number of cores. It does not affect the order of rows.
    **options
        Options of the Spark source under the same names, as strings or Python values.

    Returns
    -------
    Scan

    Raises
    ------
    OptionError
        If an option or column is unknown or malformed.

    Examples
    --------
    >>> table = scan("/backup/kafka-logs", subscribe="orders").to_table()  # doctest: +SKIP
    """
    given = [path] if isinstance(path, str | os.PathLike) else list(path)
    read_options = parse_options(options, [os.fspath(each) for each in given])
    if threads is not None and threads < 1:
        raise OptionError("threads has to be at least 1", found=threads)
    if columns is None:
        columns = default_columns(read_options.view, read_options.mode, headers=read_options.include_headers)
    columns = check_columns(columns, read_options.view, read_options.mode)
    return Scan(read_options, columns, threads or os.cpu_count() or 1)


class Scan:
    """A lazy read. It can be read several times.

    It implements ``__arrow_c_stream__``, so DuckDB, Polars, pandas and pyarrow accept it directly.

    Attributes
    ----------
    schema : pyarrow.Schema
        The schema of the rows.
    """

    def __init__(self, options: ReadOptions, columns: tuple[str, ...], threads: int) -> None:
        self.schema = view_schema(columns, options.view)
        self._options = options
        self._columns = columns
        # Headers and small files are read by Python, with a system call or more for each: more threads would only wait
        # for each other.
        passes_payloads_over = options.view in ("batches", *FILE_VIEWS) and not options.verify_checksums
        self._threads = 1 if passes_payloads_over else threads
        self._report: Report | None = None

    @property
    def times(self) -> dict[str, str]:
        """The times that bound the read, by option, as text in UTC."""
        return self._options.times

    def splits(self) -> list[Split]:
        """Plan the splits that Spark would run as tasks."""
        return self._plan().splits

    def read_split(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Read one of `splits()`, in this process or in another one: scans and splits can be pickled.

        Parameters
        ----------
        split : Split
            Of this scan, or of one with the same paths and options; its columns may differ, and its view may be another
            one of ``records``, ``batches`` and ``damage``.

        Yields
        ------
        pyarrow.RecordBatch
            About 1 MiB of rows of `schema`, each from a single file. What is left out is logged; `report()` does not
            cover it.

        Raises
        ------
        KafkaLogError
            If a file is damaged, cannot be read, or no longer has the planned offsets.
        """
        return read_split(split, self._options, self._columns)

    def to_reader(self) -> pa.RecordBatchReader:
        """Read the rows as a stream of Arrow batches of about 1 MiB.

        Raises
        ------
        KafkaLogError
            If planning fails; an error while reading is raised by the returned reader.
        """
        return pa.RecordBatchReader.from_batches(self.schema, self._read(self._plan(self._piece_bytes())))

    def to_table(self) -> pa.Table:
        """Read all rows into memory."""
        return self.to_reader().read_all()

    def report(self) -> dict[str, Any]:
        """The report of the last read, or of a plan if nothing has been read yet.

        Returns
        -------
        dict
            bytes_total, bytes_read, topics, partitions, segments, splits, batches, records, times_out_of_range and
            minor_faults as numbers; damage, skipped and warnings as lists; times, by option, as text in UTC.
        """
        return (self._report or self._plan().report).to_dict()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows through Arrow's C stream interface."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def _piece_bytes(self) -> int | None:
        return _PIECE_BYTES if self._threads > 1 else None

    def _plan(self, piece_bytes: int | None = None) -> Plan:
        plan = plan_read(self._options, piece_bytes)
        self._report = plan.report
        return plan

    def _read(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._read_splits(plan)
        except Exception:
            # An error may hold back rows about damage, so that PERMISSIVE needs the warnings too.
            self._warn(plan.report, ("DROPMALFORMED", "RECOVER", "PERMISSIVE"))
            raise
        self._warn(plan.report, ("DROPMALFORMED", "RECOVER"))

    def _read_splits(self, plan: Plan) -> Iterator[pa.RecordBatch]:
        threads = max(1, min(self._threads, len(plan.splits)))
        readers = [make_reader(self._options, self._columns) for _ in range(threads)]
        try:
            if threads == 1:
                for split in plan.splits:
                    yield from readers[0].read(split)
            else:
                yield from read_in_order(plan.splits, readers)
        finally:
            for reader in readers:
                plan.report.add_reading(reader.report)

    def _warn(self, report: Report, modes: Sequence[str]) -> None:
        """Warn of what was left out in some `modes`; a torn end alone, and view=damage, need no warning."""
        if self._options.view == "damage" or self._options.mode not in modes:
            return
        if any(each.kind is not Kind.TORN for each in report.damage):
            for text in report.left_out_texts(self._options.mode):
                warnings.warn(text, DamageWarning, stacklevel=2)
