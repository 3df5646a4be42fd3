"""How many offsets of each partition are lost, for the end of a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafkalog_source.errors import KafkaLogError, counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafkalog_source.partition.offsets import PartitionOffsets

    Region = tuple[int | None, int | None]

__all__ = ["Loss", "loss_lines", "loss_of", "percent"]

_LISTED = 20
"""Most ranges of offsets that are listed for a partition, and most partitions."""


@dataclass(frozen=True, slots=True)
class Loss:
    """The offsets of a partition that may be lost.

    Attributes
    ----------
    topic : str or None
    partition : int or None
    path : str
        The directory, or the segment that was given by its own path.
    ranges : tuple of (int, int)
        First and last offset of each lost range, ascending. No offset outside of them is lost, unless there are
        `unknown` regions.
    unknown : int
        Number of damaged regions whose offsets are not known, or not where they end.
    total : int
        Number of offsets of the partition, including those that are lost.
    """

    topic: str | None
    partition: int | None
    path: str
    ranges: tuple[tuple[int, int], ...]
    unknown: int
    total: int

    @property
    def offsets(self) -> int:
        """The most offsets that are lost, without those of unknown regions."""
        return sum(last - first + 1 for first, last in self.ranges)

    @property
    def name(self) -> str:
        """The partition as text."""
        return printable(self.path) if self.topic is None else f"{printable(self.topic)}-{self.partition}"

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "path": self.path,
            "lostOffsets": self.offsets,
            "offsets": self.total,
            "unknownRegions": self.unknown,
            "ranges": [{"firstOffset": first, "lastOffset": last} for first, last in self.ranges],
        }


def loss_of(offsets: PartitionOffsets, wanted: tuple[int, int], regions: Iterable[Region]) -> Loss | None:
    """Sum up the regions of a partition that cannot be read.

    Parameters
    ----------
    offsets : PartitionOffsets
    wanted : (int, int)
        The wanted offsets [low, high); `MAX_OFFSET` is the end of the log.
    regions : iterable of (int or None, int or None)
        First and last offset that each region may have held; None where it is unknown.

    Returns
    -------
    Loss or None
        None if no wanted offset is lost.
    """
    low, high = wanted
    regions = list(regions)
    end = min(high, max([_end(offsets), *(last + 1 for _, last in regions if last is not None)]))
    unknown = sum(last is None for _, last in regions)
    lost = [
        (max(low, first), min(end - 1 if last is None else last, high - 1))
        for first, last in regions
        if first is not None
    ]
    ranges = _merged([(first, last) for first, last in lost if first <= last])
    if not ranges and not unknown:
        return None
    log = offsets.log
    return Loss(log.topic, log.partition, log.path, tuple(ranges), unknown, max(0, end - low))


def loss_lines(losses: Sequence[Loss], partitions: int) -> list[str]:
    """A line for each partition with losses, and one for all of them.

    Parameters
    ----------
    losses : sequence of Loss
    partitions : int
        How many partitions were read.
    """
    if not losses:
        return []
    lines = [f"lost: {each.name}: {_amount([each])}{_ranges(each)}" for each in losses[:_LISTED]]
    if len(losses) > _LISTED:
        lines.append(f"lost: … and in {counted(len(losses) - _LISTED, 'more partition')}")
    if partitions > 1:
        # The share is that of the partitions with losses, not of the whole disk.
        these = "this 1" if len(losses) == 1 else f"these {len(losses)}"
        lines.append(f"lost in all: {_amount(losses)} in {these} of {counted(partitions, 'partition')}")
    return lines


def percent(part: int, whole: int) -> str:
    """Format a share in per cent with three digits, but never as 0 or 100 if it is neither."""
    if part in (0, whole):
        return "100 %" if part else "0 %"
    share = 100 * part / whole
    if share < 0.001:
        return "less than 0.001 %"
    return "more than 99.9 %" if share > 99.9 else f"{share:.3g} %"


def _end(offsets: PartitionOffsets) -> int:
    """The offset after the last one on disk; the base offset of the last segment if that cannot be read."""
    if not offsets.log.segments:
        return 0
    try:
        return offsets.end_behind_damage()
    except KafkaLogError:
        return offsets.log.segments[-1].base_offset


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _amount(losses: Sequence[Loss]) -> str:
    lost, total = sum(each.offsets for each in losses), sum(each.total for each in losses)
    unknown = sum(each.unknown for each in losses)
    known = f"at most {lost} of {counted(total, 'offset')} ({percent(lost, total)})"
    if not unknown:
        return known
    regions = f"{counted(unknown, 'region')} whose end is unknown"
    return f"{known}, and what was in {regions}" if lost else f"an unknown number of offsets, in {regions}"


def _ranges(each: Loss) -> str:
    shown = [f"{first}" if first == last else f"{first} to {last}" for first, last in each.ranges[:_LISTED]]
    more = len(each.ranges) - len(shown)
    return f": {', '.join(shown)}{f' and {more} more ranges' if more else ''}" if shown else ""
