"""The first offset of a segment and the one after its last, from headers alone."""

from __future__ import annotations

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.entries import read_header
from kafkalog_source.segment.seek import Seeker, SegmentPlace
from kafkalog_source.segment.source import LocalFile


def first_offset(path: str) -> int | None:
    """The base offset of the first batch; None for a file that does not begin with a batch.

    Of a v0 or v1 wrapper it is the offset that the wrapper carries, its last record's.
    """
    with LocalFile(path) as source:
        header = read_header(source, 0)
    return None if header is None else header.first_offset


def next_offset(path: str, offset_index: str | None = None, least: int = 0, bound: int = MAX_OFFSET) -> int | None:
    """The offset after the last of the file's last whole batch; None for a file without one."""
    with Seeker(SegmentPlace(path, least, bound, offset_index)) as seeker:
        header = seeker.last_header()
    return None if header is None else header.last_offset + 1
