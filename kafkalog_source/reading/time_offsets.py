"""The first offset at or after a timestamp, as a broker's ``offsetsForTimes`` finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.reading.one_entry import rows_of_entry
from kafkalog_source.segment.seek import Seeker, may_hold_time, scan_start_for_time

if TYPE_CHECKING:
    import pyarrow as pa

    from kafkalog_source.reading.options import ReadOptions
    from kafkalog_source.reading.partition_offsets import PartitionOffsets
    from kafkalog_source.segment.entries import EntryHeader


def offset_at_time(offsets: PartitionOffsets, timestamp_ms: int, options: ReadOptions) -> int | None:
    """The first offset whose record has a timestamp of at least `timestamp_ms`; None if there is none.

    The time index says where to begin in a segment; from there batch headers are read, and a batch is decoded only
    if its header says that it may hold such a record.
    """
    for place in offsets.places():
        # Messages of Kafka 0.7 carry no time.
        if place.bound <= offsets.earliest or place.is_07:
            continue
        with Seeker(place) as seeker:
            found = _offset_in_segment(seeker, max(offsets.earliest, place.least), timestamp_ms, options)
            offsets.bytes_read += seeker.bytes_read
        if found is not None:
            return found
    return None


def _offset_in_segment(seeker: Seeker, least: int, timestamp_ms: int, options: ReadOptions) -> int | None:
    start = max(least, scan_start_for_time(seeker, timestamp_ms))
    for header in seeker.headers_from(start):
        if may_hold_time(header, timestamp_ms):
            found = _offset_in_batch(seeker, header, start, timestamp_ms, options)
            if found is not None:
                return found
    return None


def _offset_in_batch(
    seeker: Seeker, header: EntryHeader, low: int, timestamp_ms: int, options: ReadOptions
) -> int | None:
    # A broker counts control records too (``FileRecords.searchForTimestamp``).
    for rows in rows_of_entry(seeker.source, header, seeker.place, ["offset", "timestamp"], low, options):
        found = _first_at_or_after(rows, timestamp_ms)
        if found is not None:
            return found
    return None


def _first_at_or_after(rows: pa.RecordBatch, timestamp_ms: int) -> int | None:
    times = rows.column("timestamp").cast("int64").to_pylist()
    for offset, time_us in zip(rows.column("offset").to_pylist(), times, strict=True):
        if time_us is not None and time_us >= timestamp_ms * 1000:
            return int(offset)
    return None
