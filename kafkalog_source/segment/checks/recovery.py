"""What a broker keeps of a segment when it restarts after a crash.

A broker walks the batches of the segment, verifies their checksums, and truncates
the file at the first invalid one (``LogSegment.recover``). It does not decode the
records of v2, treats a magic above 2 as v2 and one below 0 as v0 or v1, and does
not check that offsets increase (``FileLogInputStream``,
``DefaultRecordBatch.ensureValid``, ``LegacyRecord.ensureValid``). So it keeps
batches that cannot be decoded; reading them is an error.

Kafka 0.7 did the same with its messages, in the last segment only
(``FileMessageSet.recover``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.batch.checksum import checksum_rule
from kafkalog_source.format import (
    HEADER_SIZE_UP_TO_MAGIC,
    LOG_OVERHEAD,
    MAGIC_OFFSET,
    MAX_OFFSET,
    SIZE_OFFSET,
    V0_MIN_LENGTH,
    V2_ATTRIBUTES_OFFSET,
    V2_HEADER_SIZE,
)
from kafkalog_source.segment.checks.header_check import checked_events
from kafkalog_source.segment.damage.description import Damage
from kafkalog_source.segment.span import Span
from kafkalog_source.segment.v07.entries import SMALLEST_SIZE, message_is_sound

if TYPE_CHECKING:
    from kafkalog_source.segment.source import LocalFile

_PIECE_SIZE = 1 << 20


@dataclass(frozen=True, slots=True)
class RecoveryEnd:
    """The position where a broker truncates a segment.

    Attributes
    ----------
    position : int
    ends_early : bool
        Whether the file ends inside the batch at `position`, going by the batch's length field.
    damage : Damage
        The damaged region there.
    """

    position: int
    ends_early: bool
    damage: Damage


def find_recovery_end(
    source: LocalFile, base_offset: int, end: int, largest_batch: int, *, is_07: bool = False
) -> RecoveryEnd | None:
    """Return where a broker's recovery truncates the first `end` bytes of a segment; None if it does not."""
    broker = _Broker07(source, end) if is_07 else _Broker(source, end)
    base_07 = base_offset if is_07 else None
    start: int | None = 0
    while start is not None and start < end:
        # Zeros are not taken for the end, because a broker truncates them and deletes all later segments.
        span = Span(start, end, base_offset, MAX_OFFSET, MAX_OFFSET, False, False, base_07)
        start = None
        for event in checked_events(source, span, largest_batch):
            if not isinstance(event, Damage):
                continue
            region_end = event.position + event.size
            kept = broker.end_of_kept(event.position, region_end)
            if kept < region_end:
                return RecoveryEnd(kept, broker.ends_early(kept), event)
            if kept > region_end:
                # The broker keeps more than the damaged region, so checking restarts where that ends.
                start = kept
                break
    return None


class _Broker:
    """The validity rules of a broker's recovery, which accept more than a read does."""

    def __init__(self, source: LocalFile, end: int) -> None:
        self._source = source
        self._end = end

    def end_of_kept(self, position: int, end: int) -> int:
        """The end of the batches that a broker keeps from `position` on, up to the first that reaches `end`."""
        kept: int | None = position
        while kept is not None and kept < end:
            position, kept = kept, self._end_of_batch(kept)
        return position if kept is None else kept

    def ends_early(self, position: int) -> bool:
        """Whether the file ends inside the batch at `position`, going by the batch's length field."""
        head = self._source.read(position, LOG_OVERHEAD)
        if self._end - position <= HEADER_SIZE_UP_TO_MAGIC:
            return True
        return LOG_OVERHEAD + int.from_bytes(head[SIZE_OFFSET:], "big", signed=True) > self._end - position

    def _end_of_batch(self, position: int) -> int | None:
        """The end of the batch at `position`; None if a broker does not keep it."""
        if self._end - position <= HEADER_SIZE_UP_TO_MAGIC:
            return None
        head = self._source.read(position, V2_ATTRIBUTES_OFFSET)
        length = int.from_bytes(head[SIZE_OFFSET:LOG_OVERHEAD], "big", signed=True)
        end = position + LOG_OVERHEAD + length
        if length < V0_MIN_LENGTH or end > self._end:
            return None
        is_v2 = int.from_bytes(head[MAGIC_OFFSET:HEADER_SIZE_UP_TO_MAGIC], "big", signed=True) >= 2
        if is_v2 and end - position < V2_HEADER_SIZE:
            return None
        rule = checksum_rule(2 if is_v2 else 0)
        start, checksum = position + rule.covered_from, 0
        while start < end:
            piece = self._source.read(start, min(_PIECE_SIZE, end - start))
            checksum = rule.update(piece, checksum)
            start += len(piece) or end
        return end if rule.stored(head) == checksum else None


class _Broker07(_Broker):
    def ends_early(self, position: int) -> bool:
        length = self._length(position)
        return length is None or position + 4 + length > self._end

    def _end_of_batch(self, position: int) -> int | None:
        length = self._length(position)
        if length is None or 4 + length < SMALLEST_SIZE or position + 4 + length > self._end:
            return None
        end = position + 4 + length
        return end if message_is_sound(self._source, position, end) else None

    def _length(self, position: int) -> int | None:
        head = self._source.read(position, 4)
        return int.from_bytes(head, "big", signed=True) if len(head) == 4 else None
