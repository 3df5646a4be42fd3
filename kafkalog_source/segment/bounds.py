"""The first offset of a segment and the offset after its last, from headers only."""

from __future__ import annotations

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.segment.entries import read_header
from kafkalog_source.segment.seek import Seeker, SegmentPlace
from kafkalog_source.segment.source import LocalFile


def first_offset(path: str) -> int | None:
    """Return the base offset of the first batch; None if the file does not begin with a batch.

    For a v0 or v1 wrapper it is the wrapper's own offset, which is that of its last record.
    """
    with LocalFile(path) as source:
        header = read_header(source, 0)
    return None if header is None else header.first_offset


def next_offset(path: str, offset_index: str | None = None, least: int = 0, bound: int = MAX_OFFSET) -> int | None:
    """Return the offset after the file's last complete batch; None if there is none."""
    with Seeker(SegmentPlace(path, least, bound, offset_index)) as seeker:
        header = seeker.last_header()
    return None if header is None else header.last_offset + 1
