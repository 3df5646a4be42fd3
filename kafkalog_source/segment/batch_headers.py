"""What the headers of a range of a segment say, batch by batch; no payload is decompressed."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.columns import Columns
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source._core.walk import Entries, HeaderTable
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.format import V2_HEADER_SIZE, Codec
from kafkalog_source.segment.checking import checked_steps
from kafkalog_source.segment.damage import Damage
from kafkalog_source.segment.entries import EntryHeader, HeaderRun
from kafkalog_source.segment.opening import span_reader
from kafkalog_source.segment.watching import Watch, WatchedDecoder, WatchedDecoder07
from kafkalog_source.segment.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_source.segment.rows import Span
    from kafkalog_source.segment.source import LocalFile

_MAX_OFFSET = 2**63 - 1
_END, _FULL, _INCOMPLETE = (CODE[name] for name in ("end", "full", "incomplete"))
_FIRST_WINDOW_SIZE = 1 << 12
_WINDOW_SIZE = 1 << 18
_SPARSE = 1 << 13
"""From this mean size of a batch on, reading each header alone costs less than reading everything."""
_V2 = 2


class HeaderReader(Protocol):
    """Fills a table with the headers of a span.

    Attributes
    ----------
    next_offset : int or None
        The offset after the last one, once the span was read to its end; None if damage is what it ends with.
    batches : int
        Batches and messages found so far.
    """

    @property
    def next_offset(self) -> int | None: ...  # noqa: D102

    @property
    def batches(self) -> int: ...  # noqa: D102

    def __iter__(self) -> Iterator[None]:
        """Give way whenever the table is full, and behind all damage; rows may be left in it at the end."""
        ...


class BatchHeaders:
    """Reads the headers of one span after another into a table.

    Parameters
    ----------
    verify : bool
        Whether the checksum of every batch is compared, for which all of it is read. Without, payloads are passed over.
    largest_batch : int
        A batch of more bytes is refused, as where records are read.
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
        unverified = DecodeSettings(verify_checksums=False)
        self._checker = make_decoder(self._columns, self._decompressor, unverified, _MAX_OFFSET, _MAX_OFFSET)

    def reader(
        self, source: LocalFile, span: Span, low: int, high: int, on_damage: Callable[[Damage], None]
    ) -> HeaderReader:
        """Give what reads the batches of a span that may hold offsets in [low, high)."""
        self.table.set_range(low, high, span.base_07 is not None)
        if self._verify or span.base_07 is not None:
            return self.whole(source, span, on_damage)
        return _Skipping(self, source, span, on_damage)

    def good_entries(self, position: int, entries: Entries, window_size: int) -> int:
        """How many entries of the window, from the first one on, are of known codecs and not too large."""
        self._checker.start()
        code = self._checker.decode(self.memory, position, entries)
        good = entries.count if code == _END else self._checker.index
        if window_size > self.largest_batch:
            too_large = (index for index in range(good) if entries.entry(index)[1] > self.largest_batch)
            good = next(too_large, good)
        return good

    def whole(self, source: LocalFile, span: Span, on_damage: Callable[[Damage], None]) -> HeaderReader:
        """Give what reads all bytes of a span and says what is damaged there."""
        settings = DecodeSettings(verify_checksums=self._verify)
        # Every batch lies below the offsets wanted, so that its records are left alone.
        low = high = _MAX_OFFSET
        decoder: WatchedDecoder | WatchedDecoder07
        if span.base_07 is None:
            made = make_decoder(self._columns, self._decompressor, settings, low, high, kind=_Decoder)
            assert isinstance(made, _Decoder)
            made.table = self.table
            decoder = made
        else:
            made_07 = make_decoder_07(self._columns, self._decompressor, settings, low, high, _Decoder07)
            assert isinstance(made_07, _Decoder07)
            made_07.table = self.table
            decoder = made_07
        decoder.watch = Watch([self.table], span)
        return span_reader(source, span, decoder, self.memory, self.largest_batch, on_damage)


def checked_headers(
    source: LocalFile, span: Span, largest_batch: int, on_damage: Callable[[Damage], None]
) -> Iterator[EntryHeader]:
    """The headers of the batches of a span whose checksums are right; not of Kafka 0.7.

    What is read and found to be damaged lies some way ahead of what was given. It is told of in its place among the
    headers, so that nobody hears of damage behind the batch that was looked for.

    Parameters
    ----------
    source : LocalFile
    span : Span
    largest_batch : int
        A batch of more bytes is damage.
    on_damage : callable
        Told of what no header is given of. If it returns, those behind are given.
    """
    found = _Found()
    for _ in checked_steps(source, span, found, found.in_order.append, largest_batch):
        yield from found.headers(on_damage)
    yield from found.headers(on_damage)


class _Found:
    """Headers and damage in the order in which they lie in the file."""

    def __init__(self) -> None:
        self.in_order: deque[EntryHeader | Damage] = deque()

    def take(self, window: Scratch, window_position: int, entries: Entries, start: int, stop: int) -> None:
        """See `Taker`."""
        last_start, last_size, *_ = entries.entry(stop - 1)
        with window.view(0, last_start + last_size) as data:
            run = HeaderRun(window_position, entries, data)
            self.in_order.extend(run.header(index) for index in range(start, stop))

    def headers(self, on_damage: Callable[[Damage], None]) -> Iterator[EntryHeader]:
        """Hand over what was found."""
        while self.in_order:
            each = self.in_order.popleft()
            if isinstance(each, Damage):
                on_damage(each)
            else:
                yield each


class _Decoder(WatchedDecoder):
    table: HeaderTable

    def decode(self, window: Scratch, window_position: int, entries: Entries) -> int:
        code = super().decode(window, window_position, entries)
        return _FULL if code == _END and self.table.is_full else code


class _Decoder07(WatchedDecoder07):
    table: HeaderTable

    def decode(self, window: Scratch, window_position: int, entries: Entries) -> int:
        code = super().decode(window, window_position, entries)
        return _FULL if code == _END and self.table.is_full else code


class _Skipping:
    """Goes from header to header, and has whatever is not in order looked at as a whole, from the batch before it on.

    That batch's row is held back in the table until the next one shows that its offset is right.
    """

    def __init__(
        self, headers: BatchHeaders, source: LocalFile, span: Span, on_damage: Callable[[Damage], None]
    ) -> None:
        self._headers = headers
        self._table = headers.table
        self._source = source
        self._span = span
        self._on_damage = on_damage
        self._window = Window(source, headers.memory, span.end)
        self._entries = Entries(least=span.least, bound=span.bound, stop=span.stop)
        self._found = 0
        self._last = (span.start, span.least - 1)
        self._rest: HeaderReader | None = None

    @property
    def batches(self) -> int:
        return self._found if self._rest is None else self._found + self._rest.batches

    @property
    def next_offset(self) -> int | None:
        return self._entries.last_offset + 1 if self._rest is None else self._rest.next_offset

    def __iter__(self) -> Iterator[None]:
        position, want, entries = self._span.start, _FIRST_WINDOW_SIZE, self._entries
        self._table.held = 1
        while position < self._span.end:
            self._window.fill(position, want)
            above = entries.last_offset
            code = entries.walk(self._headers.memory, self._window.size)
            is_good = self._take(position, above)
            position += entries.walked
            if is_good and code != _END:
                is_good = self._fits(code, position)
                if is_good and entries.count == 0:
                    is_good = self._take_large(position)
                    position += entries.next_size
            if self._table.is_full:
                yield
            if not is_good:
                yield from self._look_at_rest()
                break
            want = self._next_want(want)
        self._table.held = 0

    def _take(self, position: int, above: int) -> bool:
        """Take the batches of the window up to one that is too large or of an unknown codec; gives whether none is."""
        entries = self._entries
        stop = self._headers.good_entries(position, entries, self._window.size)
        if stop:
            self._table.take(self._headers.memory, position, entries, 0, stop)
            self._found += stop
            self._last = (position + entries.entry(stop - 1)[0], entries.entry(stop - 2)[5] if stop > 1 else above)
        return stop == entries.count

    def _fits(self, code: int, position: int) -> bool:
        """Whether the walk ended only because a batch goes on behind the window."""
        most = min(self._span.end - position, self._headers.largest_batch)
        return code == _INCOMPLETE and self._entries.next_size <= most

    def _take_large(self, position: int) -> bool:
        """Take the batch that goes on behind the window, of which the header is in it; gives whether it is right."""
        entries, above = self._entries, self._entries.last_offset
        found = self._table.take_header(self._headers.memory, position, self._window.size, above)
        if found is None:
            return False
        first, last, magic, codec = found
        if first <= above or last >= self._span.bound or not _codec_exists(magic, codec):
            self._table.drop_last(position)
            return False
        entries.skip_to(last)
        self._found += 1
        self._last = (position, above)
        return True

    def _next_want(self, want: int) -> int:
        size = self._entries.walked or self._entries.next_size
        if size > _SPARSE * max(self._entries.count, 1):
            return V2_HEADER_SIZE
        return min(max(4 * want, _FIRST_WINDOW_SIZE), _WINDOW_SIZE)

    def _look_at_rest(self) -> Iterator[None]:
        """Look at everything from the last good batch on."""
        position, above = self._last
        self._table.drop_last(position)
        self._table.held = 0
        self._found = max(0, self._found - 1)
        span = replace(self._span, start=position, least=above + 1)
        self._rest = self._headers.whole(self._source, span, self._on_damage)
        yield from self._rest


def _codec_exists(magic: int, codec: int) -> bool:
    """Zstd came with v2 and is not legal before."""
    return codec <= (Codec.ZSTD if magic == _V2 else Codec.LZ4)
