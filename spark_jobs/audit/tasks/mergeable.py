"""Tables that can be merged: those of two tasks give the table of all that both have read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from spark_jobs.audit.tasks.distinct import merged_sketches
from spark_jobs.audit.tasks.offsets import joined_runs
from spark_jobs.audit.tasks.timeline import coarsened

__all__ = ["Tally", "grouped"]

_CELL = ("topic", "partition", "file", "magic", "compression", "hour")
_KEYS = {
    "cells": _CELL,
    "files": _CELL[:-1],
    "hours": ("topic", "hour"),
    "producers": ("topic", "partition", "producer_id"),
    "sizes": ("topic", "of", "size"),
    "headers": ("topic", "name"),
}
"""The columns by which tables are grouped. The others are measures, merged by their names."""
_LEAST = frozenset({"first_time", "first_record_time", "key_min", "value_min", "first_epoch"})
_MOST = frozenset({"last_time", "last_record_time", "key_max", "value_max", "last_epoch"})
"""Measures that are the least or the greatest of all; the others are sums."""
_MERGED = {"keys": merged_sketches, "runs": joined_runs, "timeline": coarsened}
_MOST_PENDING = 64


def grouped(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Group by `keys` and aggregate all other columns, by their names. Null is a key like any other."""
    measures = [name for name in table.column_names if name not in keys]
    how = ["min" if name in _LEAST else "max" if name in _MOST else "sum" for name in measures]
    # The tasks already use all cores.
    found = table.group_by(list(keys), use_threads=False).aggregate(list(zip(measures, how, strict=True)))
    return found.rename_columns([*keys, *measures])


class Tally:
    """The tables of what was read so far, by name.

    ``cells`` are the statistics of batches and records by all keys at once; in a task, of which `rows` gives the
    result, ``files`` and ``hours`` are made from them. ``keys`` are sketches of distinct keys, ``runs`` the offsets of
    batches that follow each other, ``timeline`` counts by intervals, and ``damage`` the damaged regions.
    """

    def __init__(self, rows: Iterable[tuple[str, bytes]] = ()) -> None:
        self._pending: defaultdict[str, list[pa.Table]] = defaultdict(list)
        for name, content in rows:
            self.add(name, pa.ipc.open_stream(content).read_all())

    def add(self, name: str, table: pa.Table) -> None:
        """Merge more rows into a table, sooner or later."""
        pending = self._pending[name]
        pending.append(table)
        if len(pending) > _MOST_PENDING:
            self._merge(name)

    def table(self, name: str) -> pa.Table | None:
        """Return a table; None if it has no rows."""
        return self._merge(name) if self._pending[name] else None

    def rows(self) -> Iterator[tuple[str, bytes]]:
        """Yield all tables in Arrow's IPC format, for another tally."""
        cells = self.table("cells")
        if cells is not None:
            del self._pending["cells"]
            for name in ("files", "hours"):
                unused = [key for key in _CELL if key not in _KEYS[name]]
                self.add(name, grouped(cells.drop_columns(unused), _KEYS[name]))
        for name in sorted(self._pending):
            sink = pa.BufferOutputStream()
            table = self._merge(name)
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            yield name, sink.getvalue().to_pybytes()

    def _merge(self, name: str) -> pa.Table:
        pending = self._pending[name]
        if len(pending) > 1 or name in _MERGED:
            together = pa.concat_tables(pending, promote_options="default")
            if name in _KEYS:
                together = grouped(together, _KEYS[name])
            elif name in _MERGED:
                together = _MERGED[name](together)
            self._pending[name] = [together]
        return self._pending[name][0]
