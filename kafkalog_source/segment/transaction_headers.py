"""Transactions by a pass over the headers of a file, the bodies of control batches aside.

A header can be trusted where the batch's checksum is right, and comparing that means
reading the whole batch. Where damage ends the read anyway and all batches that are
passed over are also read as rows, reading the rows finds a wrong header. Elsewhere
every checksum is compared here as well: a batch with a length too large would hide
the markers after it, and one with a wrong producer id would begin a transaction that
never ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crc32c import crc32c

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.memory import Scratch
from kafkalog_source._core.transactions import TransactionTracker
from kafkalog_source.batch import problem_of
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import CodecError, LimitError
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.checks.header_check import checked_events
from kafkalog_source.segment.damage.contradictions import TOO_HIGH
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.damage.faults import BatchFaults
from kafkalog_source.segment.damage.tail import next_sound_entry
from kafkalog_source.segment.damage.trust import Stop, Trust
from kafkalog_source.segment.entries import is_sound, read_header
from kafkalog_source.segment.header_walk import HeaderStop, header_windows
from kafkalog_source.segment.reader import Run
from kafkalog_source.segment.side_files.txn_index import read_txn_index
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from typing_extensions import Buffer

    from kafkalog_source._core.memory import View
    from kafkalog_source.segment.source import LocalFile

_PEEKS = 64
"""Large batches that are passed before asking again whether there is any need to go on."""
_LARGEST_CONTROL_BATCH = 1 << 20
_CONTROL_LIMIT = 1 << 20
_V2 = 2
_END, _PAST_OFFSETS, _NO_MEMORY = CODE["end"], CODE["past_offsets"], CODE["no_memory"]
_BAD_MARKERS = tuple(CODE[name] for name in ("bad_crc", "bad_codec", "control_key"))


def make_tracker(
    begun: Iterable[tuple[int, int]] = (),
    *,
    stop: int = MAX_OFFSET,
    below: int = MAX_OFFSET,
    verify_checksums: bool = True,
) -> TransactionTracker:
    """A tracker that starts with the transactions `begun`; see `TransactionTracker`."""
    decompressor = Decompressor(_CONTROL_LIMIT)

    def decompress(codec: int, magic: int, payload: View) -> Buffer | None:
        try:
            return decompressor(codec, magic, payload)
        except (CodecError, LimitError):
            return None

    return TransactionTracker(crc32c if verify_checksums else None, decompress, begun, stop, below)


class HeaderPass:
    """Takes a tracker through one part of one file.

    Parameters
    ----------
    source : LocalFile
    tracker : TransactionTracker
        Ends where it stops or where all that lies ahead is of no interest to it.
    least, bound : int
        Offsets from `start` on lie in [least, bound).
    end : int
        The position that the file ended at when the read was planned.
    is_last : bool
        Whether a batch that the end of the file cuts is what a live log looks like.
    on_damage : callable
        Called with each damaged region, in file order, after the tracker has counted it as lost. If it returns, the
        pass goes on after the region.
    txn_index : str or None
        The transaction index of the file, which may name a transaction whose abort marker is lost.
    largest_batch : int or None
        If given, the checksum of every batch is compared, and a larger batch is damage.

    Attributes
    ----------
    position : int
        Where the next batch begins.
    """

    def __init__(
        self,
        source: LocalFile,
        tracker: TransactionTracker,
        *,
        least: int,
        bound: int,
        end: int,
        is_last: bool,
        on_damage: Callable[[Damage], None],
        txn_index: str | None = None,
        largest_batch: int | None = None,
    ) -> None:
        self._source = source
        self._tracker = tracker
        self._least = least
        self._bound = bound
        self._end = end
        self._is_last = is_last
        self._looked_twice_at = -1
        self._on_damage = on_damage
        self._txn_index = txn_index
        self._largest_batch = largest_batch
        self._noted: Sequence[tuple[int, int, int]] | None = None
        self._window = Scratch()
        span = Span(0, end, least, bound, tracker.stop, True, is_last)
        self._faults = BatchFaults(source, span, _LARGEST_CONTROL_BATCH)
        self.position = 0
        tracker.start_file(least, bound)

    def run(self, start: int = 0) -> None:
        """Follow the batches from position `start` on."""
        self.position = start
        for _ in self.steps():
            pass

    def steps(self) -> Iterator[None]:
        """Follow the batches from `position` on, giving way now and then."""
        return self._header_steps() if self._largest_batch is None else self._checked_steps(self._largest_batch)

    def _checked_steps(self, largest_batch: int) -> Iterator[None]:
        stop = self._tracker.stop
        span = Span(self.position, self._end, self._least, self._bound, stop, True, self._is_last)
        for event in checked_events(self._source, span, largest_batch):
            if isinstance(event, Run):
                begin, end = event.entries.entry(event.start)[0], event.end - event.position
                self._follow_read(event.window, event.position, begin, end)
                if event.stop < event.entries.count:
                    # The damage that follows it is known already.
                    continue
            elif isinstance(event, Damage):
                self._lose(event)
            if self._tracker.is_settled:
                return
            yield

    def _header_steps(self) -> Iterator[None]:
        tracker = self._tracker
        while self.position < self._end and not (tracker.is_settled and not self._goes_back(self.position)):
            for event in header_windows(self._source, self._window, tracker, self.position, self._end, peeks=_PEEKS):
                if isinstance(event, HeaderStop):
                    if not self._passes_stop(event):
                        return
                    yield
                    break
                self.position = event.end
                yield
                # Meanwhile `take` may have moved on.
                if tracker.is_settled or self.position != event.end:
                    break

    def take(self, memory: Scratch, position: int, start: int, stop: int) -> None:
        """Follow batches that have been read for another purpose, as far as that has not been done.

        They are the bytes from `start` to `stop` of `memory`, whose first one is that at `position`.
        """
        if self._largest_batch is not None:
            # Not all entries of the window need be good: damage is reported when the pass comes to it.
            self.position = max(self.position, position + start)
            return
        at = max(start, self.position - position)
        self.position = max(self.position, position + self._follow_read(memory, position, at, stop))

    def _follow_read(self, memory: Scratch, position: int, start: int, stop: int) -> int:
        """Follow the batches from `start` to `stop` of `memory`; gives where the last followed one ends."""
        at = start
        while at < stop:
            code = self._tracker.walk(memory, stop - at, stop - at, at)
            at += self._tracker.walked
            if code in _BAD_MARKERS:
                size = self._tracker.next_size
                if self._tracker.open:
                    self._lose(self._bad_marker(position + at, size, code))
                at += size
            elif code != _END:
                break
        return at

    def _bad_marker(self, position: int, size: int, code: int) -> Damage:
        """Describe a batch that may have been a marker, in the middle of good ones."""
        following = read_header(self._source, position + size) if position + size < self._end else None
        last = None if following is None else following.first_offset - 1
        first = self._tracker.last_offset + 1
        return Damage(self._source.path, position, size, Kind.DAMAGED, *problem_of(code), None, first, last)

    def _passes_stop(self, stop: HeaderStop) -> bool:
        """Judge the place where no batch can be followed; gives whether the pass goes on after it."""
        tracker, position, code = self._tracker, self.position, stop.code
        if code == _NO_MEMORY:
            raise MemoryError("no memory for open transactions")
        if code == _PAST_OFFSETS and tracker.is_settled:
            return True
        if self._is_last and code != _PAST_OFFSETS and position != self._looked_twice_at:
            # A broker may have been writing here when it was read.
            self._looked_twice_at = position
            return True
        if code != _PAST_OFFSETS and self._goes_back(position):
            return True
        at = Trust(position, tracker.last_offset, tracker.last_offset, _V2)
        verdict = self._faults.at_stop(at, Stop(code, _V2, stop.next_size))
        if verdict.damage is not None:
            self._lose(verdict.damage)
        if verdict.trust is not None:
            self.position = verdict.trust.position
        return verdict.trust is not None

    def _goes_back(self, position: int) -> bool:
        """Take the tracker back if a good batch at `position` shows that the offsets before it are too high."""
        low = read_header(self._source, position)
        if low is None or low.first_offset > self._tracker.last_offset or not is_sound(self._source, low):
            return False
        if not self._least <= low.first_offset <= low.last_offset < self._bound:
            return False
        above = self._tracker.last_offset
        if next_sound_entry(self._source, position + 1, self._end, above, self._bound) is not None:
            return False
        above = self._tracker.last_offset
        # Nothing is lost here: what was followed before carries wrong offsets.
        self._on_damage(Damage(self._source.path, position, low.size, Kind.DAMAGED, *TOO_HIGH, None, above + 1))
        self._tracker.go_back(low.first_offset)
        return True

    def _lose(self, damage: Damage) -> None:
        """Count the markers that a region may have held as lost, and report it."""
        if damage.kind is not Kind.TORN:
            last = self._bound - 1 if damage.last_offset is None else damage.last_offset
            begun = dict(self._tracker.open)
            # An entry of a later transaction of the producer does not name the open one, whose marker is lost.
            noted = [each for each in self._noted_aborts() if begun.get(each[0], -1) >= each[1]]
            self._tracker.lose(last, noted)
        self._on_damage(damage)

    def _noted_aborts(self) -> Sequence[tuple[int, int, int]]:
        """The entries of the transaction index; none if it cannot be read."""
        if self._noted is None:
            path = self._txn_index
            entries = None if path is None else read_txn_index(path, self._least, self._bound)[0]
            self._noted = [entry[:3] for entry in entries or ()]
        return self._noted
