"""The views of Kafka's own topics: record batches of records → record batches of the view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source._core.memory import BlockPool
from kafkalog_source.format import METADATA_BOOTSTRAP, METADATA_SNAPSHOT
from kafkalog_source.internal_topics import slots
from kafkalog_source.internal_topics.columns import CORRUPT_RECORD, FROM_RECORDS, SNAPSHOT_TYPES, STRING, view_types
from kafkalog_source.internal_topics.decoder import Decoded, Decoding, type_names
from kafkalog_source.internal_topics.secrets import REDACTED_COLUMNS, SecretFinder, Secrets

_ALWAYS = ("key", "value", "isControl")
_PASSED = (*FROM_RECORDS, CORRUPT_RECORD)


class TopicView:
    """Decodes the records of one of Kafka's own topics; one thread at a time may use it.

    Parameters
    ----------
    view : str
        One of the names in `TYPED_COLUMNS`.
    columns : sequence of str
        The columns wanted, in their order, ``_corrupt_record`` among them if damage becomes rows. JSON is only made
        where it is one of them.
    include_secrets : bool, optional
        Whether passwords and keys in the metadata log are shown.
    pool : BlockPool, optional
        Memory for the columns.

    Attributes
    ----------
    schema : Schema
        Of the batches that `decode` gives.
    record_columns : tuple of str
        The columns of ``records`` that `decode` needs.
    """

    def __init__(
        self, view: str, columns: Sequence[str], *, include_secrets: bool = False, pool: BlockPool | None = None
    ) -> None:
        types = view_types(view) | {CORRUPT_RECORD: STRING}
        self.schema = pa.schema([pa.field(name, types[name]) for name in columns])
        needs_file = view == "cluster_metadata" and not SNAPSHOT_TYPES.keys().isdisjoint(columns)
        passed = [name for name in _PASSED if name in columns or (name == "file" and needs_file)]
        self.record_columns = (*_ALWAYS, *(name for name in passed if name not in _ALWAYS))
        pool = pool or BlockPool()
        self._view = view
        self._decoding = Decoding(view, columns, pool)
        hides = view == "cluster_metadata" and not include_secrets and not REDACTED_COLUMNS.isdisjoint(columns)
        self._finder = SecretFinder(pool) if hides else None

    def decode(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Decode the records of a batch; more than one comes out where their JSON is very long.

        Parameters
        ----------
        batch : RecordBatch
            With at least the `record_columns`.
        """
        keys, values = batch.column("key"), batch.column("value")
        is_control = pc.fill_null(batch.column("isControl"), False)
        control = _bytes_of(is_control)
        secrets = Secrets(bytes(len(batch)), pa.nulls(len(batch), pa.bool_()))
        if self._finder is not None:
            secrets = self._finder.find(keys, values, control)
            batch = batch.set_column(
                batch.schema.get_field_index("value"), "value", pc.if_else(secrets.hidden, None, values)
            )
        tombstones = values.is_null()
        for start, piece in self._decoding.decode(keys, values, control, secrets.redacted):
            flags = is_control.slice(start, piece.rows), tombstones.slice(start, piece.rows)
            yield self._batch(batch.slice(start, piece.rows), piece, *flags)

    def _batch(
        self, records: pa.RecordBatch, piece: Decoded, is_control: pa.Array, tombstones: pa.Array
    ) -> pa.RecordBatch:
        arrays = [self._column(name, records, piece, is_control, tombstones) for name in self.schema.names]
        if CORRUPT_RECORD in self.schema.names:
            # A damaged region is no record, and so neither a tombstone nor one that cannot be decoded.
            is_record = records.column(CORRUPT_RECORD).is_null()
            for at, name in enumerate(self.schema.names):
                if name in ("isTombstone", "decodeError"):
                    arrays[at] = pc.if_else(is_record, arrays[at], None)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _column(
        self, name: str, records: pa.RecordBatch, piece: Decoded, is_control: pa.Array, tombstones: pa.Array
    ) -> pa.Array:
        if name == "transactionState":
            # A marker is not a record of the transaction that it ends; its type is the outcome.
            return pc.if_else(is_control, None, records.column(name))
        if name in _PASSED:
            return records.column(name)
        if name in piece.typed:
            return piece.typed[name]
        if name in SNAPSHOT_TYPES:
            return _of_file(name, records.column("file"))
        if name == "recordType":
            return type_names(self._view, piece.types, is_control)
        if name == "version":
            return pc.if_else(tombstones, None, piece.versions).cast(pa.int32())
        if name == "recordTypeId":
            return piece.types.cast(pa.int32())
        if name == "isTombstone":
            return tombstones
        if name == "decodeError":
            return piece.errors
        return piece.json(slots.KEY_JSON if name == "keyJson" else slots.VALUE_JSON)


def _bytes_of(flags: pa.Array) -> bytes:
    """A byte for each flag."""
    numbers = flags.cast(pa.uint8())
    content = numbers.buffers()[1]
    return b"" if content is None else content.slice(numbers.offset, len(numbers)).to_pybytes()


def _of_file(name: str, files: pa.Array) -> pa.Array:
    """What a file's name says of its records, looked up once for each name."""
    encoded = files.dictionary_encode()
    values = pa.array([_place(each)[name] for each in encoded.dictionary.to_pylist()], SNAPSHOT_TYPES[name])
    return values.take(encoded.indices)


def _place(file: str) -> dict[str, str | int | None]:
    last = file.rpartition("/")[2]
    snapshot = METADATA_SNAPSHOT.fullmatch(last)
    if snapshot is not None:
        return {"source": "snapshot", "snapshotOffset": int(snapshot[1]), "snapshotEpoch": int(snapshot[2])}
    source = "bootstrap" if last == METADATA_BOOTSTRAP else "log"
    return {"source": source, "snapshotOffset": None, "snapshotEpoch": None}
