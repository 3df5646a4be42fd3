"""All batches of a span checked as a read would check them, and those that are good shown to whoever asks.

What is damage here is what is damage in a read, since `SpanReader` decides it in
both; the records are decoded and thrown away.
"""

from __future__ import annotations

import errno
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.decode import Decoder
from kafkalog_source._core.decode07 import Decoder07
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import KafkaLogError, LogDirError
from kafkalog_source.segment.damage import Damage, Kind
from kafkalog_source.segment.opening import span_reader
from kafkalog_source.segment.tail import next_sound_entry
from kafkalog_source.segment.watching import Taker, Watch, WatchedDecoder, WatchedDecoder07

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kafkalog_source.segment.rows import Span
    from kafkalog_source.segment.source import LocalFile

__all__ = ["Surveyed", "Surveyor", "Taker"]

_LEAST_OFFSET, _MAX_OFFSET = -(2**63), 2**63 - 1
_NEVER_FULL = 1 << 40
"""Columns without any are never full, and no batch is too large for them."""
_BLOCK_SIZE = 4096
"""What a disk cannot read it cannot read as a whole block."""


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What a span holds.

    Attributes
    ----------
    batches, records : int
        Good ones; control records count too.
    next_offset : int or None
        The offset after the last one; None if damage is what the span ends with.
    """

    batches: int
    records: int
    next_offset: int | None


class Surveyor:
    """Checks one span after another, with memory that is used again; each thread has its own.

    Parameters
    ----------
    largest_batch : int
        Most bytes that a batch may have, on disk and decompressed.
    """

    def __init__(self, largest_batch: int) -> None:
        self.decompressor = Decompressor(largest_batch)
        self._largest_batch = largest_batch
        self._settings = DecodeSettings(include_control=True, max_decompressed_bytes=largest_batch)
        self._columns = Columns((), BlockPool(), _NEVER_FULL, _NEVER_FULL)
        self._window = Scratch()

    def survey(
        self, source: LocalFile, span: Span, takers: Sequence[Taker], on_damage: Callable[[Damage], None]
    ) -> Surveyed:
        """Check a span.

        Parameters
        ----------
        source : LocalFile
        span : Span
        takers : sequence of Taker
        on_damage : callable
            Told of every region that is no good, as it is met.

        Raises
        ------
        KafkaLogError
            The file cannot be read, or is no segment at all.
        """
        watch = Watch(takers, span)
        told_to = -1

        def tell(damage: Damage) -> None:
            nonlocal told_to
            told_to = max(told_to, damage.position + damage.size)
            on_damage(damage)

        part = span
        while True:
            next_offset, unreadable = self._try_to_read(source, part, watch, tell)
            if unreadable is None:
                break
            at, least = unreadable.position or 0, watch.last_offset + 1
            start = max(watch.position, told_to, part.start)
            self._read(source, replace(part, start=start, end=at, least=least, to_file_end=False), watch, tell)
            start = _behind_unreadable(source, at, span, watch.last_offset)
            tell(_unreadable(unreadable, source.path, at, start, watch.last_offset + 1))
            part = replace(span, start=start, least=watch.last_offset + 1)
        records, _ = self._columns.take()
        return Surveyed(watch.batches, records, next_offset)

    def _try_to_read(
        self, source: LocalFile, span: Span, watch: Watch, on_damage: Callable[[Damage], None]
    ) -> tuple[int | None, KafkaLogError | None]:
        """Read a span; gives the error, if the disk cannot read a part of it."""
        try:
            return self._read(source, span, watch, on_damage), None
        except LogDirError as error:
            if error.position is None or not _is_read_error(error):
                raise
            # The one that was raised holds on to the memory that was to be filled.
            return None, error.at(source.path, error.position)

    def _read(self, source: LocalFile, span: Span, watch: Watch, on_damage: Callable[[Damage], None]) -> int | None:
        if span.start >= span.end:
            return watch.last_offset + 1
        reader = span_reader(source, span, self._decoder(span, watch), self._window, self._largest_batch, on_damage)
        for _ in reader:
            pass
        return reader.next_offset

    def _decoder(self, span: Span, watch: Watch) -> Decoder | Decoder07:
        columns, decompressor, settings = self._columns, self.decompressor, self._settings
        decoder: Decoder | Decoder07
        if span.base_07 is not None:
            decoder = make_decoder_07(columns, decompressor, settings, 0, _MAX_OFFSET, WatchedDecoder07)
        else:
            decoder = make_decoder(columns, decompressor, settings, _LEAST_OFFSET, _MAX_OFFSET, kind=WatchedDecoder)
        assert isinstance(decoder, WatchedDecoder | WatchedDecoder07)
        decoder.watch = watch
        return decoder


class OwnSurveyor(threading.local):
    """A surveyor for each thread that asks.

    Attributes
    ----------
    surveyor : Surveyor
    """

    def __init__(self, largest_batch: int) -> None:
        self.surveyor = Surveyor(largest_batch)


def _is_read_error(error: LogDirError) -> bool:
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in (errno.EIO, errno.ENXIO, errno.ENODATA)


def _behind_unreadable(source: LocalFile, position: int, span: Span, above: int) -> int:
    """Where a batch begins behind a place that the disk cannot read; the span's end if none does."""
    while position < span.end:
        position = min((position // _BLOCK_SIZE + 1) * _BLOCK_SIZE, span.end)
        try:
            found = (
                None if span.base_07 is not None else next_sound_entry(source, position, span.end, above, span.bound)
            )
        except LogDirError as error:
            if error.position is None or not _is_read_error(error):
                raise
            position = max(position, error.position)
            continue
        return span.end if found is None else found
    return span.end


def _unreadable(error: KafkaLogError, file: str, position: int, end: int, first_offset: int) -> Damage:
    return Damage(file, position, end - position, Kind.DAMAGED, error.problem, None, error, first_offset)
