"""The headers of the batches in a range of a segment; no payload is decompressed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.headers import HeaderTable
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

    from kafkalog_source.segment.reader import Event
    from kafkalog_source.segment.source import LocalFile
    from kafkalog_source.segment.span import Span


class HeaderReader(Protocol):
    """Fills a table with the headers of a span, and gives the span's events; a run is full where the table is.

    Attributes
    ----------
    batches : int
        Batches and messages found so far.
    """

    @property
    def batches(self) -> int: ...  # noqa: D102

    def __iter__(self) -> Iterator[Event]: ...


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

    def __iter__(self) -> Iterator[Event]:
        for event in self._reader:
            if isinstance(event, Run):
                event.show(self._table)
                yield replace(event, is_full=self._table.is_full)
            else:
                yield event


class _Skipping:
    """Goes from header to header. At the first that is wrong it goes back one batch and reads all bytes from there on.

    That batch's row is held back in the table until the next one shows that its offset is right.
    """

    def __init__(self, headers: BatchHeaders, source: LocalFile, span: Span) -> None:
        self._headers = headers
        self._table = headers.table
        self._source = source
        self._span = span
        self._found = 0
        self._last = (span.start, span.least - 1)
        self._rest: HeaderReader | None = None

    @property
    def batches(self) -> int:
        return self._found if self._rest is None else self._found + self._rest.batches

    def __iter__(self) -> Iterator[Event]:
        span, memory = self._span, self._headers.memory
        entries, above = Entries(least=span.least, bound=span.bound, stop=span.stop), span.least - 1
        self._table.held = 1
        for event in header_windows(self._source, memory, entries, span.start, span.end):
            if isinstance(event, HeaderStop):
                yield from self._read_rest()
                return
            taken = self._take(event.position, entries, above)
            yield Run(memory, event.position, entries, 0, taken, self._table.is_full)
            if taken < entries.count:
                yield from self._read_rest()
                return
            above = entries.last_offset
        self._table.held = 0
        yield End(above + 1)

    def _take(self, position: int, entries: Entries, above: int) -> int:
        """Take the batches of the window up to one that is too large or of an unknown codec; gives how many."""
        stop = entries.good_headers(self._headers.largest_batch)
        if stop:
            self._table.take(self._headers.memory, position, entries, 0, stop)
            self._found += stop
            self._last = (position + entries.entry(stop - 1)[0], entries.entry(stop - 2)[5] if stop > 1 else above)
        return stop

    def _read_rest(self) -> Iterator[Event]:
        """Read everything from the last good batch on."""
        position, above = self._last
        self._table.drop_last(position)
        self._table.held = 0
        self._found = max(0, self._found - 1)
        span = replace(self._span, start=position, least=above + 1)
        self._rest = self._headers.whole(self._source, span)
        yield from self._rest
