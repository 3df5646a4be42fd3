"""A file for each topic, where Spark, DuckDB and others expect it: ``topic=orders/part-0.parquet``."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.cli.exporting.writers import open_writer
from kafkalog_source.errors import OptionError

if TYPE_CHECKING:
    from types import TracebackType

    from kafkalog_source.cli.exporting.writers import Writer

__all__ = ["ByTopic"]

_TOPIC = "topic"
_NULL = "__HIVE_DEFAULT_PARTITION__"
_MOST_OPEN = 16
"""Most files that are open at once; each may hold a row group in memory."""


class ByTopic:
    """Writes each row to the file of its topic, whose column is left out, since the directory's name has it.

    Parameters
    ----------
    path : str
        An existing directory.
    schema : pyarrow.Schema
    kind : str
        The format.
    """

    def __init__(self, path: str, schema: pa.Schema, kind: str) -> None:
        if _TOPIC not in schema.names:
            raise OptionError(
                "a directory gets a file for each topic, but the rows have no column topic",
                found=", ".join(schema.names),
                remedy="Select the column topic too, or give a file",
            )
        self._path = path
        self._schema = schema.remove(schema.get_field_index(_TOPIC))
        if not self._schema.names:
            raise OptionError("there is no column besides topic to write", remedy="Select more columns, or give a file")
        self._kind = kind
        self._open: dict[str | None, _File] = {}
        self._parts: dict[str | None, int] = {}

    def __enter__(self) -> ByTopic:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.ExitStack() as files:
            for each in self._open.values():
                files.callback(each.close)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write some rows, of one or more topics."""
        topics = batch.column(_TOPIC)
        rest = batch.select(self._schema.names)
        found = pc.unique(topics).to_pylist()
        for topic in found:
            if len(found) == 1:
                self._file(topic).writer.write(rest)
            else:
                is_of_topic = pc.is_null(topics) if topic is None else pc.equal(topics, topic)
                self._file(topic).writer.write(rest.filter(is_of_topic))

    def _file(self, topic: str | None) -> _File:
        """The open file of a topic; the one that was used longest ago is closed for it if there are too many."""
        file = self._open.pop(topic, None)
        if file is None:
            if len(self._open) == _MOST_OPEN:
                self._open.pop(next(iter(self._open))).close()
            part = self._parts.get(topic, 0)
            self._parts[topic] = part + 1
            file = _File(self._path, topic, part, self._schema, self._kind)
        self._open[topic] = file
        return file


class _File:
    def __init__(self, path: str, topic: str | None, part: int, schema: pa.Schema, kind: str) -> None:
        directory = os.path.join(path, f"{_TOPIC}={_NULL if topic is None else quote(topic, safe='')}")
        os.makedirs(directory, exist_ok=True)
        self._file = open(os.path.join(directory, f"part-{part}.{kind}"), "xb")  # noqa: SIM115
        self.writer: Writer = open_writer(self._file, schema, kind)

    def close(self) -> None:
        with self._file:
            self.writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
