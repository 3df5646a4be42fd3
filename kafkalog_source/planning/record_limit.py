"""maxRecordsPerPartition: cuts ranges so that none spans more offsets."""

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
    """Cut `whole` at batch boundaries into ranges of at most `most` records each.

    A batch with more records is part of several ranges, each of which wants other offsets of it. The offsets and the
    count in its header may be corrupt, and a range for every `most` offsets that the header claims could exhaust
    memory: so such a batch is decoded, and cut at offsets that it contains, into at most as many ranges as it has
    bytes. What follows the last header that can be walked is a range of its own.
    """
    if whole.size == 0:
        # There are no offsets to count, but reading the range reports a gap after it.
        yield replace(whole, high=whole.low)
        return
    low = max(whole.low, whole.span.least)
    start = end = whole.span.start
    next_offset = low
    least, reported = whole.span.least, 0
    # The span of a piece begins at the end of the batch before it, so that a wrapper with lower offsets is detected.
    piece = whole
    for source, header in _headers(whole):
        if header.last_offset >= low + most:
            if end > start:
                yield _range(piece, start, end, low, next_offset, reported)
            start, reported = header.position, 0
            piece = replace(whole, span=replace(whole.span, least=least))
            # The header of a wrapper has only the offset of its last record.
            low = next_offset if header.record_count is None else max(low, header.first_offset)
            may_hold_more = header.record_count is None or header.record_count > most
            if may_hold_more and header.last_offset >= low + most and low + most < whole.high:
                for cut in _cuts_inside(source, header, piece, low, most, options):
                    yield _range(piece, start, header.position + header.size, low, cut, reported)
                    low, reported = cut, header.position + header.size
        end = header.position + header.size
        least = header.last_offset + 1
        next_offset = min(whole.high, least)
    if end > start and low < next_offset:
        yield _range(piece, start, end, low, next_offset, reported)
    if end < whole.span.end and next_offset < whole.high:
        # Its least offset is set as well: a corrupt offset here would otherwise hide all batches after it.
        rest = _range(whole, end, whole.span.end, next_offset, whole.high, 0)
        yield replace(rest, span=replace(rest.span, least=least))


def _cuts_inside(
    source: LocalFile, header: EntryHeader, whole: SplitRange, low: int, most: int, options: ReadOptions
) -> list[int]:
    """The offsets in [low, whole.high) of a batch at which ranges of at most `most` of its records begin.

    Empty if the batch cannot be decoded; reading it reports why.
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
    """The headers of the batches in the range that may hold wanted records."""
    with LocalFile(whole.path) as source:
        check_inode(source, whole.inode)
        for header in walk_headers(source, whole.span.start, whole.span.least, whole.span.bound):
            if header.position >= whole.span.end or (header.magic == 2 and header.first_offset >= whole.high):
                return
            if header.last_offset >= whole.low:
                yield source, header


def _range(whole: SplitRange, start: int, end: int, low: int, high: int, reported_before: int) -> SplitRange:
    to_file_end = whole.span.to_file_end and end == whole.span.end
    span = replace(whole.span, start=start, end=end, stop=high, to_file_end=to_file_end)
    return replace(whole, span=span, low=low, high=high, reported_before=reported_before)


def is_damaged(whole: SplitRange, largest_batch: int) -> tuple[bool, int]:
    """Whether a checksum or an offset in the range is invalid, and the number of bytes read for the check.

    Invalid offsets would cut the range at wrong positions, so that a read that skips damage does not cut it at all.
    """
    with LocalFile(whole.path) as source:
        check_inode(source, whole.inode)
        return checking.is_damaged(source, whole.span, largest_batch), source.bytes_read
