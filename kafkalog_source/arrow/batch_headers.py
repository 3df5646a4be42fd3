"""Batch headers as Arrow: the rows of ``view=batches``."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.arrow.damage import utf8
from kafkalog_source.arrow.types import column_types
from kafkalog_source.columns import CORRUPT_RECORD
from kafkalog_source.format import CODEC_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kafkalog_source._core.headers import HeaderTable
    from kafkalog_source.segment.damage.description import Damage

_TIMESTAMP_TYPE = pa.timestamp("us", tz="UTC")
BATCH_TYPES = column_types("batches")
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
_FILE_NAME = re.compile(r"([0-9]{20})\.")
_LAST_SEQUENCE = 2**31 - 1


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
        place = _place(topic, partition, file)
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
            else _last_sequences(count, found)
            if field.name == "lastSequence"
            else _column(field.type, count, *found[_NUMBERS[field.name]])
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _place(topic: str | None, partition: int | None, file: str) -> dict[str, str | int | None]:
    """The columns that have one value for all batches of a file."""
    name = _FILE_NAME.match(os.path.basename(file))
    return {
        "topic": topic,
        "partition": partition,
        "file": utf8(file),
        "baseOffset": int(name[1]) if name else None,
        CORRUPT_RECORD: None,
    }


def _last_sequences(count: int, found: Mapping[str, tuple[bytearray, int, bytearray]]) -> pa.Array:
    """The sequence of each batch's last record: one more for each offset, and 0 after 2^31 - 1."""
    # Only this column needs the module, whose import takes as long as a small read.
    import pyarrow.compute as pc

    base, first, last = (
        _column(pa.int64(), count, *found[name]) for name in ("base_sequence", "first_offset", "last_offset")
    )
    return pc.bit_wise_and(pc.add(base, pc.subtract(last, first)), _LAST_SEQUENCE).cast(pa.int32())


def _column(kind: pa.DataType, count: int, content: bytearray, nulls: int, valid: bytearray) -> pa.Array:
    numbers = _TIMESTAMP_TYPE if kind == _TIMESTAMP_TYPE else pa.int64()
    array = pa.Array.from_buffers(numbers, count, [pa.py_buffer(valid), pa.py_buffer(content)], nulls)
    if kind == array.type:
        return array
    # Made when needed: the first array of Python values imports pandas.
    return pa.array(CODEC_NAMES, pa.string()).take(array) if kind == pa.string() else array.cast(kind)


def corrupt_batches(
    schema: pa.Schema, topic: str | None, partition: int | None, low: int, regions: Sequence[Damage]
) -> pa.RecordBatch:
    """Return a row for each damaged region: its position, the offsets that may be lost, and what is wrong."""
    values = {
        "topic": [topic] * len(regions),
        "partition": [partition] * len(regions),
        "file": [utf8(each.file) for each in regions],
        "baseOffset": [_place(topic, partition, each.file)["baseOffset"] for each in regions],
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
