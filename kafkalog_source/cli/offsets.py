"""The first and the last offset of a segment and their times, found with as little reading as possible."""

from __future__ import annotations

from typing import NamedTuple

from kafkalog_source.format import MAX_OFFSET, NO_TIMESTAMP
from kafkalog_source.logdir import PartitionLog, SegmentFile
from kafkalog_source.options.read_options import ReadOptions
from kafkalog_source.partition.splits import Split, SplitRange
from kafkalog_source.reading.read import read_split
from kafkalog_source.segment.entries import EntryHeader, read_header
from kafkalog_source.segment.opening import open_seeker
from kafkalog_source.segment.seek import Seeker, SegmentPlace
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span

__all__ = ["Edge", "first_edge", "last_edge"]


class Edge(NamedTuple):
    """The first or the last offset of a segment.

    Attributes
    ----------
    offset : int
    timestamp_ms : int or None
        Of the first record, or the largest in the last batch; None if there is none, or the header does not hold it.
    """

    offset: int
    timestamp_ms: int | None


def first_edge(log: PartitionLog, segment: SegmentFile, options: ReadOptions) -> Edge | None:
    """Return the first offset of the first batch, or None if the segment does not begin with a batch."""
    if segment.is_07:
        with _open(segment) as seeker:
            return _edge(next(seeker.headers_from(segment.base_offset), None))
    with LocalFile(segment.path) as source:
        header = read_header(source, 0)
    if header is None or header.magic >= 2:
        return _edge(header)
    # The header of a v0 or v1 wrapper holds the offset of its last message; the first one is in its payload.
    split = Split((_only_entry(log, segment, header),))
    found = next((rows for rows in read_split(split, options, ("offset", "timestamp")) if rows.num_rows), None)
    if found is None:
        return None
    time_us = found.column(1)[0].value
    return Edge(found.column(0)[0].as_py(), None if time_us is None else time_us // 1000)


def last_edge(segment: SegmentFile) -> Edge | None:
    """Return the last offset of the last complete batch, or None if there is none."""
    with _open(segment) as seeker:
        header = seeker.last_header()
    return None if header is None else Edge(header.last_offset, _known(header.max_timestamp_ms))


def _open(segment: SegmentFile) -> Seeker:
    base = segment.base_offset
    return open_seeker(SegmentPlace(segment.path, base, MAX_OFFSET, segment.offset_index, is_07=segment.is_07))


def _edge(first: EntryHeader | None) -> Edge | None:
    return None if first is None else Edge(first.first_offset, _known(first.first_timestamp_ms))


def _known(timestamp_ms: int) -> int | None:
    return None if timestamp_ms == NO_TIMESTAMP else timestamp_ms


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
