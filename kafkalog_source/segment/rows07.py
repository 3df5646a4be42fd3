"""The rows of a range of a Kafka 0.7 segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.walk07 import Entries07
from kafkalog_source.batch import problem_of_07
from kafkalog_source.errors import UnsupportedFormatError
from kafkalog_source.segment.damage import Kind, too_large_error
from kafkalog_source.segment.entries07 import check_reach, message_begins_at, message_is_sound
from kafkalog_source.segment.resync07 import Resync
from kafkalog_source.segment.rows import FIRST_WINDOW_SIZE, WINDOW_SIZE, Span, SpanReader
from kafkalog_source.segment.tail import is_zero_to_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_source._core.decode07 import Decoder07
    from kafkalog_source._core.memory import Scratch
    from kafkalog_source.errors import CodecError, KafkaLogError, LimitError
    from kafkalog_source.segment.damage import Damage
    from kafkalog_source.segment.source import LocalFile

_END, _INCOMPLETE, _PAST_OFFSETS = (CODE[name] for name in ("end", "incomplete", "past_offsets"))


class SpanReader07(SpanReader):
    """Reads one span of one segment of Kafka 0.7; the parameters are those of `SpanReader`.

    No offsets are stored that would have to rise, so a length that lies leads to bytes that are no message and may
    look like one. Where a checksum is wrong the length is therefore not believed without proof.
    """

    _problem_of = staticmethod(problem_of_07)

    def __init__(
        self,
        source: LocalFile,
        span: Span,
        decoder: Decoder07,
        memory: Scratch,
        largest_batch: int,
        on_damage: Callable[[Damage], None],
    ) -> None:
        super().__init__(source, span, decoder, memory, largest_batch, on_damage)
        self._base = span.least if span.base_07 is None else span.base_07
        check_reach(source.path, self._base, span.end)
        self._entries: Entries07 = Entries07(least=span.least, bound=span.bound, stop=span.stop)
        self._resync = Resync(source, self._base, span.bound)
        self._resumed = False

    def __iter__(self) -> Iterator[None]:
        """Give way whenever the columns are full; rows may be left in them at the end."""
        position = self._span.start
        want = FIRST_WINDOW_SIZE
        while position < self._span.end:
            self._window.fill(position, want)
            self._entries.origin = self._base + position
            code = self._entries.walk(self._window.memory, self._window.size)
            self._resumed = False
            too_large = self._keep_small()
            yield from self._decode(position)
            position += self._entries.walked
            want = min(4 * want, WINDOW_SIZE)
            if self._resumed:
                continue
            if too_large is not None:
                position = self._behind_too_large(position, too_large)
                yield
                continue
            if code == _PAST_OFFSETS:
                return
            if code == _INCOMPLETE and self._entries.next_size <= min(self._span.end - position, self._largest_batch):
                want = max(want, self._entries.next_size)
            elif code != _END:
                position = self._behind_damage(position, code)
                yield

    def _keep_small(self) -> int | None:
        """Forget the window's messages from the first on that is too large, and give its size."""
        entries = self._entries
        if self._largest_batch < self._window.size:
            for index in range(entries.count):
                start, size, *_ = entries.entry(index)
                if size > self._largest_batch:
                    entries.resume_behind(index, start)
                    return int(size)
        return None

    def _behind_too_large(self, position: int, size: int) -> int:
        end = position + size
        if not message_is_sound(self._source, position, end):
            end = self._true_end(position, end)
        self._tell_of(position, end, Kind.DAMAGED, _INCOMPLETE, too_large_error(size, self._largest_batch))
        return end

    def _bad_entry(self, position: int, code: int, error: CodecError | LimitError | None) -> bool:
        index = self._decoder.index
        start, size, *_ = self._entries.entry(index)
        at = position + start
        end = at + size
        if not message_is_sound(self._source, at, end):
            end = self._true_end(at, end)
            self._entries.resume_behind(index, end - position)
            self._resumed = True
        self._tell_of(at, end, Kind.DAMAGED, code, error)
        self._decoder.skip()
        return False

    def _true_end(self, at: int, end: int) -> int:
        """Where reading goes on behind the message at `at`, whose checksum is wrong and whose length says `end`."""
        if self._is_border(end):
            # In a log of messages of one size, a length that lies often leads to where another message begins.
            return self._resync.own_end(at, end)
        return self._resync.behind(at, self._span.end) or self._span.end

    def _is_border(self, position: int) -> bool:
        """Whether a message begins at `position`, or the segment may end there."""
        return (
            position == self._span.end
            or message_begins_at(self._source, position, self._base, self._span.bound)
            or (self._span.to_file_end and is_zero_to_end(self._source, position))
        )

    def _behind_damage(self, position: int, code: int, too_large: int | None = None) -> int:
        source, span = self._source, self._span
        if code == _INCOMPLETE and self._entries.next_size <= span.end - position:
            return self._behind_too_large(position, self._entries.next_size)
        if span.to_file_end and is_zero_to_end(source, position):
            return span.end
        found = self._resync.behind(position, span.end)
        torn = code == _INCOMPLETE and found is None and span.to_file_end
        none = position == 0 and found is None and span.to_file_end and not torn
        end = span.end if found is None else found
        kind = Kind.TORN if torn and span.torn_is_benign else Kind.DAMAGED
        self._tell_of(position, end, kind, code, _not_a_segment(source) if none else None)
        return end

    def _tell_of(self, position: int, end: int, kind: Kind, code: int, error: KafkaLogError | None) -> None:
        """Every offset in the region may be one that is lost."""
        first, last = self._base + position, self._base + end - 1
        self._tell(position, end, kind, code, error, first - 1, last)


def _not_a_segment(source: LocalFile) -> UnsupportedFormatError:
    return UnsupportedFormatError(
        "this is not a segment of Kafka 0.7: no message begins at its start or anywhere after",
        file=source.path,
        position=0,
        found=f"{source.size} bytes",
        expected="messages of Kafka 0.7, as the name's ending says",
        remedy="Segments of Kafka 0.8 and later are named .log",
    )
