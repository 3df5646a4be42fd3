"""The first offset at or after a timestamp, as a broker's ``offsetsForTimes`` finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.partition.one_batch import rows_of_batch
from kafkalog_source.segment.batch_headers import checked_headers
from kafkalog_source.segment.damage.description import raise_damage
from kafkalog_source.segment.seek import Seeker, may_hold_time, scan_start_for_time
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.offsets import PartitionOffsets
    from kafkalog_source.segment.damage.description import Damage
    from kafkalog_source.segment.entries import EntryHeader


def offset_at_time(
    offsets: PartitionOffsets,
    timestamp_ms: int,
    options: ReadOptions,
    on_damage: Callable[[Damage], None] = raise_damage,
) -> int | None:
    """The first offset whose record has a timestamp of at least `timestamp_ms`; None if there is none.

    The search starts in each segment where its time index points; a batch is decoded only if its header shows that it
    may hold such a record. Damage is passed to `on_damage`; if that returns, the region is skipped.
    """
    for place in offsets.places():
        # Messages of Kafka 0.7 have no timestamp.
        if place.bound <= offsets.earliest or place.is_07:
            continue
        with Seeker(place) as seeker:
            found = _offset_in_segment(seeker, max(offsets.earliest, place.least), timestamp_ms, options, on_damage)
            offsets.bytes_read += seeker.bytes_read
        if found is not None:
            return found
    return None


def _offset_in_segment(
    seeker: Seeker, least: int, timestamp_ms: int, options: ReadOptions, on_damage: Callable[[Damage], None]
) -> int | None:
    start = max(least, scan_start_for_time(seeker, timestamp_ms))
    for header in _headers_from(seeker, start, options, on_damage):
        if may_hold_time(header, timestamp_ms):
            found = _offset_in_batch(seeker, header, start, timestamp_ms, options, on_damage)
            if found is not None:
                return found
    return None


def _headers_from(
    seeker: Seeker, start: int, options: ReadOptions, on_damage: Callable[[Damage], None]
) -> Iterator[EntryHeader]:
    """The headers of the batches that may hold offsets from `start` on.

    A corrupt length would skip batches that hold the time, and a corrupt timestamp its own batch. So a header is
    trusted only if the checksum of its batch is valid, for which the whole batch is read.
    """
    if not options.verify_checksums:
        yield from seeker.headers_from(start, on_damage)
        return

    def report(damage: Damage) -> None:
        # Damage before `start` does not matter: the time index shows that the records there are older.
        if damage.last_offset is None or damage.last_offset >= start:
            on_damage(damage)

    place, is_last = seeker.place, seeker.place.bound == MAX_OFFSET
    position, end = seeker.start_of(start), seeker.source.size
    span = Span(position, end, place.least, place.bound, MAX_OFFSET, to_file_end=True, torn_is_benign=is_last)
    for header in checked_headers(seeker.source, span, options.max_decompressed_batch_bytes, report):
        if header.last_offset >= start:
            yield header


def _offset_in_batch(
    seeker: Seeker,
    header: EntryHeader,
    low: int,
    timestamp_ms: int,
    options: ReadOptions,
    on_damage: Callable[[Damage], None],
) -> int | None:
    # A broker considers control records as well (``FileRecords.searchForTimestamp``).
    for rows in rows_of_batch(seeker.source, header, seeker.place, ["offset", "timestamp"], low, options, on_damage):
        found = _first_at_or_after(rows, timestamp_ms)
        if found is not None:
            return found
    return None


def _first_at_or_after(rows: pa.RecordBatch, timestamp_ms: int) -> int | None:
    for offset, time_ms in zip(rows.column("offset").to_pylist(), _times_ms(rows.column("timestamp")), strict=True):
        if time_ms is not None and time_ms >= timestamp_ms:
            return int(offset)
    return None


def _times_ms(times: pa.Array) -> Iterator[int | None]:
    """Timestamps in milliseconds, including those beyond int64 microseconds.

    For these the core marks the slot as null and stores milliseconds in it; 0 means no timestamp.
    """
    slots = pa.Array.from_buffers(pa.int64(), len(times), [None, times.buffers()[1]], offset=times.offset)
    for is_valid, slot in zip(times.is_valid().to_pylist(), slots.to_pylist(), strict=True):
        if is_valid:
            yield slot // 1000
        else:
            yield slot or None
