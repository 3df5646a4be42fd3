"""`scan`: the rows of log directories as Arrow, without Spark."""

from __future__ import annotations

import logging
import os
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkalog_source.arrow.schema import check_columns, view_schema
from kafkalog_source.columns import FILE_VIEWS, default_columns
from kafkalog_source.errors import DecodeWarning, OptionError
from kafkalog_source.options.read_options import ReadOptions, parse_options
from kafkalog_source.planning.plan import Plan, plan_read
from kafkalog_source.reading.conversions import to_duckdb, to_pandas, to_polars
from kafkalog_source.reading.counting import count_by_headers, countable_columns
from kafkalog_source.reading.decoding import check_decode, decoded, types_of
from kafkalog_source.reading.lost import losses_of
from kafkalog_source.reading.read import read_split
from kafkalog_source.reading.rows import first_values, read_rows
from kafkalog_source.reading.summary import summary_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb
    import pandas as pd
    import polars as pl

    from kafkalog_source.partition.splits import Split
    from kafkalog_source.reporting.losses import Loss

_log = logging.getLogger("kafkalog")
_PIECE_BYTES = 16 << 20
"""Approximate size of the pieces that threads take, small enough for all threads to end at about the same time."""


def scan(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: Sequence[str] | None = None,
    threads: int | None = None,
    decode: Mapping[str, str | pa.DataType] | None = None,
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
    decode : mapping of str to str or pyarrow.DataType, optional
        How to decode columns of bytes, such as ``{"key": "text", "value": "json"}``: "text" gives text, "json" columns
        of the types that the first values have, and a type the values of JSON in this type. A value that does not fit
        is null, and the read ends with a warning.
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
    check_decode(decode or {}, view_schema(columns, read_options.view))
    return Scan(read_options, columns, threads or os.cpu_count() or 1, decode)


class Scan:
    """A lazy read. It can be read several times.

    It implements ``__arrow_c_stream__``, so DuckDB, Polars, pandas and pyarrow accept it directly. Its `repr` lists the
    directories, and reads where the logs of the partitions that it shows end; it reads no records.
    """

    def __init__(
        self,
        options: ReadOptions,
        columns: tuple[str, ...],
        threads: int,
        decode: Mapping[str, str | pa.DataType] | None = None,
    ) -> None:
        self._options = options
        self._columns = columns
        self._decode = dict(decode or {})
        # Headers and small files are read by Python, with a system call or more for each: more threads would only wait
        # for each other.
        passes_payloads_over = options.view in ("batches", *FILE_VIEWS) and not options.verify_checksums
        self._threads = 1 if passes_payloads_over else threads
        self._last: Plan | None = None
        self._bytes_done = self._bytes_planned = 0

    @cached_property
    def schema(self) -> pa.Schema:
        """The schema of the rows. If a column is decoded as "json", its first values are read for it, once."""
        schema = view_schema(self._columns, self._options.view)
        types = types_of(self._decode, lambda column: first_values(self._options, column))
        return pa.schema([pa.field(each.name, types.get(each.name, each.type)) for each in schema])

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
        rows = read_split(split, self._options, self._columns)
        if not self._decode:
            return rows
        return decoded(rows, self._decode, self.schema, lambda text: _log.warning("kafkalog: %s", text))

    def to_reader(self) -> pa.RecordBatchReader:
        """Read the rows as a stream of Arrow batches of about 1 MiB.

        Raises
        ------
        KafkaLogError
            If planning fails; an error while reading is raised by the returned reader.
        """
        return self._reader(self._threads)

    def to_table(self) -> pa.Table:
        """Read all rows into memory."""
        return self.to_reader().read_all()

    def head(self, n: int = 5) -> pa.Table:
        """Read the first `n` rows, and not much more than these."""
        batches: list[pa.RecordBatch] = []
        left = n
        with self._reader(1) as reader:
            while left > 0:
                try:
                    batches.append(reader.read_next_batch().slice(0, left))
                except StopIteration:
                    break
                left -= batches[-1].num_rows
        return pa.Table.from_batches(batches, self.schema)

    def count(self) -> int:
        """Count the rows.

        The headers of batches tell it in a read of whole logs, in which no damage is skipped and no transaction
        matters, unless records of format 0 or 1 are compressed. Their checksums are not compared. For any other read
        all records are read, but not their keys and values.

        Raises
        ------
        KafkaLogError
        """
        found = count_by_headers(self._options)
        if found is not None:
            return found
        columns = countable_columns(self._options, self._columns)
        return sum(batch.num_rows for batch in Scan(self._options, columns, self._threads).to_reader())

    def __len__(self) -> int:
        """Count the rows, as `count` does."""
        return self.count()

    def __bool__(self) -> bool:
        """Is true, and reads nothing, whatever the number of rows."""
        return True

    def __repr__(self) -> str:
        return summary_of(self._options, self._columns)

    def to_pandas(self) -> pd.DataFrame:
        """Read all rows into pandas, which has to be installed."""
        return to_pandas(self.to_table())

    def to_polars(self) -> pl.DataFrame:
        """Read all rows into Polars, which has to be installed."""
        return to_polars(self.to_table())

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """Make a relation of DuckDB, which has to be installed; it reads the log each time it is executed.

        Parameters
        ----------
        connection : duckdb.DuckDBPyConnection, optional
            By default DuckDB's default connection.
        """
        return to_duckdb(self, connection)

    def report(self) -> dict[str, Any]:
        """The report of the last read, or of a plan if nothing has been read yet.

        Returns
        -------
        dict
            bytes_total, bytes_read, topics, partitions, segments, splits, batches, records, times_out_of_range and
            minor_faults as numbers; damage, missing, skipped and warnings as lists; times, by option, as text in UTC.
        """
        return (self._last or self._plan()).report.to_dict()

    def losses(self) -> list[Loss]:
        """The wanted offsets that the last read could not return, by partition; of partitions without losses, none.

        Damage and missing segments of which the read has come to know, not what it has not read.
        """
        return [] if self._last is None else losses_of(self._last)

    def progress(self) -> tuple[int, int]:
        """The bytes of the splits that the last read has finished, and of all its splits; 0 and 0 before the first."""
        return self._bytes_done, self._bytes_planned

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows through Arrow's C stream interface."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def _plan(self, piece_bytes: int | None = None) -> Plan:
        plan = plan_read(self._options, piece_bytes)
        self._last = plan
        self._bytes_done, self._bytes_planned = 0, sum(split.size for split in plan.splits)
        return plan

    def _reader(self, threads: int) -> pa.RecordBatchReader:
        schema = self.schema
        plan = self._plan(_PIECE_BYTES if threads > 1 else None)
        rows = read_rows(plan, self._options, self._columns, threads, self._finished)
        if self._decode:
            rows = decoded(rows, self._decode, schema, lambda text: _warn(text, plan))
        return pa.RecordBatchReader.from_batches(schema, rows)

    def _finished(self, split: Split) -> None:
        self._bytes_done += split.size


def _warn(text: str, plan: Plan) -> None:
    plan.report.warnings.append(text)
    warnings.warn(text, DecodeWarning, stacklevel=2)
