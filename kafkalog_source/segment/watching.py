"""Decoders that show the good entries of a span to whoever asks, run by run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.decode import Decoder
from kafkalog_source._core.decode07 import Decoder07

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source._core.memory import Scratch
    from kafkalog_source._core.walk import Entries
    from kafkalog_source.segment.rows import Span

_END = CODE["end"]


class Taker(Protocol):
    """Is shown the good entries of a span, in their order.

    The classes of `_core.indexes` and `_core.producers` are such.
    """

    def take(self, window: Scratch, window_position: int, entries: Entries, start: int, stop: int) -> None:
        """The entries [start, stop) of a window, whose first byte is that at `window_position` of the file."""
        ...


class Watch:
    """Shows the runs of entries between bad ones, as soon as they are known to be good.

    Parameters
    ----------
    takers : sequence of Taker
    span : Span

    Attributes
    ----------
    batches : int
        Good ones so far.
    position, last_offset : int
        The end of the last good one, and its last offset.
    """

    def __init__(self, takers: Sequence[Taker], span: Span) -> None:
        self._takers = takers
        self._next = 0
        self._window: tuple[Scratch, int, Entries] | None = None
        self.batches = 0
        self.position = span.start
        self.last_offset = span.least - 1

    def start(self) -> None:
        """A new window begins."""
        self._next = 0
        self._window = None

    def look_at(self, window: Scratch, window_position: int, entries: Entries) -> None:
        """These are the entries that are being decoded."""
        self._window = (window, window_position, entries)

    def skip(self, index: int) -> None:
        """The entry is bad: those before it are good, and those behind it may not even be entries."""
        self.take_before(index)
        self._next = index + 1

    def take_before(self, stop: int) -> None:
        """The entries up to `stop` that have not been shown are good."""
        if self._window is None or self._next >= stop:
            return
        window, window_position, entries = self._window
        self.batches += stop - self._next
        for taker in self._takers:
            taker.take(window, window_position, entries, self._next, stop)
        start, size, *_, last_offset = entries.entry(stop - 1)
        self.position, self.last_offset = window_position + start + size, last_offset
        self._next = stop


if TYPE_CHECKING:
    _AnyDecoder = Decoder
else:
    _AnyDecoder = object


class _Watched(_AnyDecoder):
    """Stands before either decoder and tells `watch` which entries are good."""

    watch: Watch

    def start(self) -> None:
        """See `Decoder`."""
        self.watch.start()
        super().start()

    def skip(self) -> None:
        """See `Decoder`."""
        self.watch.skip(self.index)
        super().skip()

    def decode(self, window: Scratch, window_position: int, entries: Entries) -> int:
        """See `Decoder`."""
        self.watch.look_at(window, window_position, entries)
        code = super().decode(window, window_position, entries)
        if code == _END:
            self.watch.take_before(entries.count)
        return code


class WatchedDecoder(_Watched, Decoder):
    """Tells its `watch` which entries are good."""


class WatchedDecoder07(_Watched, Decoder07):
    """The same for Kafka 0.7."""
