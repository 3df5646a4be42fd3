"""Collects the rows of many files: most give one row or a few, and an Arrow batch costs as much as hundreds of them."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkalog_source.arrow.damage import utf8

if TYPE_CHECKING:
    from kafkalog_source.partition.file_parts import Part
    from kafkalog_source.views.rows import Rows

__all__ = ["RowBuffer"]

_FULL = 1 << 12


class RowBuffer:
    """Rows that wait to become one Arrow batch.

    Parameters
    ----------
    schema : pyarrow.Schema
        The columns wanted; what nothing fills is null.

    Attributes
    ----------
    count : int
        Rows that wait.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._values: dict[str, list[Any]] = {name: [] for name in schema.names}
        self.count = 0

    @property
    def is_full(self) -> bool:
        """Whether there are enough rows for a batch."""
        return self.count >= _FULL

    def add(self, part: Part, rows: Rows) -> None:
        """Add rows, with the place of the file that they were read from where they hold none themselves."""
        count = len(next(iter(rows.values())))
        place: dict[str, Any] = {"topic": part.topic, "partition": part.partition, "file": utf8(part.path)}
        for name, values in self._values.items():
            values.extend(rows[name] if name in rows else repeat(place.get(name), count))
        self.count += count

    def take(self) -> pa.RecordBatch:
        """All rows that wait, as Arrow."""
        arrays = [_array(self._values[field.name], field.type) for field in self._schema]
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        for values in self._values.values():
            values.clear()
        self.count = 0
        return batch


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int64()).cast(kind) if pa.types.is_timestamp(kind) else pa.array(values, kind)
