"""maxRecordsPerPartition: ranges that span no more offsets than that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_source.reading.live import check_inode
from kafkalog_source.segment.checking import check_span
from kafkalog_source.segment.damage import Damage, Kind
from kafkalog_source.segment.entries import walk_headers
from kafkalog_source.segment.source import LocalFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.reading.splits import SplitRange
    from kafkalog_source.segment.entries import EntryHeader


def limit_records(whole: SplitRange, most: int) -> Iterator[SplitRange]:
    """`whole` in ranges of at most `most` offsets each, cut where batches begin.

    A batch that spans more, of as many records at least, is named by several ranges, each of which wants other offsets
    of it. What lies behind the last header that can be walked makes a range of its own.
    """
    if whole.size == 0:
        # There are no offsets to count, yet the range is read for what is missing behind it.
        yield replace(whole, high=whole.low)
        return
    low = max(whole.low, whole.span.least)
    start = end = whole.span.start
    next_offset = low
    least, told = whole.span.least, 0
    for header in _headers(whole):
        if header.last_offset >= low + most:
            if end > start:
                yield _range(whole, start, end, low, next_offset, told)
            start, told = header.position, 0
            # A wrapper carries the offset of its last record only.
            low = next_offset if header.record_count is None else max(low, header.first_offset)
            sparse = header.record_count is not None and header.record_count <= most
            while not sparse and header.last_offset >= low + most and low + most < whole.high:
                yield _range(whole, start, header.position + header.size, low, low + most, told)
                low, told = low + most, header.position + header.size
        end = header.position + header.size
        least = header.last_offset + 1
        next_offset = min(whole.high, least)
    if end > start and low < next_offset:
        yield _range(whole, start, end, low, next_offset, told)
    if end < whole.span.end and next_offset < whole.high:
        # Its offsets lie above those before it, or a wrong one among these would hide all that follow.
        behind = _range(whole, end, whole.span.end, next_offset, whole.high, 0)
        yield replace(behind, span=replace(behind.span, least=least))


def _headers(whole: SplitRange) -> Iterator[EntryHeader]:
    """The headers of batches that may hold wanted records, and those before the first of them."""
    with LocalFile(whole.path) as source:
        check_inode(source, whole.inode)
        for header in walk_headers(source, whole.span.start, whole.span.least, whole.span.bound):
            if header.position >= whole.span.end or (header.magic == 2 and header.first_offset >= whole.high):
                return
            if header.last_offset >= whole.low:
                yield header


def _range(whole: SplitRange, start: int, end: int, low: int, high: int, told_before: int) -> SplitRange:
    to_file_end = whole.span.to_file_end and end == whole.span.end
    span = replace(whole.span, start=start, end=end, stop=high, to_file_end=to_file_end)
    return replace(whole, span=span, low=low, high=high, told_before=told_before)


def is_damaged(whole: SplitRange, largest_batch: int) -> tuple[bool, int]:
    """Whether a checksum or an offset in the range is wrong, and how many bytes were read to find out.

    Offsets that are wrong cut it in wrong places, so that a read which goes on behind damage does not cut it at all.
    """
    with LocalFile(whole.path) as source:
        check_inode(source, whole.inode)
        found: list[Damage] = []
        check_span(source, whole.span, found.append, largest_batch)
        return any(each.kind is not Kind.TORN for each in found), source.bytes_read
