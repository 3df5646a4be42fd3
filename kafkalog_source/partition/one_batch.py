"""Decodes a single batch for a lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.arrow.batches import ArrowBatches
from kafkalog_source.batch import DecodeSettings, make_decoder
from kafkalog_source.codecs import Decompressor
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.damage.description import Damage, raise_damage
from kafkalog_source.segment.reader import Run, SpanReader
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.segment.entries import EntryHeader
    from kafkalog_source.segment.seek import SegmentPlace
    from kafkalog_source.segment.source import LocalFile


def rows_of_batch(
    source: LocalFile,
    header: EntryHeader,
    place: SegmentPlace,
    columns: Sequence[str],
    low: int,
    options: ReadOptions,
    on_damage: Callable[[Damage], None] = raise_damage,
) -> Iterator[pa.RecordBatch]:
    """The rows at or above offset `low` of the entry with this header, including control records.

    Raises
    ------
    CorruptBatchError, LimitError
        If it is damaged and `on_damage` raises. A torn batch at the end of the log yields no rows instead.
    """
    batches = ArrowBatches(columns, BlockPool())
    largest = options.max_decompressed_batch_bytes
    settings = DecodeSettings(options.verify_checksums, include_control=True, max_decompressed_bytes=largest)
    decoder = make_decoder(batches.columns, Decompressor(largest), settings, low, MAX_OFFSET)
    is_last = place.bound == MAX_OFFSET
    end = header.position + header.size
    span = Span(header.position, end, place.least, place.bound, place.bound, is_last, is_last)
    for event in SpanReader(source, span, decoder, Scratch(), largest):
        if isinstance(event, Damage):
            on_damage(event)
        full = batches.finish() if isinstance(event, Run) and event.is_full else None
        if full is not None:
            yield full
    last = batches.finish()
    if last is not None:
        yield last
