"""Which class reads a segment: those of Kafka 0.7, which only their name tells, have their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.decode07 import Decoder07
from kafkalog_source.segment.rows import SpanReader
from kafkalog_source.segment.rows07 import SpanReader07
from kafkalog_source.segment.seek import Seeker
from kafkalog_source.segment.seek07 import Seeker07

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_source._core.decode import Decoder
    from kafkalog_source._core.memory import Scratch
    from kafkalog_source.segment.damage import Damage
    from kafkalog_source.segment.rows import Span
    from kafkalog_source.segment.seek import SegmentPlace
    from kafkalog_source.segment.source import LocalFile

__all__ = ["open_seeker", "span_reader"]


def open_seeker(place: SegmentPlace) -> Seeker:
    """Open a segment to look places up in it."""
    return Seeker07(place) if place.is_07 else Seeker(place)


def span_reader(
    source: LocalFile,
    span: Span,
    decoder: Decoder | Decoder07,
    memory: Scratch,
    largest_batch: int,
    on_damage: Callable[[Damage], None],
) -> SpanReader:
    """Give the reader of a span; a decoder for Kafka 0.7 says which it is."""
    if isinstance(decoder, Decoder07):
        return SpanReader07(source, span, decoder, memory, largest_batch, on_damage)
    return SpanReader(source, span, decoder, memory, largest_batch, on_damage)
