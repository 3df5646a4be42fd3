"""SQL over the rows of a scan, with DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.columns import VIEWS
from kafkalog_source.errors import OptionError, printable

if TYPE_CHECKING:
    from kafkalog_source.reading.scan import Scan

__all__ = ["columns_for", "query"]

_ROWS_AT_ONCE = 100_000


def columns_for(sql: str, view: str, defaults: Sequence[str]) -> list[str]:
    """The columns that a query may use: the default ones, and all others that its text names."""
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    return [name for name in VIEWS[view].columns if name in defaults or name.lower() in words]


def query(scan: Scan, sql: str, table: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Run a query over the rows of a scan.

    Parameters
    ----------
    scan : Scan
    sql : str
        A statement that returns rows.
    table : str
        The name by which the statement refers to the rows.

    Returns
    -------
    (pyarrow.Schema, iterator of pyarrow.RecordBatch)

    Raises
    ------
    OptionError
        If DuckDB is not installed, or rejects the statement.
    KafkaLogError
        That the read raises.
    """
    try:
        import duckdb
    except ImportError as error:
        raise OptionError("--sql needs DuckDB, which is not installed", remedy="pip install duckdb") from error
    rows = _Rows(scan)
    try:
        connection = duckdb.connect()
        connection.register(table, rows.reader)
        relation = connection.sql(sql)
        if relation is None:
            raise OptionError("--sql returns no rows", remedy=f"Give a query: SELECT … FROM {table}")
        # The present name of this method, and the one that it had before.
        to_reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        result = to_reader(_ROWS_AT_ONCE)
    except duckdb.Error as error:
        raise rows.error or _rejected(error) from error
    schema = pa.schema([pa.field(each.name, _in_utc(each.type)) for each in result.schema])
    return schema, _batches(result, rows, schema)


def _in_utc(kind: pa.DataType) -> pa.DataType:
    """The same type; a time with a zone is in UTC as in all other rows, whatever zone DuckDB shows times in."""
    return pa.timestamp(kind.unit, "UTC") if pa.types.is_timestamp(kind) and kind.tz else kind


def _batches(result: pa.RecordBatchReader, rows: _Rows, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    try:
        for batch in result:
            yield batch.cast(schema)
    except Exception as error:
        if rows.error is not None:
            raise rows.error from None
        if type(error).__module__ in ("_duckdb", "duckdb"):
            raise _rejected(error) from error
        raise


class _Rows:
    """The rows of a scan as a reader that remembers the error of the read, which DuckDB reports as one of its own."""

    def __init__(self, scan: Scan) -> None:
        self.error: Exception | None = None
        self.reader = pa.RecordBatchReader.from_batches(scan.schema, self._remembering(scan))

    def _remembering(self, scan: Scan) -> Iterator[pa.RecordBatch]:
        try:
            yield from scan.to_reader()
        except Exception as error:
            self.error = error
            raise


def _rejected(error: Exception) -> OptionError:
    first_line = str(error).strip().split("\n", 1)[0]
    return OptionError(f"DuckDB cannot run --sql: {printable(first_line)}", remedy="`kafkalog export --help` shows one")
