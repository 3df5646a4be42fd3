"""``mode=RECOVER``: partitions as a broker would leave them after its recovery from a crash.

Every segment is checked, as by a broker with a recovery point of 0 and without
``.kafka_cleanshutdown``; a broker with a higher recovery point does not check
what is below it. The checks are made once, while the read is planned, because
all splits of a partition must agree. They cost one more pass over its segments,
up to the first bad batch, without decompression.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.partition.moved_files import check_inode
from kafkalog_source.partition.splits import SplitRange
from kafkalog_source.segment.checks.recovery import find_recovery_end
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.damage.tail import is_zero_to_end
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from kafkalog_source.logdir import PartitionLog, SegmentFile
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.segment.checks.recovery import RecoveryEnd

_CUT_HERE = "a broker's recovery truncates the log here: {}"
_CUT_BEFORE = "a broker's recovery deletes this segment, because it truncates the log in an earlier one"


@dataclass(frozen=True, slots=True)
class Recovered:
    """A partition after recovery.

    Attributes
    ----------
    log : PartitionLog
    left_out : tuple of Damage
        What recovery removes.
    bytes_read : int
    """

    log: PartitionLog
    left_out: tuple[Damage, ...]
    bytes_read: int


def recover(log: PartitionLog, options: ReadOptions) -> Recovered:
    """Compute what a broker's recovery would leave of a partition."""
    bytes_read = 0
    for number, segment in enumerate(log.segments):
        is_last = number == len(log.segments) - 1
        if segment.is_07 and not is_last:
            continue
        with LocalFile(segment.path) as source:
            check_inode(source, segment.inode)
            largest = options.max_decompressed_batch_bytes
            cut = find_recovery_end(source, segment.base_offset, segment.size, largest, is_07=segment.is_07)
            zeros = cut is not None and is_last and not cut.ends_early and is_zero_to_end(source, cut.position)
            bytes_read += source.bytes_read
        if cut is not None and not zeros:
            return Recovered(as_cut(log, number, cut.position), _left_out(log, number, cut), bytes_read)
    return Recovered(log, (), bytes_read)


def as_cut(log: PartitionLog, number: int, size: int) -> PartitionLog:
    """The partition truncated to `size` bytes of segment `number`.

    That segment loses its side files, whose entries may refer to the part that was cut off.
    """
    last = replace(log.segments[number], size=size, offset_index=None, time_index=None, txn_index=None)
    return replace(log, segments=(*log.segments[:number], last), is_cut=True)


def known_of(recovered: Recovered, low: int, high: int) -> list[tuple[SplitRange, Damage]]:
    """What recovery removes, each with the range it would have been part of, for a read of the offsets [low, high)."""
    return [(range_of_region(recovered.log, each, low, high), each) for each in recovered.left_out]


def _left_out(log: PartitionLog, number: int, cut: RecoveryEnd) -> tuple[Damage, ...]:
    segment, later = log.segments[number], log.segments[number + 1 :]
    reaches_end = cut.damage.position + cut.damage.size == segment.size
    size = segment.size - cut.position
    if cut.ends_early and reaches_end and not later:
        return (replace(cut.damage, position=cut.position, size=size, kind=Kind.TORN, last_offset=None),)
    last = later[0].base_offset - 1 if later else None
    here = replace(
        cut.damage,
        position=cut.position,
        size=size,
        kind=Kind.CUT,
        reason=_CUT_HERE.format(cut.damage.reason),
        last_offset=last,
    )
    bounds = [*(each.base_offset for each in later[1:]), MAX_OFFSET]
    return (here, *(_deleted(each, bound) for each, bound in zip(later, bounds, strict=False)))


def _deleted(segment: SegmentFile, bound: int) -> Damage:
    last = None if bound == MAX_OFFSET else bound - 1
    return Damage(
        segment.path, 0, segment.size, Kind.CUT, _CUT_BEFORE, first_offset=segment.base_offset, last_offset=last
    )


def range_of_region(log: PartitionLog, damage: Damage, low: int, high: int) -> SplitRange:
    """The range that a region would have been part of, for a read of the offsets [low, high)."""
    end = damage.position + damage.size
    span = Span(damage.position, end, low, high, high, True, False)
    return SplitRange(damage.file, log.topic, log.partition, span, low, high, end, 0)
