"""The formats of an export: each writer takes Arrow batches and writes them to an open file."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, BinaryIO, Protocol

import pyarrow as pa

from kafkalog_source.cli.exporting.json_lines import json_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Writer", "open_writer", "write_rows"]

_ROW_GROUP_BYTES = 64 << 20
"""Bytes of Arrow data that become a row group of Parquet."""


class Writer(Protocol):
    """Writes rows of one schema to a file."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write some rows."""

    def close(self) -> None:
        """Write the end of the file; the file itself stays open."""


def open_writer(file: BinaryIO, schema: pa.Schema, kind: str, *, is_pipe: bool = False) -> Writer:
    """Make the writer of a format.

    Parameters
    ----------
    file : binary file
    schema : pyarrow.Schema
    kind : str
        parquet, csv, jsonl or arrow.
    is_pipe : bool
        Whether the reader cannot seek: Arrow is written in its stream format then.
    """
    writers: dict[str, Callable[[], Writer]] = {
        "parquet": lambda: _Parquet(file, schema),
        "csv": lambda: _Csv(file, schema),
        "jsonl": lambda: _JsonLines(file),
        "arrow": lambda: _Arrow(file, schema, is_pipe=is_pipe),
    }
    return writers[kind]()


def write_rows(
    file: BinaryIO, schema: pa.Schema, batches: Iterable[pa.RecordBatch], kind: str, *, is_pipe: bool = False
) -> None:
    """Write all rows to one file; see `open_writer`."""
    # Closed after an error too, while the file is still open.
    with contextlib.closing(open_writer(file, schema, kind, is_pipe=is_pipe)) as writer:
        for batch in batches:
            writer.write(batch)


class _Parquet:
    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        from pyarrow.parquet import ParquetWriter

        self._schema = schema
        self._writer = ParquetWriter(file, schema, compression="zstd")
        self._waiting: list[pa.RecordBatch] = []
        self._size = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._size += batch.nbytes
        if self._size >= _ROW_GROUP_BYTES:
            self._write_group()

    def close(self) -> None:
        if self._waiting:
            self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        rows = pa.Table.from_batches(self._waiting, self._schema)
        self._waiting, self._size = [], 0
        self._writer.write_table(rows, row_group_size=max(1, rows.num_rows))


class _Csv:
    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        from pyarrow.csv import CSVWriter, WriteOptions

        from kafkalog_source.cli.exporting.csv_cells import csv_batch, csv_schema

        self._convert = csv_batch
        # pyarrow would quote the names, which few programs write and some do not expect.
        file.write((",".join(map(_name, schema.names)) + "\n").encode())
        self._writer = CSVWriter(file, csv_schema(schema), write_options=WriteOptions(include_header=False))

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(self._convert(batch))

    def close(self) -> None:
        self._writer.close()


class _JsonLines:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, batch: pa.RecordBatch) -> None:
        self._file.write(json_lines(batch))

    def close(self) -> None:
        pass


class _Arrow:
    def __init__(self, file: BinaryIO, schema: pa.Schema, *, is_pipe: bool) -> None:
        self._writer = pa.ipc.new_stream(file, schema) if is_pipe else pa.ipc.new_file(file, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


def _name(name: str) -> str:
    """A column's name in quotes if it needs them, as that of an expression in a query may."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\r\n') else name
