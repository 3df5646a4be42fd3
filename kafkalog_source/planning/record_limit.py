"""maxRecordsPerPartition: ranges that span no more offsets than that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.partition.moved_files import check_inode
from kafkalog_source.partition.one_batch import rows_of_batch
from kafkalog_source.segment.checks import header_check as checking
from kafkalog_source.segment.entries import walk_headers
from kafkalog_source.segment.seek import SegmentPlace
from kafkalog_source.segment.source import LocalFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.splits import SplitRange
    from kafkalog_source.segment.entries import EntryHeader


def limit_records(whole: SplitRange, most: int, options: ReadOptions) -> Iterator[SplitRange]:
    """`whole` in ranges of at most `most` records each, cut where batches begin.

    A batch of more records is named by several ranges, each of which wants other offsets of it. What a header says of
    offsets and counts may be wrong, and a range for every `most` offsets of what it says would take all memory: so such
    a batch is decoded, and cut at offsets that it has. It is cut into no more ranges than it has bytes. What lies
    behind the last header that can be walked makes a range of its own.
    """
    if whole.size == 0:
        # There are no offsets to count, yet the range is read for what is missing behind it.
        yield replace(whole, high=whole.low)
        return
    low = max(whole.low, whole.span.least)
    start = end = whole.span.start
    next_offset = low
    least, told = whole.span.least, 0
    # What a wrapper holds is not cut off at offsets of the batch before it, or nobody would see that it contradicts it.
    piece = whole
    for source, header in _headers(whole):
        if header.last_offset >= low + most:
            if end > start:
                yield _range(piece, start, end, low, next_offset, told)
            start, told = header.position, 0
            piece = replace(whole, span=replace(whole.span, least=least))
            # A wrapper carries the offset of its last record only.
            low = next_offset if header.record_count is None else max(low, header.first_offset)
            may_hold_more = header.record_count is None or header.record_count > most
            if may_hold_more and header.last_offset >= low + most and low + most < whole.high:
                for cut in _cuts_inside(source, header, piece, low, most, options):
                    yield _range(piece, start, header.position + header.size, low, cut, told)
                    low, told = cut, header.position + header.size
        end = header.position + header.size
        least = header.last_offset + 1
        next_offset = min(whole.high, least)
    if end > start and low < next_offset:
        yield _range(piece, start, end, low, next_offset, told)
    if end < whole.span.end and next_offset < whole.high:
        # Its offsets lie above those before it, or a wrong one among these would hide all that follow.
        behind = _range(whole, end, whole.span.end, next_offset, whole.high, 0)
        yield replace(behind, span=replace(behind.span, least=least))


def _cuts_inside(
    source: LocalFile, header: EntryHeader, whole: SplitRange, low: int, most: int, options: ReadOptions
) -> list[int]:
    """The offsets in [low, whole.high) of a batch at which ranges of at most `most` of its records begin.

    None of them if it cannot be decoded: whoever reads it is told why.
    """
    place = SegmentPlace(whole.path, whole.span.least, whole.span.bound)
    most = max(most, -(-(header.record_count or 0) // header.size))
    cuts: list[int] = []
    seen = 0
    try:
        for rows in rows_of_batch(source, header, place, ["offset"], low, options):
            first = -seen % most
            cuts += rows["offset"][first::most].to_pylist()
            seen += rows.num_rows
            if len(cuts) > header.size:
                cuts = cuts[::2]
                most *= 2
    except KafkaLogError:
        return []
    return [each for each in cuts[1:] if each < whole.high]


def _headers(whole: SplitRange) -> Iterator[tuple[LocalFile, EntryHeader]]:
    """The headers of batches that may hold wanted records, and those before the first of them."""
    with LocalFile(whole.path) as source:
        check_inode(source, whole.inode)
        for header in walk_headers(source, whole.span.start, whole.span.least, whole.span.bound):
            if header.position >= whole.span.end or (header.magic == 2 and header.first_offset >= whole.high):
                return
            if header.last_offset >= whole.low:
                yield source, header


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
        return checking.is_damaged(source, whole.span, largest_batch), source.bytes_read
