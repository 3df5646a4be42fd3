"""Which transactional id a producer id belongs to, by the records of ``__transaction_state`` in the same paths.

A key is a version and the transactional id; a value begins with its version and the
producer id in all versions up to 4.4 (``TransactionLogKey``, ``TransactionLogValue``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.arrow.batches import ArrowBatches
from kafkalog_source.batch import DecodeSettings, make_decoder
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import KafkaLogError
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir import list_logs
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.reader import Run, SpanReader
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.views.headers import whole_segment

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions

__all__ = ["read_transactional_ids"]

TOPIC = "__transaction_state"
_KEY = struct.Struct(">hh")
"""Version, and the length of the transactional id after it."""
_VALUE = struct.Struct(">hq")
"""Version and producer id."""


def read_transactional_ids(options: ReadOptions, warnings: list[str]) -> dict[int, str]:
    """The transactional id of each producer id that the topic has a record of.

    Parameters
    ----------
    options : ReadOptions
    warnings : list of str
        Takes a sentence for what cannot be read: some ids may be missing then.
    """
    listing = list_logs(options.paths, wanted=lambda topic, _: topic == TOPIC, follow_symlinks=options.follow_symlinks)
    found: dict[int, str] = {}
    for log in listing.partitions:
        if log.topic == TOPIC:
            try:
                for batch in _records(log, options, warnings):
                    _take(batch, found)
            except KafkaLogError as error:
                warnings.append(f"some transactional ids may be missing: {error}")
    return found


def _records(log: PartitionLog, options: ReadOptions, warnings: list[str]) -> Iterator[pa.RecordBatch]:
    """The keys and values of a partition, as far as they are sound."""
    batches, largest = ArrowBatches(("key", "value"), BlockPool()), options.max_decompressed_batch_bytes
    settings = DecodeSettings(options.verify_checksums, max_decompressed_bytes=largest)
    decoder = make_decoder(batches.columns, Decompressor(largest), settings, 0, MAX_OFFSET)
    window = Scratch()
    for segment, bound in zip(log.segments, log.bounds, strict=True):
        span = whole_segment(segment, bound, is_last=segment is log.segments[-1])
        with LocalFile(segment.path) as source:
            for event in SpanReader(source, span, decoder, window, largest):
                if isinstance(event, Damage) and event.kind is not Kind.TORN:
                    warnings.append(f"some transactional ids may be missing: {event.to_text()}")
                full = batches.finish() if isinstance(event, Run) and event.is_full else None
                if full is not None:
                    yield full
    last = batches.finish()
    if last is not None:
        yield last


def _take(batch: pa.RecordBatch, found: dict[int, str]) -> None:
    for key, value in zip(batch["key"].to_pylist(), batch["value"].to_pylist(), strict=True):
        if key is None or value is None or len(key) < _KEY.size or len(value) < _VALUE.size:
            continue
        length, producer = _KEY.unpack_from(key)[1], _VALUE.unpack_from(value)[1]
        name = key[_KEY.size : _KEY.size + length] if length > 0 else b""
        if len(name) == length:
            found[producer] = name.decode("utf-8", "replace")
