"""Headers and checksums of a range of a segment, nothing decompressed and no row built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.segment.opening import span_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_source.segment.damage import Damage
    from kafkalog_source.segment.rows import Span
    from kafkalog_source.segment.source import LocalFile

_MAX_OFFSET = 2**63 - 1


def check_span(source: LocalFile, span: Span, on_damage: Callable[[Damage], None], largest_batch: int) -> None:
    """Tell of every region of a span that is no batch with a right checksum and a rising offset.

    Every batch lies below the offsets wanted, so that its records are left alone.
    """
    columns = Columns([], BlockPool())
    make = make_decoder if span.base_07 is None else make_decoder_07
    decoder = make(columns, Decompressor(1), DecodeSettings(), _MAX_OFFSET, _MAX_OFFSET)
    for _ in span_reader(source, span, decoder, Scratch(), largest_batch, on_damage):
        pass
