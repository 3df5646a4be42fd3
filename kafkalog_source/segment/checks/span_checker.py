"""Check all batches of a span as a read would, and pass the valid ones on.

Both a check and a read take the events of a `SpanReader`, so they agree on what is
damaged. Here the records are decoded and discarded.
"""

from __future__ import annotations

import errno
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import KafkaLogError, LogDirError
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.damage.tail import next_sound_entry
from kafkalog_source.segment.reader import End, Run, SpanReader, Taker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kafkalog_source._core.decode import Decoder
    from kafkalog_source._core.decode07 import Decoder07
    from kafkalog_source.segment.reader import Event
    from kafkalog_source.segment.source import LocalFile
    from kafkalog_source.segment.span import Span

__all__ = ["CheckedSpan", "SpanChecker", "Taker"]

_LEAST_OFFSET = -(2**63)
_NEVER_FULL = 1 << 40
"""Targets for a table without columns: it is never full, and no batch is too large for it."""
_BLOCK_SIZE = 4096
"""A disk fails to read whole blocks."""


@dataclass(frozen=True, slots=True)
class CheckedSpan:
    """The result of checking a span.

    Attributes
    ----------
    batches, records : int
        The valid ones, including control batches and their records.
    next_offset : int or None
        The offset after the last record; None if the span ends with damage.
    """

    batches: int
    records: int
    next_offset: int | None


class SpanChecker:
    """Checks one span after another and reuses its memory. Each thread needs its own.

    Parameters
    ----------
    largest_batch : int
        Limit on the size of a batch in bytes, both as stored and decompressed.
    """

    def __init__(self, largest_batch: int) -> None:
        self.decompressor = Decompressor(largest_batch)
        self._largest_batch = largest_batch
        self._settings = DecodeSettings(include_control=True, max_decompressed_bytes=largest_batch)
        self._columns = Columns((), BlockPool(), _NEVER_FULL, _NEVER_FULL)
        self._window = Scratch()

    def check(
        self, source: LocalFile, span: Span, takers: Sequence[Taker], on_damage: Callable[[Damage], None]
    ) -> CheckedSpan:
        """Check a span.

        Parameters
        ----------
        source : LocalFile
        span : Span
        takers : sequence of Taker
        on_damage : callable
            Called with each damaged region, in file order.

        Raises
        ------
        KafkaLogError
            The file cannot be read, or is not a segment.
        """
        progress, part = _Progress(span, takers, on_damage), span
        while True:
            next_offset, unreadable = self._try_to_read(source, part, progress)
            if unreadable is None:
                break
            at, least = unreadable.position or 0, progress.last_offset + 1
            start = max(progress.position, part.start)
            self._read(source, replace(part, start=start, end=at, least=least, to_file_end=False), progress)
            start = _readable_again(source, at, span, progress.last_offset)
            progress.lose(_unreadable(unreadable, source.path, at, start, progress.last_offset + 1))
            part = replace(span, start=start, least=progress.last_offset + 1)
        records, _ = self._columns.take()
        return CheckedSpan(progress.batches, records, next_offset)

    def _try_to_read(
        self, source: LocalFile, span: Span, progress: _Progress
    ) -> tuple[int | None, KafkaLogError | None]:
        """Read a span, and return the next offset and the error if the disk cannot read a part of it."""
        try:
            return self._read(source, span, progress), None
        except LogDirError as error:
            if error.position is None or not _is_read_error(error):
                raise
            # A copy, because the raised error keeps the memory alive that was to be filled.
            return None, error.at(source.path, error.position)

    def _read(self, source: LocalFile, span: Span, progress: _Progress) -> int | None:
        if span.start >= span.end:
            return progress.last_offset + 1
        return progress.follow(SpanReader(source, span, self._decoder(span), self._window, self._largest_batch))

    def _decoder(self, span: Span) -> Decoder | Decoder07:
        columns, decompressor, settings = self._columns, self.decompressor, self._settings
        if span.base_07 is not None:
            return make_decoder_07(columns, decompressor, settings, 0, MAX_OFFSET)
        return make_decoder(columns, decompressor, settings, _LEAST_OFFSET, MAX_OFFSET)


class _Progress:
    """The progress of checking a span.

    Attributes
    ----------
    batches : int
        Valid batches so far.
    position : int
        The end of what was found valid or reported as damaged.
    last_offset : int
        The last offset of the last valid batch.
    """

    def __init__(self, span: Span, takers: Sequence[Taker], on_damage: Callable[[Damage], None]) -> None:
        self._takers = takers
        self._on_damage = on_damage
        self.batches = 0
        self.position = span.start
        self.last_offset = span.least - 1

    def follow(self, events: Iterable[Event]) -> int | None:
        """Consume the events of a part, and return the offset after it."""
        next_offset: int | None = None
        for event in events:
            match event:
                case Run():
                    self._show(event)
                case Damage():
                    self.lose(event)
                case End():
                    next_offset = event.next_offset
        return next_offset

    def lose(self, damage: Damage) -> None:
        """Report a damaged region."""
        self.position = max(self.position, damage.position + damage.size)
        self._on_damage(damage)

    def _show(self, run: Run) -> None:
        self.batches += run.count
        for taker in self._takers:
            run.show(taker)
        self.position, self.last_offset = max(self.position, run.end), run.last_offset


class ThreadChecker(threading.local):
    """One checker for each thread.

    Attributes
    ----------
    checker : SpanChecker
    """

    def __init__(self, largest_batch: int) -> None:
        self.checker = SpanChecker(largest_batch)


def _is_read_error(error: LogDirError) -> bool:
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in (errno.EIO, errno.ENXIO, errno.ENODATA)


def _readable_again(source: LocalFile, position: int, span: Span, above: int) -> int:
    """The position of the next batch after one that the disk cannot read; the span's end if there is none."""
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
