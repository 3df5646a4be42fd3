"""The events of a range of a segment: runs of good batches, damage, and the end.

Only this module hands windows of a segment to a decoder. The decoder tells good
batches from bad ones, `Faults` describes what is wrong and where reading goes on, and
the consumer of the events decides what follows from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.decode import Decoder
from kafkalog_source._core.decode07 import Decoder07
from kafkalog_source.batch import problem_of
from kafkalog_source.errors import CodecError, LimitError
from kafkalog_source.segment.damage.faults import BatchFaults
from kafkalog_source.segment.damage.trust import Trust, WindowTrust
from kafkalog_source.segment.v07.faults import MessageFaults07
from kafkalog_source.segment.window import Window

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from kafkalog_source._core.memory import Scratch
    from kafkalog_source._core.walk import Entries
    from kafkalog_source.segment.damage.description import Damage
    from kafkalog_source.segment.damage.trust import Faults, Verdict
    from kafkalog_source.segment.source import LocalFile
    from kafkalog_source.segment.span import Span

FIRST_WINDOW_SIZE = 1 << 16
WINDOW_SIZE = 1 << 20
AHEAD_WINDOW_SIZE = 1 << 21
"""The largest window while transactions are resolved: batches in the window need not be read ahead."""
_END, _FULL, _INCOMPLETE, _NO_MEMORY = (CODE[name] for name in ("end", "full", "incomplete", "no_memory"))


class Taker(Protocol):
    """Takes good entries, in file order.

    The classes of `_core.indexes` and `_core.producers` implement it.
    """

    def take(self, window: Scratch, window_position: int, entries: Entries, start: int, stop: int) -> None:
        """The entries [start, stop) of a window, whose first byte is that at `window_position` of the file."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """Good entries in a row, valid until the next event is asked for.

    Attributes
    ----------
    window : Scratch
    position : int
        Of the window's first byte in the file.
    entries : Entries
        Of the window.
    start, stop : int
        The run is entries [start, stop); it is empty where a part of one entry has filled the columns.
    is_full : bool
        Whether the columns are full, so that they have to be taken before the next event.
    """

    window: Scratch
    position: int
    entries: Entries
    start: int
    stop: int
    is_full: bool = False

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self.stop - self.start

    @property
    def end(self) -> int:
        """The position after the last entry of a run that is not empty."""
        start, size, *_ = self.entries.entry(self.stop - 1)
        return self.position + start + size

    @property
    def last_offset(self) -> int:
        """The last offset of a run that is not empty."""
        return self.entries.entry(self.stop - 1)[5]

    def show(self, taker: Taker) -> None:
        """Hand the entries to `taker`."""
        taker.take(self.window, self.position, self.entries, self.start, self.stop)


@dataclass(frozen=True, slots=True)
class End:
    """The end of a range; no event comes after it.

    Attributes
    ----------
    next_offset : int or None
        The offset after the last one, if the range was read to its end; None if damage is what it ends with.
    """

    next_offset: int | None


if TYPE_CHECKING:
    Event = Run | Damage | End


class SpanReader:
    """Reads one span of one file; iterating over it gives the events.

    Parameters
    ----------
    source : LocalFile
    span : Span
    decoder : Decoder or Decoder07
        Appends the rows of good entries to its columns.
    memory : Scratch
        For the windows, used again from span to span.
    largest_batch : int
        A batch of more bytes is refused.

    Attributes
    ----------
    batches : int
        Batches and top-level messages found so far, good or not.
    reached : int or None
        All offsets below this one, and no others, have been read when a window could not be filled. None while a window
        is being decoded.
    """

    def __init__(
        self, source: LocalFile, span: Span, decoder: Decoder | Decoder07, memory: Scratch, largest_batch: int
    ) -> None:
        self._path = source.path
        self._span = span
        self._decoder = decoder
        self._window = Window(source, memory, span.end)
        self._largest_batch = largest_batch
        self._faults: Faults
        if isinstance(decoder, Decoder07):
            self._faults = MessageFaults07(source, span, largest_batch)
        else:
            is_outdated, give_back = self._window.is_outdated, decoder.give_back
            self._faults = BatchFaults(source, span, largest_batch, is_outdated, give_back)
        self.batches = 0
        self.reached: int | None = None

    def __iter__(self) -> Iterator[Event]:
        """Read the span. After a `Damage`, the events of what lies after it follow."""
        span, faults = self._span, self._faults
        trust, want = Trust(span.start, span.least - 1, span.least - 1), FIRST_WINDOW_SIZE
        while trust.position < span.end:
            self.reached = trust.above + 1
            self._window.fill(trust.position, want)
            self.reached = None
            stop = faults.walk(self._window, trust)
            known = WindowTrust(trust, faults.entries, stop.magic)
            self.batches += faults.entries.count
            verdict = yield from self._decode(trust.position, known)
            want = min(4 * want, self._largest_window())
            if verdict is None:
                trust = known.at(faults.entries.count)
                if stop.code == _END:
                    continue
                if stop.code == _INCOMPLETE and stop.next_size <= min(span.end - trust.position, self._largest_batch):
                    want = max(want, stop.next_size)
                    continue
                verdict = faults.at_stop(trust, stop)
                if verdict.damage is not None:
                    yield verdict.damage
            if verdict.trust is None:
                yield End(None)
                return
            trust = verdict.trust
        yield End(faults.next_offset(trust))

    def _largest_window(self) -> int:
        looks_ahead = isinstance(self._decoder, Decoder) and self._decoder.looks_ahead
        return AHEAD_WINDOW_SIZE if looks_ahead else WINDOW_SIZE

    def _decode(self, position: int, known: WindowTrust) -> Generator[Event, None, Verdict | None]:
        """The entries of the window at `position`.

        Gives the verdict on a bad entry after which reading goes on elsewhere; None if there is none.
        """
        decoder, entries, start = self._decoder, self._faults.entries, 0
        found = entries.count
        decoder.start()
        while True:
            code, error = self._decode_some(position)
            stop = entries.count if code == _END else decoder.index
            if stop > start or code == _FULL:
                yield Run(self._window.memory, position, entries, start, stop, code == _FULL)
            if code == _END:
                return None
            start = stop
            if code == _FULL:
                continue
            verdict = self._faults.bad_entry(known.at(stop), stop, code, error)
            decoder.skip()
            start = stop + 1
            if verdict.trust is None or not verdict.is_inside:
                # The entries after it are walked again; the bad entry counts unless its length is wrong as well.
                self.batches -= found - min(start, entries.count)
            if verdict.damage is not None:
                yield verdict.damage
            if verdict.trust is None or not verdict.is_inside:
                return verdict
            known.correct(start, verdict.trust.above)

    def _decode_some(self, position: int) -> tuple[int, CodecError | LimitError | None]:
        """Decode until the window ends, the columns are full or an entry is bad; gives the code and the codec's error.

        Raises
        ------
        MemoryError
        """
        try:
            code = self._decoder.decode(self._window.memory, position, self._faults.entries)
        except (CodecError, LimitError) as raised:
            return CODE["bad_codec"], raised
        if code == _NO_MEMORY:
            raise MemoryError(f"{self._path}, position {position}: {problem_of(code)[0]}")
        return code, None
