"""The rows of a range of a segment: windows in, full columns out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.decode import Decoder
from kafkalog_source._core.walk import Entries
from kafkalog_source.batch import problem_of
from kafkalog_source.errors import CodecError, LimitError
from kafkalog_source.segment.damage import Damage, Kind
from kafkalog_source.segment.entries import behind_wrong_offset, read_header
from kafkalog_source.segment.tail import (
    begins_like_a_segment,
    ends_half_written,
    is_zero_to_end,
    next_sound_entry,
    not_a_segment,
)
from kafkalog_source.segment.window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_source._core.decode07 import Decoder07
    from kafkalog_source._core.memory import Scratch
    from kafkalog_source.segment.source import LocalFile

FIRST_WINDOW_SIZE = 1 << 16
WINDOW_SIZE = 1 << 20
AHEAD_WINDOW_SIZE = 1 << 21
"""Where transactions are found out: the more of one is in the window, the less of it is read ahead."""
_END, _FULL, _INCOMPLETE, _PAST_OFFSETS, _NO_MEMORY = (
    CODE[name] for name in ("end", "full", "incomplete", "past_offsets", "no_memory")
)


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a segment, from one batch's start to another's or to the file's end.

    Attributes
    ----------
    start, end : int
        Positions; `end` may be the size that the file had when the read was planned.
    least, bound : int
        The segment's offsets lie in [least, bound).
    stop : int
        Reading ends at the first batch that begins at or above this offset.
    to_file_end : bool
        Whether the range ends where the file does, and not where another batch begins.
    torn_is_benign : bool
        Whether a batch that the end of the file cuts is what a live log looks like, and no loss.
    base_07 : int or None
        The base offset of a Kafka 0.7 segment, whose offsets are positions counted from it; None for any other.
    """

    start: int
    end: int
    least: int
    bound: int
    stop: int
    to_file_end: bool
    torn_is_benign: bool
    base_07: int | None = None


class SpanReader:
    """Reads one span of one file.

    Parameters
    ----------
    source : LocalFile
    span : Span
    decoder : Decoder
        Appends the rows to its columns.
    memory : Scratch
        For the windows, used again from span to span.
    largest_batch : int
        A batch of more bytes is refused.
    on_damage : callable
        Told of every region that gives no rows. If it returns, reading goes on behind the region.

    Attributes
    ----------
    next_offset : int or None
        The offset after the last one, once the span was read to its end; None if damage is what it ends with.
    """

    _problem_of = staticmethod(problem_of)

    def __init__(
        self,
        source: LocalFile,
        span: Span,
        decoder: Decoder | Decoder07,
        memory: Scratch,
        largest_batch: int,
        on_damage: Callable[[Damage], None],
    ) -> None:
        self._source = source
        self._span = span
        self._decoder = decoder
        self._window = Window(source, memory, span.end)
        self._largest_batch = largest_batch
        self._on_damage = on_damage
        self._entries = Entries(least=span.least, bound=span.bound, stop=span.stop)
        self._may_end_torn = span.to_file_end and span.torn_is_benign
        self._is_at_end = False
        self._damaged_to = -1
        self.next_offset: int | None = None

    @property
    def batches(self) -> int:
        """Batches and messages found so far."""
        return int(self._entries.found_count)

    def __iter__(self) -> Iterator[None]:
        """Give way whenever the columns are full; rows may be left in them at the end."""
        position = self._span.start
        want = FIRST_WINDOW_SIZE
        while position < self._span.end:
            self._window.fill(position, want)
            code = self._entries.walk(self._window.memory, self._window.size)
            self._check_sizes(position)
            yield from self._decode(position)
            if self._is_at_end:
                return
            position += self._entries.walked
            want = min(4 * want, self._largest_window())
            if code == _PAST_OFFSETS:
                resumed = self._behind_wrong_offset(position)
                if resumed is None:
                    return
                position = resumed
            elif code == _INCOMPLETE and self._entries.next_size <= self._span.end - position:
                self._check_size(position, self._entries.next_size)
                want = max(want, self._entries.next_size)
            elif code != _END:
                position = self._behind_damage(position, code)
        if position != self._damaged_to:
            self.next_offset = self._entries.last_offset + 1

    def _largest_window(self) -> int:
        looks_ahead = isinstance(self._decoder, Decoder) and self._decoder.looks_ahead
        return AHEAD_WINDOW_SIZE if looks_ahead else WINDOW_SIZE

    def _behind_wrong_offset(self, position: int) -> int | None:
        """Where reading goes on if the batch that ends it, at `position`, only seems to lie behind the range."""
        above, span = self._entries.last_offset, self._span
        if above >= span.stop - 1 or span.base_07 is not None:
            return None
        following = behind_wrong_offset(self._source, position)
        if following is None or following.position >= span.end or following.first_offset <= above:
            return None
        size, last = following.position - position, following.first_offset - 1
        problem = problem_of(CODE["offset_not_rising"])
        self._on_damage(
            Damage(self._source.path, position, size, Kind.DAMAGED, *problem, first_offset=above + 1, last_offset=last)
        )
        return following.position

    def _check_sizes(self, position: int) -> None:
        """Refuse batches that fit the window and are too large all the same, wherever the window begins."""
        if self._largest_batch >= self._window.size:
            return
        for index in range(self._entries.count):
            start, size, *_ = self._entries.entry(index)
            self._check_size(position + start, size)

    def _check_size(self, position: int, size: int) -> None:
        if size > self._largest_batch:
            raise LimitError(
                "a batch is larger than is allowed",
                file=self._source.path,
                position=position,
                found=f"{size} bytes",
                expected=f"at most {self._largest_batch}",
                remedy="Raise maxDecompressedBatchBytes if the batch is known to be good",
            )

    def _decode(self, position: int) -> Iterator[None]:
        """The rows of the window at `position`."""
        decoder = self._decoder
        decoder.start()
        while True:
            try:
                code = decoder.decode(self._window.memory, position, self._entries)
            except (CodecError, LimitError) as error:
                self._bad_entry(position, str(error), None, error)
                continue
            if code == _END:
                return
            if code == _FULL:
                yield
            elif code == _NO_MEMORY:
                raise MemoryError(f"{self._source.path}, position {position}: {self._problem_of(code)[0]}")
            else:
                self._bad_entry(position, *self._problem_of(code), None)

    def _bad_entry(
        self, position: int, reason: str, expected: str | None, error: CodecError | LimitError | None
    ) -> None:
        index = self._decoder.index
        start, size, _, _, first_offset, last_offset = self._entries.entry(index)
        # What a bad batch says of its own end is not to be believed; the batch behind it tells how far it reaches.
        is_last = index + 1 == self._entries.count
        known = None if is_last else self._entries.entry(index + 1)[4] - 1
        torn = is_last and self._may_end_torn and ends_half_written(self._source, position + start)
        written_since = is_last and self._was_written_since(position + start)
        # Whatever comes later may be there when it is looked for, but not what it follows.
        self._is_at_end = torn or written_since
        if written_since and not torn:
            self._decoder.skip()
            return
        self._on_damage(
            Damage(
                self._source.path,
                position + start,
                size,
                Kind.TORN if torn else Kind.DAMAGED,
                reason,
                expected,
                error,
                first_offset,
                max(last_offset, known) if known is not None else None,
            )
        )
        self._decoder.skip()

    def _was_written_since(self, position: int) -> bool:
        """Whether a broker wrote the bad bytes at `position` anew after they were read: the log ended there."""
        return self._may_end_torn and self._window.is_outdated(position)

    def _behind_damage(self, position: int, code: int) -> int:
        """Say what is at `position`, where no whole batch begins, and where reading goes on."""
        source, span = self._source, self._span
        if (span.to_file_end and is_zero_to_end(source, position)) or self._was_written_since(position):
            return span.end
        above = self._entries.last_offset
        found = next_sound_entry(source, position + 1, span.end, above, span.bound)
        torn = found is None and span.to_file_end and (code == _INCOMPLETE or ends_half_written(source, position))
        if position == 0 and found is None and not (torn and begins_like_a_segment(source, span.least)):
            raise not_a_segment(source)
        reason, expected = self._problem_of(code)
        end = span.end if found is None else found
        kind = Kind.TORN if torn and span.torn_is_benign else Kind.DAMAGED
        following = None if found is None else read_header(source, found)
        last = None if following is None else following.first_offset - 1
        self._on_damage(Damage(source.path, position, end - position, kind, reason, expected, None, above + 1, last))
        self._damaged_to = end
        return end
