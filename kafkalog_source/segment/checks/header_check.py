"""Headers and checksums of a range of a segment, nothing decompressed and no row built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.reader import SpanReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.segment.reader import Event
    from kafkalog_source.segment.source import LocalFile
    from kafkalog_source.segment.span import Span


def checked_events(source: LocalFile, span: Span, largest_batch: int) -> Iterator[Event]:
    """The events of a span whose batches are good if their headers, checksums and rising offsets are."""
    # The records are left alone, because every batch lies below the offsets wanted.
    make = make_decoder if span.base_07 is None else make_decoder_07
    decoder = make(Columns([], BlockPool()), Decompressor(1), DecodeSettings(), MAX_OFFSET, MAX_OFFSET)
    return iter(SpanReader(source, span, decoder, Scratch(), largest_batch))


def is_damaged(source: LocalFile, span: Span, largest_batch: int) -> bool:
    """Whether anything in a span is damaged besides a torn end."""
    events = checked_events(source, span, largest_batch)
    return any(isinstance(event, Damage) and event.kind is not Kind.TORN for event in events)
