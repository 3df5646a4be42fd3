"""First and last offset of a segment, found with as little reading as possible."""

from __future__ import annotations

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir import PartitionLog, SegmentFile
from kafkalog_source.options.read_options import ReadOptions
from kafkalog_source.partition.splits import Split, SplitRange
from kafkalog_source.reading.read import read_split
from kafkalog_source.segment.bounds import next_offset
from kafkalog_source.segment.entries import EntryHeader, read_header
from kafkalog_source.segment.opening import open_seeker
from kafkalog_source.segment.seek import Seeker, SegmentPlace
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span

__all__ = ["first_offset", "last_offset"]


def first_offset(log: PartitionLog, segment: SegmentFile, options: ReadOptions) -> int | None:
    """Return the first offset of the first batch, or None if the segment does not begin with a batch."""
    if segment.is_07:
        with _open_07(segment) as seeker:
            header = next(seeker.headers_from(segment.base_offset), None)
        return None if header is None else header.first_offset
    with LocalFile(segment.path) as source:
        header = read_header(source, 0)
    if header is None or header.magic >= 2:
        return None if header is None else header.first_offset
    # The header of a v0 or v1 wrapper holds the offset of its last message; the first one is in its payload.
    split = Split((_only_entry(log, segment, header),))
    arrow_batches = read_split(split, options, ("offset",))
    return next((batch.column(0)[0].as_py() for batch in arrow_batches if batch.num_rows), None)


def last_offset(segment: SegmentFile) -> int | None:
    """Return the last offset of the last complete batch, or None if there is none."""
    if segment.is_07:
        with _open_07(segment) as seeker:
            header = seeker.last_header()
        return None if header is None else header.last_offset
    following = next_offset(segment.path, segment.offset_index, segment.base_offset)
    return None if following is None else following - 1


def _open_07(segment: SegmentFile) -> Seeker:
    return open_seeker(SegmentPlace(segment.path, segment.base_offset, MAX_OFFSET, is_07=True))


def _only_entry(log: PartitionLog, segment: SegmentFile, header: EntryHeader) -> SplitRange:
    span = Span(
        start=0,
        end=header.size,
        least=segment.base_offset,
        bound=MAX_OFFSET,
        stop=MAX_OFFSET,
        to_file_end=False,
        torn_is_benign=False,
    )
    return SplitRange(
        segment.path,
        log.topic,
        log.partition,
        span,
        low=0,
        high=MAX_OFFSET,
        file_size=segment.size,
        inode=segment.inode,
    )
