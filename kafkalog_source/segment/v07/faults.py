"""What is wrong where no valid message of Kafka 0.7 is found, and where reading continues.

Messages store no offsets that would have to increase, so a corrupt length leads to bytes that may look like a message.
Where a checksum is wrong, the length is therefore not trusted without proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.walk07 import Entries07
from kafkalog_source.batch import problem_of_07
from kafkalog_source.errors import UnsupportedFormatError
from kafkalog_source.segment.damage.description import Damage, Kind, too_large_error, words_of
from kafkalog_source.segment.damage.tail import is_zero_to_end
from kafkalog_source.segment.damage.trust import Stop, Verdict
from kafkalog_source.segment.v07.entries import check_reach, message_begins_at, message_is_sound
from kafkalog_source.segment.v07.found import found_in_message
from kafkalog_source.segment.v07.resync import Resync

if TYPE_CHECKING:
    from kafkalog_source.errors import KafkaLogError
    from kafkalog_source.segment.damage.trust import Trust
    from kafkalog_source.segment.source import LocalFile
    from kafkalog_source.segment.span import Span
    from kafkalog_source.segment.window import Window

_INCOMPLETE, _PAST_OFFSETS = CODE["incomplete"], CODE["past_offsets"]


class MessageFaults07:
    """The `Faults` of messages of Kafka 0.7.

    Parameters
    ----------
    source : LocalFile
    span : Span
    largest_batch : int
        Limit on the size of a message, in bytes.
    """

    def __init__(self, source: LocalFile, span: Span, largest_batch: int) -> None:
        self._source = source
        self._span = span
        self._largest_batch = largest_batch
        self._base = span.least if span.base_07 is None else span.base_07
        check_reach(source.path, self._base, span.end)
        self._resync = Resync(source, self._base, span.bound)
        self.entries: Entries07 = Entries07(least=span.least, bound=span.bound, stop=span.stop)

    def walk(self, window: Window, trust: Trust) -> Stop:
        """See `Faults`."""
        entries = self.entries
        entries.origin = self._base + trust.position
        code = entries.walk(window.memory, window.size)
        if self._largest_batch < window.size:
            for index in range(entries.count):
                start, size, *_ = entries.entry(index)
                if size > self._largest_batch:
                    entries.resume_behind(index, start)
                    return Stop(_INCOMPLETE, None, size, is_whole=True)
        return Stop(code, None, entries.next_size)

    def bad_entry(self, at: Trust, index: int, code: int, error: KafkaLogError | None) -> Verdict:
        """See `Faults`."""
        start, size, *_ = self.entries.entry(index)
        claimed = end = at.position + size
        is_sound = message_is_sound(self._source, at.position, claimed)
        if not is_sound:
            end = self._true_end(at.position, claimed)
            self.entries.resume_behind(index, start)
        return Verdict(self._damage(at.position, end, Kind.DAMAGED, code, error), at.moved(end), is_sound)

    def at_stop(self, at: Trust, stop: Stop) -> Verdict:
        """See `Faults`."""
        if stop.code == _PAST_OFFSETS:
            return Verdict(None, None)
        if stop.code == _INCOMPLETE and stop.next_size <= self._span.end - at.position:
            return self._too_large(at, stop)
        return self._no_message(at, stop.code)

    def next_offset(self, at: Trust) -> int | None:
        """See `Faults`. Always None: offsets are positions, so the size of the file already gives the next one."""
        return None

    def _too_large(self, at: Trust, stop: Stop) -> Verdict:
        end = at.position + stop.next_size
        if not message_is_sound(self._source, at.position, end):
            end = self._true_end(at.position, end)
        error = too_large_error(stop.next_size, self._largest_batch)
        return Verdict(self._damage(at.position, end, Kind.DAMAGED, stop.code, error), at.moved(end))

    def _true_end(self, at: int, end: int) -> int:
        """Where reading continues after the message at `at`, whose checksum is wrong and whose length gives `end`."""
        if self._is_border(end):
            # In a log of messages of equal size, a corrupt length often leads to the start of another message.
            return self._resync.own_end(at, end)
        return self._resync.behind(at, self._span.end) or self._span.end

    def _is_border(self, position: int) -> bool:
        """Whether a message begins at `position`, or the segment may end there."""
        return (
            position == self._span.end
            or message_begins_at(self._source, position, self._base, self._span.bound)
            or (self._span.to_file_end and is_zero_to_end(self._source, position))
        )

    def _no_message(self, at: Trust, code: int) -> Verdict:
        """Judge a position where no complete message begins."""
        source, span, position = self._source, self._span, at.position
        if span.to_file_end and is_zero_to_end(source, position):
            return Verdict(None, at.moved(span.end))
        found = self._resync.behind(position, span.end)
        torn = code == _INCOMPLETE and found is None and span.to_file_end
        none = position == 0 and found is None and span.to_file_end and not torn
        end = span.end if found is None else found
        kind = Kind.TORN if torn and span.torn_is_benign else Kind.DAMAGED
        damage = self._damage(position, end, kind, code, _not_a_segment(source) if none else None)
        return Verdict(damage, at.moved(end))

    def _damage(self, position: int, end: int, kind: Kind, code: int, error: KafkaLogError | None) -> Damage:
        """Describe the damage in [position, end); any offset in it may be lost."""
        if error is None:
            reason, expected = problem_of_07(code)
            found = found_in_message(self._source, position, self._span.end, code)
        else:
            reason, expected, found = words_of(error)
        first, last = self._base + position, self._base + end - 1
        return Damage(self._source.path, position, end - position, kind, reason, expected, error, first, last, found)


def _not_a_segment(source: LocalFile) -> UnsupportedFormatError:
    return UnsupportedFormatError(
        "this is not a segment of Kafka 0.7: no message begins at its start or anywhere after",
        file=source.path,
        position=0,
        found=f"{source.size} bytes",
        expected="messages of Kafka 0.7, by the file name's extension",
        remedy="Segments of Kafka 0.8 and later have the extension .log",
    )
