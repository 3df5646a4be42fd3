"""Batch headers as Arrow: the rows of ``view=batches``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.arrow.damage import CORRUPT_RECORD, utf8
from kafkalog_source.format import CODEC_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source._core.walk import HeaderTable
    from kafkalog_source.segment.damage.description import Damage

_TIMESTAMP_TYPE = pa.timestamp("us", tz="UTC")
BATCH_TYPES: dict[str, pa.DataType] = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "file": pa.string(),
    "batchPosition": pa.int64(),
    "batchSize": pa.int64(),
    "batchBaseOffset": pa.int64(),
    "batchLastOffset": pa.int64(),
    "recordCount": pa.int32(),
    "magic": pa.int32(),
    "compression": pa.string(),
    "timestampType": pa.int32(),
    "firstTimestamp": _TIMESTAMP_TYPE,
    "maxTimestamp": _TIMESTAMP_TYPE,
    "deleteHorizon": _TIMESTAMP_TYPE,
    "leaderEpoch": pa.int32(),
    "producerId": pa.int64(),
    "producerEpoch": pa.int32(),
    "baseSequence": pa.int32(),
    "isTransactional": pa.bool_(),
    "isControl": pa.bool_(),
    "crc": pa.int64(),
    CORRUPT_RECORD: pa.string(),
}
"""The columns of ``view=batches`` in their documented order."""

_NUMBERS = {
    "batchPosition": "position",
    "batchSize": "size",
    "batchBaseOffset": "first_offset",
    "batchLastOffset": "last_offset",
    "recordCount": "record_count",
    "magic": "magic",
    "compression": "codec",
    "timestampType": "timestamp_type",
    "firstTimestamp": "first_timestamp",
    "maxTimestamp": "max_timestamp",
    "deleteHorizon": "delete_horizon",
    "leaderEpoch": "leader_epoch",
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "baseSequence": "base_sequence",
    "isTransactional": "transactional",
    "isControl": "control",
    "crc": "crc",
}
"""The core's name for each number of a header."""
_CODECS = pa.array(CODEC_NAMES, pa.string())


class BatchRows:
    """Builds the record batches of ``view=batches`` in one reading thread, as `ArrowBatches` does for records.

    Parameters
    ----------
    names : sequence of str
        The columns, in their order.
    table : HeaderTable
        Where the headers are collected.
    """

    def __init__(self, names: Sequence[str], table: HeaderTable) -> None:
        self.schema = pa.schema([pa.field(name, BATCH_TYPES[name]) for name in names])
        self._table = table
        self._place: dict[str, str | int | None] = {}

    @property
    def times_out_of_range(self) -> int:
        """The number of timestamps so far that do not fit microseconds in an int64."""
        return self._table.times_out_of_range

    def set_place(self, topic: str | None, partition: int | None, file: str) -> pa.RecordBatch | None:
        """Set the source of the next rows. If it differs from the previous one, return the rows so far."""
        place = {"topic": topic, "partition": partition, "file": utf8(file), CORRUPT_RECORD: None}
        is_same = all(place[name] == self._place.get(name) for name in self.schema.names if name in place)
        finished = None if is_same else self.finish()
        self._place = place
        return finished

    def finish(self) -> pa.RecordBatch | None:
        """Return the rows so far as a record batch; None if there are none."""
        count = self._table.rows - self._table.held
        if count <= 0:
            return None
        found = self._table.finish()
        arrays = [
            pa.repeat(pa.scalar(self._place[field.name], field.type), count)
            if field.name in self._place
            else _column(field.type, count, *found[_NUMBERS[field.name]])
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _column(kind: pa.DataType, count: int, content: bytearray, nulls: int, valid: bytearray) -> pa.Array:
    numbers = _TIMESTAMP_TYPE if kind == _TIMESTAMP_TYPE else pa.int64()
    array = pa.Array.from_buffers(numbers, count, [pa.py_buffer(valid), pa.py_buffer(content)], nulls)
    return _CODECS.take(array) if kind == pa.string() else array.cast(kind)


def corrupt_batches(
    schema: pa.Schema, topic: str | None, partition: int | None, low: int, regions: Sequence[Damage]
) -> pa.RecordBatch:
    """Return a row for each damaged region: its position, the offsets that may be lost, and what is wrong."""
    values = {
        "topic": [topic] * len(regions),
        "partition": [partition] * len(regions),
        "file": [utf8(each.file) for each in regions],
        "batchPosition": [each.position for each in regions],
        "batchSize": [each.size for each in regions],
        "batchBaseOffset": [None if each.first_offset is None else max(each.first_offset, low) for each in regions],
        "batchLastOffset": [each.last_offset for each in regions],
        CORRUPT_RECORD: [each.to_json() for each in regions],
    }
    arrays = [
        pa.array(values[field.name], field.type) if field.name in values else pa.nulls(len(regions), field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
