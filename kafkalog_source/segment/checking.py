"""Headers and checksums of a range of a segment, nothing decompressed and no row built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.columns import Columns
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.segment.damage import Damage, Kind
from kafkalog_source.segment.opening import span_reader
from kafkalog_source.segment.watching import Watch, WatchedDecoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_source._core.decode import Decoder
    from kafkalog_source._core.decode07 import Decoder07
    from kafkalog_source._core.walk import Entries
    from kafkalog_source.segment.rows import Span
    from kafkalog_source.segment.source import LocalFile
    from kafkalog_source.segment.watching import Taker

_MAX_OFFSET = 2**63 - 1
_END, _FULL = CODE["end"], CODE["full"]


def check_span(source: LocalFile, span: Span, on_damage: Callable[[Damage], None], largest_batch: int) -> None:
    """Tell of every region of a span that is no batch with a right checksum and a rising offset."""
    for _ in _steps(source, span, _decoder(span), on_damage, largest_batch):
        pass


def is_damaged(source: LocalFile, span: Span, largest_batch: int) -> bool:
    """Whether there is such a region in a span besides a torn end."""
    found: list[Damage] = []
    check_span(source, span, found.append, largest_batch)
    return any(each.kind is not Kind.TORN for each in found)


def checked_steps(
    source: LocalFile, span: Span, taker: Taker, on_damage: Callable[[Damage], None], largest_batch: int
) -> Iterator[None]:
    """The same window by window, with the good entries shown, which may not be those of Kafka 0.7."""
    decoder = make_decoder(
        Columns([], BlockPool()), Decompressor(1), DecodeSettings(), _MAX_OFFSET, _MAX_OFFSET, kind=_PausingDecoder
    )
    assert isinstance(decoder, _PausingDecoder)
    decoder.watch = Watch([taker], span)
    return _steps(source, span, decoder, on_damage, largest_batch)


class _PausingDecoder(WatchedDecoder):
    """Gives way behind every window, so that no more is read than somebody needs to know."""

    _gave_way = False

    def start(self) -> None:
        """See `Decoder`."""
        self._gave_way = False
        super().start()

    def decode(self, window: Scratch, window_position: int, entries: Entries) -> int:
        """See `Decoder`."""
        code = super().decode(window, window_position, entries)
        if code != _END or self._gave_way:
            return code
        self._gave_way = True
        return _FULL


def _decoder(span: Span) -> Decoder | Decoder07:
    """One that leaves the records alone, because every batch lies below the offsets wanted."""
    make = make_decoder if span.base_07 is None else make_decoder_07
    return make(Columns([], BlockPool()), Decompressor(1), DecodeSettings(), _MAX_OFFSET, _MAX_OFFSET)


def _steps(
    source: LocalFile,
    span: Span,
    decoder: Decoder | Decoder07,
    on_damage: Callable[[Damage], None],
    largest_batch: int,
) -> Iterator[None]:
    return iter(span_reader(source, span, decoder, Scratch(), largest_batch, on_damage))
