"""What is wrong where no valid batch of format v0 to v2 is found, and where reading continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.walk import Entries
from kafkalog_source.batch import problem_of
from kafkalog_source.format import LOG_OVERHEAD, MAX_OFFSET, V2_HEADER_SIZE
from kafkalog_source.segment.damage.contradictions import TOO_HIGH, Wrong, judge_offset, judge_range_end
from kafkalog_source.segment.damage.description import Damage, Kind, too_large_error, words_of
from kafkalog_source.segment.damage.found import found_in_batch
from kafkalog_source.segment.damage.lost import offsets_of
from kafkalog_source.segment.damage.regions import Regions
from kafkalog_source.segment.damage.tail import begins_like_a_segment, ends_half_written, is_zero_to_end, not_a_segment
from kafkalog_source.segment.damage.trust import Stop, Trust, Verdict
from kafkalog_source.segment.entries import read_header, sound_entry_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafkalog_source.errors import KafkaLogError
    from kafkalog_source.segment.damage.regions import End
    from kafkalog_source.segment.entries import EntryHeader
    from kafkalog_source.segment.source import LocalFile
    from kafkalog_source.segment.span import Span
    from kafkalog_source.segment.window import Window

_INCOMPLETE, _PAST_OFFSETS = CODE["incomplete"], CODE["past_offsets"]
_WRONG_OFFSET = (CODE["record_offset"], CODE["wrapper_offset"])
_OFFSET_SIZE = 8
_V2 = 2
_CODEC_MASK = 7


class BatchFaults:
    """The `Faults` of v2 batches and of v0 and v1 entries.

    Parameters
    ----------
    source : LocalFile
    span : Span
    largest_batch : int
        Limit on the size of a batch, in bytes.
    is_outdated : callable
        Whether a broker has rewritten the bytes at a position since they were read; see `Window.is_outdated`.
    give_back : callable
        Frees the memory of the decoder before a large batch is decoded to get its offsets.
    """

    def __init__(
        self,
        source: LocalFile,
        span: Span,
        largest_batch: int,
        is_outdated: Callable[[int, int | None], bool] = lambda position, most: False,
        give_back: Callable[[], None] = lambda: None,
    ) -> None:
        self._source = source
        self._span = span
        self._largest_batch = largest_batch
        self._is_outdated = is_outdated
        self._give_back = give_back
        self._regions = Regions(source, span.end, span.bound, span.to_file_end)
        self._may_end_torn = span.to_file_end and span.torn_is_benign
        self.entries = Entries(least=span.least, bound=span.bound, stop=span.stop)

    def walk(self, window: Window, trust: Trust) -> Stop:
        """See `Faults`."""
        entries = self.entries
        entries.skip_to(trust.above)
        code = entries.walk(window.memory, window.size)
        if code == _PAST_OFFSETS and self._span.stop == MAX_OFFSET:
            # The range has no upper bound, so only the largest possible offset can have ended it.
            code = CODE["offset_above_file"]
        if entries.count == 0:
            return Stop(code, trust.magic, entries.next_size)
        magic = entries.entry(entries.count - 1)[2]
        if self._largest_batch < window.size:
            for index in range(entries.count):
                size = entries.entry(index)[1]
                if size > self._largest_batch:
                    self._keep_before(index, window, trust)
                    return Stop(_INCOMPLETE, magic, size, is_whole=True)
        # The next entry's offset is compared too, and read from the file if it is after the window, which is cheap.
        is_cleared = trust.is_cleared and entries.count == 1
        if not is_cleared and self._next_offset(window, trust.position) <= entries.last_offset:
            self._keep_before(entries.count - 1, window, trust)
            return Stop(CODE["offset_not_rising"], magic, is_doubted=True)
        return Stop(code, magic, entries.next_size)

    def _next_offset(self, window: Window, position: int) -> int:
        walked = self.entries.walked
        if window.size - walked >= _OFFSET_SIZE:
            with window.memory.view(walked, walked + _OFFSET_SIZE) as head:
                return int.from_bytes(head, "big", signed=True)
        if position + walked + _OFFSET_SIZE > self._span.end:
            return MAX_OFFSET
        return int.from_bytes(self._source.read(position + walked, _OFFSET_SIZE), "big", signed=True)

    def _keep_before(self, index: int, window: Window, trust: Trust) -> None:
        """Drop the window's entries from `index` on, and their offsets."""
        start = self.entries.entry(index)[0]
        self.entries.skip_to(trust.above)
        self.entries.walk(window.memory, start)

    def bad_entry(self, at: Trust, index: int, code: int, error: KafkaLogError | None) -> Verdict:
        """See `Faults`. Reading continues after the entry, whose length field may be wrong."""
        size = self.entries.entry(index)[1]
        is_last = index + 1 == self.entries.count
        end = self._regions.end_of(at.position, at.above)
        is_own_end = end.position == at.position + size
        # A corrupt length may lead over valid batches to the zeros at the end of the file.
        is_claimed = is_own_end and not end.is_proved and not end.holds_batch
        if is_last and self._may_end_torn:
            if is_claimed and ends_half_written(self._source, at.position):
                return Verdict(self._damage(at.position, end.position, Kind.TORN, code, error, at.above), None)
            # A broker may be appending: later batches may be on disk by now although this entry was read incomplete.
            if self._was_written_since(at.position):
                return Verdict(None, None)
        if is_own_end and end.is_proved:
            return self._sound_entry(at, index, code, error)
        damage = self._damage(at.position, end.position, Kind.DAMAGED, code, error, at.above)
        is_right = is_own_end and self._is_between(index, at.above, self._last_lost(end.position))
        above = self.entries.entry(index)[5] if is_right else at.above
        is_inside = not is_last and is_own_end and self.entries.entry(index + 1)[2] == _V2
        return Verdict(damage, Trust(end.position, above, at.above, at.magic, is_after_damage=True), is_inside)

    def _sound_entry(self, at: Trust, index: int, code: int, error: KafkaLogError | None) -> Verdict:
        """Judge a bad entry with a correct checksum: its header can be trusted, except for the offset."""
        _, size, magic, _, first, last = self.entries.entry(index)
        end = at.position + size
        if code in _WRONG_OFFSET and magic < _V2:
            damage = self._damage(at.position, end, Kind.DAMAGED, code, error, at.before)
        else:
            # The header of a v0 or v1 wrapper does not give its first offset.
            above = first - 1 if magic == _V2 else at.above
            damage = self._damage(at.position, end, Kind.DAMAGED, code, error, above, last)
        return Verdict(damage, Trust(end, last, at.above, at.magic), is_inside=True)

    def _is_between(self, index: int, above: int, last_lost: int | None) -> bool:
        """Whether a bad entry's offsets exactly fill the gap between its neighbours, so that they can be trusted."""
        _, _, magic, attributes, first, last = self.entries.entry(index)
        is_wrapper = magic < _V2 and attributes & _CODEC_MASK
        return not is_wrapper and first == above + 1 and last == last_lost

    def at_stop(self, at: Trust, stop: Stop) -> Verdict:
        """See `Faults`."""
        if stop.is_doubted:
            return self._contradicted(at)
        return self._past_offsets(at) if stop.code == _PAST_OFFSETS else self._no_batch(at, stop)

    def next_offset(self, at: Trust) -> int | None:
        """See `Faults`."""
        return None if at.is_after_damage else at.above + 1

    def _contradicted(self, at: Trust) -> Verdict:
        """Judge an entry whose last offset is not below the next one's first. If it is wrong, skip it."""
        wrong = sound_entry_at(self._source, at.position, at.above + 1, self._span.bound)
        self._give_back()
        if wrong is not None:
            judged = judge_offset(self._source, wrong, at.above, self._span.bound, self._largest_batch)
            if judged.following is not None:
                return self._too_high(at, judged.following)
        return Verdict(None, Trust(at.position, at.above, at.before, at.magic, is_cleared=True))

    def _past_offsets(self, at: Trust) -> Verdict:
        """Judge the batch that ends the range by its offset. If that offset is wrong, skip the batch and continue."""
        span = self._span
        if at.above >= span.stop - 1:
            return Verdict(None, None)
        judged = judge_range_end(self._source, at.position, at.above, at.magic, span.end)
        if judged.wrong is Wrong.MAGIC:
            return self._no_batch(at, Stop(CODE["bad_crc"], at.magic))
        return Verdict(None, None) if judged.following is None else self._too_high(at, judged.following)

    def _too_high(self, at: Trust, following: EntryHeader) -> Verdict:
        """Report the batch as one with a wrong offset, and continue with the next one."""
        lost, size = (at.above + 1, following.first_offset - 1), following.position - at.position
        found = found_in_batch(self._source, at.position, following.position, CODE["offset_not_rising"])
        damage = Damage(self._source.path, at.position, size, Kind.DAMAGED, *TOO_HIGH, None, *lost, found)
        return Verdict(damage, at.moved(following.position))

    def _was_written_since(self, position: int, most: int | None = None) -> bool:
        """Whether a broker has rewritten the bad bytes at `position` since they were read: the log ended there."""
        return self._may_end_torn and self._is_outdated(position, most)

    def _no_batch(self, at: Trust, stop: Stop) -> Verdict:
        """Judge a position where no complete batch begins, or one that is larger than allowed."""
        source, span, position = self._source, self._span, at.position
        if not stop.is_whole and self._ends_here(position, stop.code):
            return Verdict(None, at.moved(span.end))
        is_cut = stop.code == _INCOMPLETE and stop.next_size > span.end - position
        is_too_large = stop.code == _INCOMPLETE and not is_cut
        end = self._regions.end_of(position, at.above)
        is_end = end.position == span.end and span.to_file_end and not end.is_proved and not is_too_large
        torn = is_end and (is_cut or ends_half_written(source, position))
        error: KafkaLogError | None = too_large_error(stop.next_size, self._largest_batch) if is_too_large else None
        if position == 0 and is_end and not (torn and begins_like_a_segment(source, span.least)):
            error, torn = not_a_segment(source), False
        kind = Kind.TORN if torn and span.torn_is_benign else Kind.DAMAGED
        damage = self._damage(position, end.position, kind, stop.code, error, *self._lost(at, end))
        return Verdict(damage, at.moved(end.position, is_after_damage=True))

    def _lost(self, at: Trust, end: End) -> tuple[int, int | None]:
        """The offset above which offsets are lost, and the last lost one; None if the next batch determines it.

        A CRC-valid batch may be misplaced (trust its offsets) or have a corrupt base offset (trust its neighbours).
        """
        header = read_header(self._source, at.position) if end.is_proved else None
        if header is None or header.position + header.size != end.position or header.last_offset > at.above:
            return at.above, None
        self._give_back()
        held = offsets_of(self._source, header, self._largest_batch)
        if held is None or held[0] < self._span.least:
            return at.above, None
        following = self._last_lost(end.position)
        return held[0] - 1, None if following is None else max(following, header.last_offset)

    def _ends_here(self, position: int, code: int) -> bool:
        """Whether only zeros follow, or a broker has rewritten the bytes since they were read.

        In the last segment, fewer zeros than an offset and a length take may be the start of a torn batch, so they are
        reported. In an older segment, the next one's base offset shows whether a batch is missing.
        """
        too_few = self._span.torn_is_benign and self._span.end - position < LOG_OVERHEAD
        zeros = self._span.to_file_end and not too_few and is_zero_to_end(self._source, position)
        # A rewritten batch has another header, so comparing the header is enough and keeps this cheap.
        return zeros or self._was_written_since(position, None if code == _INCOMPLETE else V2_HEADER_SIZE)

    def _damage(
        self,
        position: int,
        end: int,
        kind: Kind,
        code: int,
        error: KafkaLogError | None,
        above: int,
        last_offset: int | None = None,
    ) -> Damage:
        """Describe the damage in [position, end); offsets up to `above` are not lost."""
        if error is None:
            reason, expected = problem_of(code)
            found = found_in_batch(self._source, position, self._span.end, code)
        else:
            reason, expected, found = words_of(error)
        last = self._last_lost(end) if last_offset is None and kind is Kind.DAMAGED else last_offset
        size = end - position
        return Damage(self._source.path, position, size, kind, reason, expected, error, above + 1, last, found)

    def _last_lost(self, end: int) -> int | None:
        """The last offset that can be lost before position `end`, given by what follows: a bad batch is not trusted."""
        following = read_header(self._source, end) if end < self._span.end else None
        if following is not None:
            return following.first_offset - 1
        return None if self._span.bound == MAX_OFFSET else self._span.bound - 1
