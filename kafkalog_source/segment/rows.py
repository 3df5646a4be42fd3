"""The rows of a range of a segment: windows in, full columns out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.decode import Decoder
from kafkalog_source._core.walk import Entries
from kafkalog_source.batch import problem_of
from kafkalog_source.errors import CodecError, LimitError
from kafkalog_source.format import LOG_OVERHEAD, V2_HEADER_SIZE
from kafkalog_source.segment.contradictions import TOO_HIGH, behind_wrong_offset, passes_for_batch, refuted_by
from kafkalog_source.segment.damage import Damage, Kind, too_large_error, words_of
from kafkalog_source.segment.entries import read_header, sound_entry_at
from kafkalog_source.segment.lost import offsets_of
from kafkalog_source.segment.regions import End, Regions, Resume
from kafkalog_source.segment.span import Span
from kafkalog_source.segment.tail import begins_like_a_segment, ends_half_written, is_zero_to_end, not_a_segment
from kafkalog_source.segment.window import Window

__all__ = ["Span", "SpanReader"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_source._core.decode07 import Decoder07
    from kafkalog_source._core.memory import Scratch
    from kafkalog_source.errors import KafkaLogError
    from kafkalog_source.segment.entries import EntryHeader
    from kafkalog_source.segment.source import LocalFile

FIRST_WINDOW_SIZE = 1 << 16
WINDOW_SIZE = 1 << 20
AHEAD_WINDOW_SIZE = 1 << 21
"""Where transactions are found out: the more of one is in the window, the less of it is read ahead."""
_END, _FULL, _INCOMPLETE, _PAST_OFFSETS, _NO_MEMORY = (
    CODE[name] for name in ("end", "full", "incomplete", "past_offsets", "no_memory")
)
_WRONG_OFFSET = (CODE["record_offset"], CODE["wrapper_offset"])
_OFFSET_SIZE = 8
_MAX_OFFSET = 2**63 - 1
_V2 = 2
_CODEC_MASK = 7


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
        self._found_before = 0
        self._regions = Regions(source, span.end, span.bound, span.to_file_end)
        self._may_end_torn = span.to_file_end and span.torn_is_benign
        self._above = self._before_above = span.least - 1
        self._believed: dict[int, int] = {}
        self._resume: Resume | None = None
        self._looked_at = -1
        self._last_magic: int | None = None
        self._is_at_end = False
        self._damaged_to = -1
        self.next_offset: int | None = None

    @property
    def batches(self) -> int:
        """Batches and messages found so far."""
        return self._found_before + int(self._entries.found_count)

    @property
    def reached(self) -> int:
        """The offset below which all was read, when a window could not be filled."""
        return self._entries.last_offset + 1

    def __iter__(self) -> Iterator[None]:
        """Give way whenever the columns are full, and behind all damage; rows may be left in them at the end."""
        position, want = self._span.start, FIRST_WINDOW_SIZE
        while position < self._span.end:
            self._window.fill(position, want)
            code = self._walk(position)
            yield from self._decode(position)
            if self._is_at_end:
                return
            position += self._entries.walked
            want = min(4 * want, self._largest_window())
            if self._resume is not None:
                position = self._resume_behind()
                yield
            elif code == _PAST_OFFSETS:
                resumed = self._behind_wrong_end(position)
                if resumed is None:
                    return
                position = resumed
                yield
            elif code == _INCOMPLETE and self._entries.next_size <= min(self._span.end - position, self._largest_batch):
                want = max(want, self._entries.next_size)
            elif code != _END:
                position = self._behind_damage(position, code)
                yield
        if position != self._damaged_to:
            self.next_offset = self._entries.last_offset + 1

    def _largest_window(self) -> int:
        looks_ahead = isinstance(self._decoder, Decoder) and self._decoder.looks_ahead
        return AHEAD_WINDOW_SIZE if looks_ahead else WINDOW_SIZE

    def _walk(self, position: int) -> int:
        """Find the entries of the window at `position`, up to one that is too large or has a wrong offset."""
        entries, window = self._entries, self._window
        if entries.count:
            self._before_above = self._offset_before(entries.count - 1)
        self._above, self._believed = entries.last_offset, {}
        code = entries.walk(window.memory, window.size)
        if code == _PAST_OFFSETS and self._span.stop == _MAX_OFFSET:
            # All that is there is wanted, but for an offset that none can follow.
            code = CODE["offset_above_file"]
        if entries.count == 0:
            return code
        self._last_magic = entries.entry(entries.count - 1)[2]
        if self._largest_batch < window.size:
            for index in range(entries.count):
                start, size, *_ = entries.entry(index)
                if size > self._largest_batch:
                    self._keep_before(index)
                    self._resume = Resume(position + start, too_large=size)
                    return code
        # The offset of the next entry, if its beginning is in the window. It costs a microsecond to look at.
        if self._next_offset(position) <= entries.last_offset:
            last = position + entries.entry(entries.count - 1)[0]
            if last != self._looked_at:
                self._keep_before(entries.count - 1)
                self._resume = Resume(last, is_doubted=True)
        return code

    def _next_offset(self, position: int) -> int:
        walked, window = self._entries.walked, self._window
        if window.size - walked >= _OFFSET_SIZE:
            with window.memory.view(walked, walked + _OFFSET_SIZE) as head:
                return int.from_bytes(head, "big", signed=True)
        if position + walked + _OFFSET_SIZE > self._span.end:
            return _MAX_OFFSET
        return int.from_bytes(self._source.read(position + walked, _OFFSET_SIZE), "big", signed=True)

    def _keep_before(self, index: int) -> None:
        """Forget the window's entries from `index` on, and what they say of offsets."""
        start = self._entries.entry(index)[0]
        self._forget(0, self._above, self._before_above)
        self._entries.walk(self._window.memory, start)

    def _forget(self, kept: int, last_offset: int, before: int) -> None:
        """Go on behind an entry whose offsets are not to be believed, having found `kept` of the window's."""
        entries, span = self._entries, self._span
        self._found_before += int(entries.found_count) - int(entries.count) + kept
        self._entries = Entries(least=span.least, bound=span.bound, stop=span.stop)
        self._entries.skip_to(last_offset)
        self._before_above = before

    def _resume_behind(self) -> int:
        """Say what is wrong with the entry that reading goes on at or behind, and where that is."""
        resume, self._resume = self._resume, None
        assert resume is not None
        if resume.too_large is not None:
            return self._behind_damage(resume.position, _INCOMPLETE, resume.too_large)
        return self._behind_doubted(resume.position) if resume.is_doubted else resume.position

    def _behind_doubted(self, position: int) -> int:
        """Where reading goes on at an entry whose offset is not below the next one's: behind it if it is wrong."""
        self._looked_at, above, bound = position, self._entries.last_offset, self._span.bound
        wrong = sound_entry_at(self._source, position, above + 1, bound)
        if isinstance(self._decoder, Decoder):
            self._decoder.give_back()
        following = wrong and refuted_by(self._source, wrong, above, bound, self._largest_batch)
        return self._behind_too_high(position, following) if following else position

    def _behind_wrong_end(self, position: int) -> int | None:
        """Where reading goes on if the batch that ends it, at `position`, only seems to lie behind the range."""
        above, span = self._entries.last_offset, self._span
        if above >= span.stop - 1 or span.base_07 is not None:
            return None
        if passes_for_batch(self._source, position, above, self._last_magic):
            return self._behind_damage(position, CODE["bad_crc"])
        following = behind_wrong_offset(self._source, position)
        if following is None or following.position >= span.end or following.first_offset <= above:
            return None
        return self._behind_too_high(position, following)

    def _behind_too_high(self, position: int, following: EntryHeader) -> int:
        """Say that the batch at `position` has a wrong offset, and go on at the one behind it."""
        lost, size = (self._entries.last_offset + 1, following.first_offset - 1), following.position - position
        self._on_damage(Damage(self._source.path, position, size, Kind.DAMAGED, *TOO_HIGH, None, *lost))
        return following.position

    def _decode(self, position: int) -> Iterator[None]:
        """The rows of the window at `position`, up to an entry behind which reading goes on elsewhere."""
        decoder = self._decoder
        decoder.start()
        while not self._is_at_end:
            error: CodecError | LimitError | None = None
            try:
                code = decoder.decode(self._window.memory, position, self._entries)
            except (CodecError, LimitError) as raised:
                code, error = CODE["bad_codec"], raised
            if code == _END:
                return
            if code == _NO_MEMORY:
                raise MemoryError(f"{self._source.path}, position {position}: {self._problem_of(code)[0]}")
            is_over = code != _FULL and self._bad_entry(position, code, error)
            yield
            if is_over:
                return

    def _bad_entry(self, position: int, code: int, error: CodecError | LimitError | None) -> bool:
        """Say that the decoder's entry is bad; gives whether nothing behind it in the window is to be decoded.

        Reading goes on behind it, which may not be where it says that it ends.
        """
        index = self._decoder.index
        start, size, *_, last_offset = self._entries.entry(index)
        at, above = position + start, self._offset_before(index)
        is_last = index + 1 == self._entries.count
        end = self._regions.end_of(at, above)
        # A length that lies may lead to the zeros at the end, over batches that are good.
        is_claimed = end.position == at + size and not end.is_proved and not end.holds_batch
        torn = is_last and is_claimed and self._may_end_torn and ends_half_written(self._source, at)
        # Whatever comes later may be there when it is looked for, but not what it follows.
        self._is_at_end = torn or (is_last and self._was_written_since(at))
        self._decoder.skip()
        if self._is_at_end:
            if torn:
                self._tell(at, at + size, Kind.TORN, code, error, above)
            return True
        if end.is_proved and end.position == at + size:
            # Its checksum is right, so that it says the truth about itself, but for a wrong offset.
            has_wrong_offset = code in _WRONG_OFFSET and self._entries.entry(index)[2] < _V2
            above = self._offset_before(index - 1) if has_wrong_offset else above
            first, last = self._first_offset(index, above), None if has_wrong_offset else last_offset
            self._tell(at, end.position, Kind.DAMAGED, code, error, first - 1, last)
            return False
        self._tell(at, end.position, Kind.DAMAGED, code, error, above)
        before = above
        if end.position == at + size and self._is_between(index, above, self._last_lost(end.position)):
            above = last_offset
        self._believed[index + 1] = above
        if not is_last and end.position == at + size and self._entries.entry(index + 1)[2] == _V2:
            return False
        self._forget(index + 1, above, before)
        self._resume = Resume(end.position)
        self._damaged_to = end.position
        return True

    def _is_between(self, index: int, above: int, last_lost: int | None) -> bool:
        """Whether the offsets of a bad entry just fill the room between its neighbours', so that they are right."""
        _, _, magic, attributes, first, last = self._entries.entry(index)
        is_wrapper = magic < _V2 and attributes & _CODEC_MASK
        return not is_wrapper and first == above + 1 and last == last_lost

    def _offset_before(self, index: int) -> int:
        """The last offset before an entry of the window that can be believed."""
        if index <= 0:
            return self._above if index == 0 else self._before_above
        believed = self._believed.get(index)
        return int(self._entries.entry(index - 1)[5]) if believed is None else believed

    def _first_offset(self, index: int, above: int) -> int:
        """The first offset of an entry whose header is right; of a v0 or v1 wrapper it is not known."""
        _, _, magic, _, first, _ = self._entries.entry(index)
        return int(first) if magic == _V2 else above + 1

    def _was_written_since(self, position: int, most: int | None = None) -> bool:
        """Whether a broker wrote the bad bytes at `position` anew after they were read: the log ended there."""
        return self._may_end_torn and self._window.is_outdated(position, most)

    def _behind_damage(self, position: int, code: int, too_large: int | None = None) -> int:
        """Say what is at `position`, where no whole batch begins or a too large one, and where reading goes on."""
        source, span = self._source, self._span
        if too_large is None and self._ends_here(position, code):
            return span.end
        if code == _INCOMPLETE and self._entries.next_size <= span.end - position:
            too_large = too_large or self._entries.next_size
        above = self._entries.last_offset
        end = self._regions.end_of(position, above)
        is_end = end.position == span.end and span.to_file_end and not end.is_proved and too_large is None
        torn = is_end and (code == _INCOMPLETE or ends_half_written(source, position))
        error: KafkaLogError | None = None if too_large is None else too_large_error(too_large, self._largest_batch)
        if position == 0 and is_end and not (torn and begins_like_a_segment(source, span.least)):
            error, torn = not_a_segment(source), False
        kind = Kind.TORN if torn and span.torn_is_benign else Kind.DAMAGED
        self._tell(position, end.position, kind, code, error, *self._lost(position, end, above))
        self._damaged_to = end.position
        return end.position

    def _lost(self, position: int, end: End, above: int) -> tuple[int, int | None]:
        """Above which offset offsets are lost, and which one is the last; None if what follows has to tell.

        A batch whose checksum is right may be in the wrong place, and then it knows what it holds; or its offset is
        wrong, and then what lies around it does.
        """
        header = read_header(self._source, position) if end.is_proved else None
        if header is None or position + header.size != end.position or header.last_offset > above:
            return above, None
        if isinstance(self._decoder, Decoder):
            self._decoder.give_back()
        held = offsets_of(self._source, header, self._largest_batch)
        if held is None or held[0] < self._span.least:
            return above, None
        following = self._last_lost(end.position)
        return held[0] - 1, None if following is None else max(following, header.last_offset)

    def _ends_here(self, position: int, code: int) -> bool:
        """Whether only zeros follow, or nothing that was there when the read was planned.

        In the last segment, zeros that are too few for a length may be the first bytes of an offset: that is told. In
        an older one, the offsets that the next one begins with tell whether a batch is missing.
        """
        too_few = self._span.torn_is_benign and self._span.end - position < LOG_OVERHEAD
        zeros = self._span.to_file_end and not too_few and is_zero_to_end(self._source, position)
        # A header that is wrong is another one if it was written since; to look at more each time would take long.
        return zeros or self._was_written_since(position, None if code == _INCOMPLETE else V2_HEADER_SIZE)

    def _tell(
        self,
        position: int,
        end: int,
        kind: Kind,
        code: int,
        error: KafkaLogError | None,
        above: int,
        last_offset: int | None = None,
    ) -> None:
        """Describe the damage in [position, end); offsets up to `above` are not lost."""
        reason, expected, found = (*self._problem_of(code), None) if error is None else words_of(error)
        last = self._last_lost(end) if last_offset is None and kind is Kind.DAMAGED else last_offset
        size = end - position
        self._on_damage(
            Damage(self._source.path, position, size, kind, reason, expected, error, above + 1, last, found)
        )

    def _last_lost(self, end: int) -> int | None:
        """The last offset that can be lost before position `end`: what follows tells; a bad batch is not believed."""
        following = read_header(self._source, end) if end < self._span.end else None
        if following is not None:
            return following.first_offset - 1
        return None if self._span.bound == _MAX_OFFSET else self._span.bound - 1
