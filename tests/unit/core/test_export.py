"""Record batches handed over by Arrow's C data interface: whole, without a copy, and nothing kept."""

from __future__ import annotations

import gc
import struct

import pyarrow as pa
import pytest

from kafkalog_source._core.export import export_batch
from kafkalog_source._core.memory import BlockPool
from kafkalog_source.arrow.batches import ArrowBatches
from tests.builders import Batch
from tests.unit.core.test_decode import COLUMNS, GOOD, decode_into


def ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def imported(rows: int, columns: list[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    exported = export_batch(rows, columns)
    batch = pa.RecordBatch._import_from_c(exported.address, schema)
    batch.validate(full=True)
    return batch


def test_columns_of_every_layout() -> None:
    pair = pa.struct([("key", pa.string()), ("value", pa.binary())])
    schema = pa.schema([("number", pa.int32()), ("text", pa.string()), ("pairs", pa.list_(pair))])
    names, values = (2, 0, (None, ints(0, 1, 3), b"abb")), (2, 1, (b"\x01", ints(0, 1, 1), b"x"))
    pairs = (2, 1, (b"\x01", ints(0, 2, 2)), [(2, 0, (None,), [names, values])])
    columns = [(2, 1, (b"\x02", ints(0, 7))), (2, 0, (None, ints(0, 0, 2), b"hi")), pairs]
    assert imported(2, columns, schema).to_pylist() == [
        {"number": None, "text": "", "pairs": [{"key": "a", "value": b"x"}, {"key": "bb", "value": None}]},
        {"number": 7, "text": "hi", "pairs": None},
    ]


def test_no_rows_and_no_columns() -> None:
    assert imported(0, [(0, 0, (None, b""))], pa.schema([("a", pa.int8())])).num_rows == 0
    assert imported(5, [], pa.schema([])).num_columns == 0


def test_more_buffers_than_a_layout_has_are_refused() -> None:
    with pytest.raises(ValueError, match="buffers"):
        export_batch(1, [(1, 0, (None, b"", b"", b""))])
    with pytest.raises(TypeError):
        export_batch(1, [(1, 0, (None, 5))])


def test_memory_goes_back_to_its_pool_with_the_last_column() -> None:
    pool = BlockPool()
    batches = ArrowBatches(COLUMNS, pool)
    decode_into(batches, [Batch(GOOD)])
    batch = batches.finish()
    assert batch is not None
    column, before = batch.column(0), pool.free_bytes
    del batch
    gc.collect()
    assert (pool.free_bytes, column.to_pylist()) == (before, [0, 1, 2])
    del column
    gc.collect()
    assert pool.free_bytes > before


def test_what_nobody_imports_is_let_go() -> None:
    pool = BlockPool()
    batches = ArrowBatches(["offset"], pool)
    decode_into(batches, [Batch(GOOD)])
    rows, taken = batches.columns.take()
    nulls, *buffers = taken.pop("offset")
    exported, before = export_batch(rows, [(rows, nulls, buffers)]), pool.free_bytes
    del buffers, exported
    gc.collect()
    assert pool.free_bytes > before


def test_a_batch_outlives_whatever_made_it() -> None:
    batches = ArrowBatches(COLUMNS, BlockPool())
    decode_into(batches, [Batch(GOOD)])
    batch = batches.finish()
    del batches
    gc.collect()
    assert batch is not None
    assert batch["offset"].to_pylist() == [0, 1, 2]
    batch.validate(full=True)
