"""How a file ends, and the search for the next valid batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source._core.walk import EntryFinder
from kafkalog_source.batch import decoder
from kafkalog_source.errors import KafkaLogError, UnsupportedFormatError, counted
from kafkalog_source.format import LOG_OVERHEAD, MAGIC_OFFSET, V0_MIN_LENGTH, V2_HEADER_SIZE
from kafkalog_source.segment.entries import LARGEST_CHECKED, sound_entry_at
from kafkalog_source.segment.search import search_windows

if TYPE_CHECKING:
    from kafkalog_source.segment.source import LocalFile

_WINDOW_SIZE = 1 << 20
_FIRST_WINDOW_SIZE = 1 << 12
_MOST_CHECKED = 4 << 30
"""Limit on the bytes read in one search: crafted headers must not keep it busy for hours."""
_LEAST_COMPARED, _MOST_TIMES_COMPARED = 64 << 20, 64
"""Limit on the bytes checksummed in a window, in bytes plus a multiple of its size; the rest is skipped."""
_LARGE, _MOST_LARGE = 64 << 20, 16
"""Size of a large batch, and limit on the tries of such: noise that looks like them must not hide what follows."""
FEWEST_ZEROS = 16
"""A bad batch that ends with at least this many zeros may not have been written completely."""
_WIDEST_SEGMENT = 1 << 32
"""A segment spans at most 2^31-1 offsets (``LogSegment``), old ones a little more. Separates headers from noise."""


def is_zero_to_end(source: LocalFile, position: int) -> bool:
    """Whether only zeros follow, as in the unused space of a preallocated segment."""
    size = _FIRST_WINDOW_SIZE
    buffer = bytearray(size)
    position = source.next_data(position)
    while position < source.size:
        view = memoryview(buffer)[:size]
        got = source.read_into(position, view)
        if got == 0:
            return True
        if any(view[:64]) or view[:got] != bytes(got):
            return False
        position = source.next_data(position + got)
        if size < _WINDOW_SIZE:
            size = _WINDOW_SIZE
            buffer = bytearray(size)
    return True


def end_of_data(source: LocalFile, start: int, end: int) -> int:
    """The position after the last nonzero byte in [start, end); `start` if there is none."""
    while end > start:
        size = min(_WINDOW_SIZE, end - start)
        data = source.read(end - size, size).rstrip(b"\0")
        if data:
            return end - size + len(data)
        end -= size
    return start


def ends_half_written(source: LocalFile, position: int) -> bool:
    """Whether the bad batch at `position` was not written completely.

    In a preallocated segment the missing part is zero, like everything after it. A few zeros prove nothing, because an
    uncompressed batch may end with them. Neither does a file that ends with the batch.
    """
    head = source.read(position, LOG_OVERHEAD)
    start = end = position + LOG_OVERHEAD
    length = int.from_bytes(head[8:], "big", signed=True)
    if length >= V0_MIN_LENGTH:
        end += length
        start = max(start, end - FEWEST_ZEROS)
    return end < source.size and not any(source.read(start, end - start)) and is_zero_to_end(source, end)


def next_sound_entry(
    source: LocalFile,
    start: int,
    end: int,
    above: int,
    bound: int,
    begin_before: int | None = None,
    most_read: int | None = None,
) -> int | None:
    """Return the first position in [start, end) of a batch with a correct checksum and fitting offsets, None if none.

    Parameters
    ----------
    source : LocalFile
    start, end : int
        The batch begins at or after `start` and ends at or before `end`.
    above, bound : int
        Its offsets are above `above` and below `bound`.
    begin_before : int, optional
        It also begins before this position.
    most_read : int, optional
        Give up when `source.bytes_read` exceeds this.
    """
    stop = end if begin_before is None else min(end, begin_before)
    finder = EntryFinder(decoder.C_FUNCTIONS, LARGEST_CHECKED)
    bound = min(bound, above + _WIDEST_SEGMENT)
    most_read = source.bytes_read + _MOST_CHECKED if most_read is None else most_read
    large_left = _MOST_LARGE
    sizes = V2_HEADER_SIZE, _FIRST_WINDOW_SIZE, _WINDOW_SIZE
    for position, window, size in search_windows(source, start, stop, end, *sizes):
        finder.left = _LEAST_COMPARED + _MOST_TIMES_COMPARED * size
        at = finder.find(window, 0, size, end - position - size, above, bound)
        while 0 <= at < stop - position:
            if source.bytes_read > most_read:
                return None
            with window.view(at, at + LOG_OVERHEAD) as head:
                length = int.from_bytes(head[8:], "big")
            if length > _LARGE:
                # Large batches have a limit of their own and do not count against the window's.
                large_left, left = large_left - 1, finder.left + LOG_OVERHEAD + length
                finder = EntryFinder(decoder.C_FUNCTIONS, LARGEST_CHECKED if large_left else _LARGE)
                finder.left = left
            if sound_entry_at(source, position + at, above + 1, bound) is not None:
                return position + at
            at = finder.find(window, at + 1, size, end - position - size, above, bound)
    return None


def begins_like_a_segment(source: LocalFile, least: int) -> bool:
    """Whether the file's first bytes can be the header of a torn batch."""
    head = source.read(0, LOG_OVERHEAD)
    offset = int.from_bytes(head[:8], "big", signed=True)
    return len(head) < LOG_OVERHEAD or least <= offset < least + _WIDEST_SEGMENT


def begins_cut(source: LocalFile, position: int, above: int) -> bool:
    """Whether a torn batch with a fitting offset begins at `position`."""
    head = source.read(position, MAGIC_OFFSET + 1)
    offset = int.from_bytes(head[:8], "big", signed=True)
    size = LOG_OVERHEAD + int.from_bytes(head[8:LOG_OVERHEAD], "big", signed=True)
    if len(head) <= MAGIC_OFFSET or head[MAGIC_OFFSET] > 2 or size <= source.size - position:
        return False
    return above < offset < above + _WIDEST_SEGMENT


def not_a_segment(source: LocalFile) -> KafkaLogError:
    """Return the error for a file that contains no batch and does not begin like one.

    Raises
    ------
    UnsupportedFormatError
        The file is a segment of Redpanda. This is not damage, so no mode skips it.
    """
    head = source.read(0, V2_HEADER_SIZE)
    if _is_redpanda(head, source.size):
        raise UnsupportedFormatError(
            "this is a segment of Redpanda, whose layout is not Kafka's",
            file=source.path,
            position=0,
            remedy="Read it with Redpanda's own tools, or copy the topic to Kafka first",
        )
    return UnsupportedFormatError(
        "this is not a Kafka segment: no batch begins at its start or anywhere after",
        file=source.path,
        position=0,
        found=counted(source.size, "byte"),
        expected="batches of format v0, v1 or v2",
        remedy="Check that the path names a segment of Kafka 0.8 or later",
    )


def _is_redpanda(head: bytes, file_size: int) -> bool:
    """Whether a header is Redpanda's, little-endian: header CRC, size, base offset, type (``model/record.h``)."""
    if len(head) < V2_HEADER_SIZE:
        return False
    size = int.from_bytes(head[4:8], "little")
    base_offset = int.from_bytes(head[8:16], "little")
    return V2_HEADER_SIZE <= size <= file_size and base_offset < 1 << 48 and 1 <= head[16] <= 32
