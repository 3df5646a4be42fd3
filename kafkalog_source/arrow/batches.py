"""Zero-copy record batches over the core's buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkalog_source._core.columns import NAMES, Columns
from kafkalog_source._core.export import export_batch
from kafkalog_source.arrow.constants import repeated
from kafkalog_source.arrow.schema import COLUMN_TYPES, arrow_schema
from kafkalog_source.columns import CORRUPT_RECORD
from kafkalog_source.format import CODEC_NAMES, TRANSACTION_STATES, ControlType

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from kafkalog_source._core.memory import BlockPool

    _Node: TypeAlias = tuple[Any, ...]

_TEXTS = {
    "compression": CODEC_NAMES,
    "controlType": [ControlType(number).name for number in range(len(ControlType))],
    "transactionState": [None, *TRANSACTION_STATES],
}
"""Columns that the core writes as numbers, with the text for each number.

No arrays yet: `pa.array` imports pandas where it is installed, which takes longer than most commands.
"""
_FLAGS = ("isTransactional", "isControl")
_CONSTANTS = ("topic", "partition", "file", CORRUPT_RECORD)
"""Columns with the same value in every row. ``_corrupt_record`` is null in the row of a record."""


class ArrowBatches:
    """Builds the Arrow batches of one reading thread.

    Parameters
    ----------
    names : sequence of str
        The columns, in the order of the record batches.
    pool : BlockPool
        Memory for the columns.
    **targets : int
        `byte_target` and `row_target` of `Columns`: the approximate size of a record batch.
    """

    def __init__(self, names: Sequence[str], pool: BlockPool, **targets: int) -> None:
        self.schema = arrow_schema(names)
        self._numbered = [(place, name) for place, name in enumerate(names) if name in _TEXTS or name in _FLAGS]
        self._texts = {name: pa.array(_TEXTS[name], pa.string()) for _, name in self._numbered if name in _TEXTS}
        self._stored_schema = self.schema
        for place, name in self._numbered:
            self._stored_schema = self._stored_schema.set(place, pa.field(name, pa.int8()))
        self.columns = Columns([name for name in names if name in NAMES], pool, **targets)
        self._constants = {name: _Constant(COLUMN_TYPES[name]) for name in names if name in _CONSTANTS}

    @property
    def times_out_of_range(self) -> int:
        """The number of timestamps so far that do not fit microseconds in an int64."""
        return self.columns.times_out_of_range

    def set_place(self, topic: str | None, partition: int | None, file: str) -> pa.RecordBatch | None:
        """Set the source of the next rows. If it differs from the previous one, return the rows so far."""
        values = {"topic": topic, "partition": partition, "file": file, CORRUPT_RECORD: None}
        if all(constant.value == values[name] for name, constant in self._constants.items()):
            return None
        finished = self.finish()
        for name, constant in self._constants.items():
            constant.set(values[name])
        return finished

    def finish(self) -> pa.RecordBatch | None:
        """Return the rows so far as a record batch; None if there are none."""
        if self.columns.rows == 0:
            return None
        rows, taken = self.columns.take()
        exported = export_batch(
            rows,
            [
                self._constants[name].node(rows) if name in self._constants else _node(name, rows, taken[name])
                for name in self.schema.names
            ],
        )
        batch = pa.RecordBatch._import_from_c(exported.address, self._stored_schema)
        return self._spelled_out(batch) if self._numbered else batch

    def _spelled_out(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Replace the numbers in `batch` by their texts and booleans."""
        arrays = batch.columns
        for place, name in self._numbered:
            arrays[place] = self._texts[name].take(arrays[place]) if name in _TEXTS else arrays[place].cast(pa.bool_())
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


class _Constant:
    """A column with the same value in every row, sliced from one array that is kept."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self.value: str | int | None = None
        self._array = pa.nulls(0, kind)

    def set(self, value: str | int | None) -> None:
        if value != self.value:
            self.value = value
            self._array = pa.nulls(0, self._kind)

    def node(self, rows: int) -> _Node:
        if len(self._array) < rows:
            # A little more than needed, so that the next batch of about this size can reuse it.
            self._array = repeated(self.value, self._kind, rows + rows // 4)
        return rows, rows if self.value is None else 0, self._array.buffers()


def _node(name: str, rows: int, taken: tuple[Any, ...]) -> _Node:
    """Convert a column from the form of `Columns.take` to that of `export_batch`."""
    if name == "headers":
        nulls, validity, offsets, header_rows, names, values = taken
        children = [_node("", header_rows, names), _node("", header_rows, values)]
        return rows, nulls, (validity, offsets), [(header_rows, 0, (None,), children)]
    nulls, *buffers = taken
    return rows, nulls, buffers
