"""The headers of the batches in a range of a segment; no payload is decompressed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.headers import HeaderCollector, HeaderTable
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source._core.walk import Entries
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.checks.header_check import checked_events
from kafkalog_source.segment.damage.description import Damage
from kafkalog_source.segment.entries import EntryHeader, entry_header
from kafkalog_source.segment.header_walk import HeaderStop, header_windows
from kafkalog_source.segment.reader import End, Run, SpanReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_source.segment.source import LocalFile
    from kafkalog_source.segment.span import Span

_PEEKS = 1 << 10
"""Large batches between two events. The table may exceed its target by as many rows."""


class Collected(NamedTuple):
    """Headers were added to the table.

    Attributes
    ----------
    is_full : bool
        Whether the table is full, so that its rows have to be taken before the next event.
    """

    is_full: bool


if TYPE_CHECKING:
    HeaderEvent = Collected | Damage | End


class HeaderReader(Protocol):
    """Adds the headers of a span to a table, and gives the span's events.

    Attributes
    ----------
    batches : int
        Batches and messages found so far.
    """

    @property
    def batches(self) -> int: ...  # noqa: D102

    def __iter__(self) -> Iterator[HeaderEvent]: ...


class BatchHeaders:
    """Reads the headers of one span after another into a table.

    Parameters
    ----------
    verify : bool
        Whether the checksum of every batch is compared, which means reading all of it. If not, payloads are passed
        over.
    largest_batch : int
        A batch of more bytes is damage, as it is where records are read.
    memory : Scratch
        For windows, used again from span to span.

    Attributes
    ----------
    table : HeaderTable
    """

    def __init__(self, verify: bool, largest_batch: int, memory: Scratch) -> None:
        self.table = HeaderTable()
        self.memory = memory
        self.largest_batch = largest_batch
        self._verify = verify
        self._columns = Columns([], BlockPool())
        self._decompressor = Decompressor(1)

    def reader(self, source: LocalFile, span: Span, low: int, high: int) -> HeaderReader:
        """A reader of the batches of a span that may hold offsets in [low, high)."""
        self.table.set_range(low, high, span.base_07 is not None)
        if self._verify or span.base_07 is not None:
            return self.whole(source, span)
        return _Skipping(self, source, span)

    def whole(self, source: LocalFile, span: Span) -> HeaderReader:
        """A reader of all bytes of a span."""
        settings = DecodeSettings(verify_checksums=self._verify)
        # Every batch lies below the offsets wanted, so that its records are left alone.
        make = make_decoder if span.base_07 is None else make_decoder_07
        decoder = make(self._columns, self._decompressor, settings, MAX_OFFSET, MAX_OFFSET)
        return _Whole(self.table, SpanReader(source, span, decoder, self.memory, self.largest_batch))


def checked_headers(
    source: LocalFile, span: Span, largest_batch: int, on_damage: Callable[[Damage], None]
) -> Iterator[EntryHeader]:
    """The headers of the batches of a span whose checksums are right; not of Kafka 0.7.

    Parameters
    ----------
    source : LocalFile
    span : Span
    largest_batch : int
        A batch of more bytes is damage.
    on_damage : callable
        Called with each damaged region, in its place among the headers. If it returns, the headers after it follow.
    """
    for event in checked_events(source, span, largest_batch):
        if isinstance(event, Run):
            yield from _headers_of(event)
        elif isinstance(event, Damage):
            on_damage(event)


def _headers_of(run: Run) -> Iterator[EntryHeader]:
    with run.window.view(0, run.end - run.position) as data:
        for index in range(run.start, run.stop):
            yield entry_header(data, run.position, *run.entries.entry(index))


class _Whole:
    """Puts the headers of all good batches into the table."""

    def __init__(self, table: HeaderTable, reader: SpanReader) -> None:
        self._table = table
        self._reader = reader

    @property
    def batches(self) -> int:
        return self._reader.batches

    def __iter__(self) -> Iterator[HeaderEvent]:
        for event in self._reader:
            if isinstance(event, Run):
                event.show(self._table)
                yield Collected(self._table.is_full)
            else:
                yield event


class _Skipping:
    """Goes from header to header. At the first that is wrong it goes back one batch and reads all bytes from there on.

    That batch's row is held back in the table until the next one shows that its offset is right.
    """

    def __init__(self, headers: BatchHeaders, source: LocalFile, span: Span) -> None:
        self._headers = headers
        self._source = source
        self._span = span
        self._entries = Entries(least=span.least, bound=span.bound, stop=span.stop)
        self._collector = HeaderCollector(headers.table, self._entries, span.start, span.end, headers.largest_batch)
        self._rest: HeaderReader | None = None

    @property
    def batches(self) -> int:
        found = self._collector.found
        # The last one found is read again.
        return found if self._rest is None else max(0, found - 1) + self._rest.batches

    def __iter__(self) -> Iterator[HeaderEvent]:
        span, memory, table = self._span, self._headers.memory, self._headers.table
        table.held = 1
        for event in header_windows(self._source, memory, self._collector, span.start, span.end, peeks=_PEEKS):
            if isinstance(event, HeaderStop):
                yield from self._read_rest()
                return
            yield Collected(table.is_full)
        table.held = 0
        yield End(self._entries.last_offset + 1)

    def _read_rest(self) -> Iterator[HeaderEvent]:
        """Read everything from the last good batch on."""
        position, above = self._collector.last_position, self._collector.last_above
        self._headers.table.drop_last(position)
        self._headers.table.held = 0
        self._rest = self._headers.whole(self._source, replace(self._span, start=position, least=above + 1))
        yield from self._rest
