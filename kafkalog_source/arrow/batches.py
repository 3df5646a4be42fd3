"""Record batches over the core's buffers, without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkalog_source._core.columns import NAMES, Columns
from kafkalog_source.arrow.schema import COLUMN_TYPES, HEADERS_TYPE, arrow_schema
from kafkalog_source.format import CODEC_NAMES, TRANSACTION_STATES, ControlType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

    from kafkalog_source._core.memory import BlockPool

_TEXTS = {
    "compression": pa.array(CODEC_NAMES, pa.string()),
    "controlType": pa.array([ControlType(number).name for number in range(len(ControlType))], pa.string()),
    "transactionState": pa.array([None, *TRANSACTION_STATES], pa.string()),
}
"""Columns that the core writes as numbers: what each number stands for."""
_FLAGS = ("isTransactional", "isControl")
_CONSTANTS = ("topic", "partition", "file")


class ArrowBatches:
    """Builds the Arrow batches of one reading thread.

    Parameters
    ----------
    names : sequence of str
        The columns, in the order of the batches.
    pool : BlockPool
        Memory for the columns.
    byte_target : int, optional
        About how many bytes make an Arrow batch.
    """

    def __init__(self, names: Sequence[str], pool: BlockPool, **targets: int) -> None:
        self.schema = arrow_schema(names)
        self.columns = Columns([name for name in names if name in NAMES], pool, **targets)
        self._constants = {name: _Constant(COLUMN_TYPES[name]) for name in names if name in _CONSTANTS}

    def set_place(self, topic: str | None, partition: int | None, file: str) -> pa.RecordBatch | None:
        """Say where the next rows come from; gives the rows before, if they come from somewhere else."""
        values = {"topic": topic, "partition": partition, "file": file}
        if all(constant.value == values[name] for name, constant in self._constants.items()):
            return None
        finished = self.finish()
        for name, constant in self._constants.items():
            constant.set(values[name])
        return finished

    def finish(self) -> pa.RecordBatch | None:
        """The rows so far as an Arrow batch, None if there are none."""
        if self.columns.rows == 0:
            return None
        rows, taken = self.columns.take()
        arrays = [
            self._constants[name].array(rows) if name in self._constants else _array(name, rows, taken[name])
            for name in self.schema.names
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


class _Constant:
    """A column with the same value in every row: a slice of one array that is kept."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self.value: str | int | None = None
        self._array = pa.nulls(0, kind)

    def set(self, value: str | int | None) -> None:
        if value != self.value:
            self.value = value
            self._array = pa.nulls(0, self._kind)

    def array(self, rows: int) -> pa.Array:
        if len(self._array) < rows:
            # A little more than needed, so that the next batch of about this size finds it there.
            self._array = pa.repeat(pa.scalar(self.value, self._kind), rows + rows // 4)
        return self._array.slice(0, rows)


def _array(name: str, rows: int, taken: tuple[Any, ...]) -> pa.Array:
    if name == "headers":
        return _headers(rows, *taken)
    if name in ("key", "value"):
        return _bytes(COLUMN_TYPES[name], rows, *taken)
    nulls, validity, data = taken
    if name in _TEXTS:
        return _TEXTS[name].take(_fixed(pa.int8(), rows, nulls, validity, data))
    if name in _FLAGS:
        return _fixed(pa.int8(), rows, nulls, validity, data).cast(pa.bool_())
    return _fixed(COLUMN_TYPES[name], rows, nulls, validity, data)


def _fixed(kind: pa.DataType, rows: int, nulls: int, validity: Buffer | None, data: Buffer) -> pa.Array:
    return pa.Array.from_buffers(kind, rows, [_buffer(validity), pa.py_buffer(data)], nulls)


def _bytes(
    kind: pa.DataType, rows: int, nulls: int, validity: Buffer | None, offsets: Buffer, data: Buffer
) -> pa.Array:
    return pa.Array.from_buffers(kind, rows, [_buffer(validity), pa.py_buffer(offsets), pa.py_buffer(data)], nulls)


def _headers(
    rows: int,
    nulls: int,
    validity: Buffer | None,
    offsets: Buffer,
    header_rows: int,
    names: tuple[Any, ...],
    values: tuple[Any, ...],
) -> pa.Array:
    children = [_bytes(pa.string(), header_rows, *names), _bytes(pa.binary(), header_rows, *values)]
    pairs = pa.Array.from_buffers(HEADERS_TYPE.value_type, header_rows, [None], 0, children=children)
    return pa.Array.from_buffers(
        HEADERS_TYPE, rows, [_buffer(validity), pa.py_buffer(offsets)], nulls, children=[pairs]
    )


def _buffer(block: Buffer | None) -> pa.Buffer | None:
    return None if block is None else pa.py_buffer(block)
