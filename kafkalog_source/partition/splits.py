"""What a task reads: plain data that travels to a worker."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalog_source.partition.file_parts import Part
from kafkalog_source.segment.damage.description import Damage
from kafkalog_source.segment.span import Span


@dataclass(frozen=True, slots=True)
class TransactionHistory:
    """What became of the transactions of a range of offsets; all that are not here are committed.

    Attributes
    ----------
    aborted : tuple of (int, int, int)
        Producer id, first offset and the marker's offset.
    open : tuple of (int, int)
        Producer id and first offset of those that no marker ends.
    undecided : tuple of (int, int, int)
        Producer id, first and last offset of batches whose marker may be lost.
    """

    aborted: tuple[tuple[int, int, int], ...] = ()
    open: tuple[tuple[int, int], ...] = ()
    undecided: tuple[tuple[int, int, int], ...] = ()

    def within(self, least: int, bound: int) -> TransactionHistory:
        """Only the transactions that may have batches in [least, bound)."""
        return TransactionHistory(
            tuple(each for each in self.aborted if each[1] < bound and each[2] >= least),
            tuple(each for each in self.open if each[1] < bound),
            tuple(each for each in self.undecided if each[1] < bound and each[2] >= least),
        )


@dataclass(frozen=True, slots=True)
class TransactionsAhead:
    """What a task needs to find the history out itself, if it meets a transaction at all.

    Attributes
    ----------
    base_offset, bound : int
        The segment's offsets lie in [base_offset, bound).
    indexed : bool
        Whether it has a transaction index.
    last_base_offset, last_size : int
        Of the partition's last segment when the read was planned: what came later is not looked at.
    is_single_file : bool
        Whether neither side files nor other segments are to be consulted.
    is_cut : bool
        Whether more of the last segment is on disk than counts.
    """

    base_offset: int
    bound: int
    indexed: bool
    last_base_offset: int
    last_size: int
    is_single_file: bool
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Continuation:
    """What follows a segment, for whoever reads it to its end and finds that offsets are missing in between.

    Attributes
    ----------
    path : str
        The next segment.
    base_offset : int
        Its own.
    wanted_below : int
        Offsets below this one were asked for, as far as the next segment does not have them.
    cleaned : bool
        Whether the partition is known to be compacted.
    """

    path: str
    base_offset: int
    wanted_below: int
    cleaned: bool


@dataclass(frozen=True, slots=True)
class Origin:
    """The log that a range was planned from, so that its offsets can be looked up again in what is there now.

    Attributes
    ----------
    path : str
        The partition's directory, or the segment itself if that was given by its own path.
    inode : int
        Of that directory: another one under the same name is another log.
    end : int or None
        The offset after the last whole batch of the log, where that is the end of what is wanted and was looked up.
    """

    path: str
    inode: int
    end: int | None = None


@dataclass(frozen=True, slots=True)
class SplitRange:
    """A range of one segment, and which of its records are wanted.

    Attributes
    ----------
    path : str
        The segment.
    topic : str or None
    partition : int or None
    span : Span
        The bytes, and what is known of the offsets in them.
    low, high : int
        Records with offsets in [low, high) are wanted.
    file_size, inode : int
        Of the segment when the read was planned, to notice one that was replaced or cut since.
    transactions : TransactionHistory or TransactionsAhead or None
        What became of them, or how to find out. None where nobody can ask.
    continuation : Continuation or None
        None for the last segment.
    told_before : int
        Damage that begins before this position is told by another range of the same batches.
    origin : Origin or None
        None if the range is not looked up again when its file has changed.
    """

    path: str
    topic: str | None
    partition: int | None
    span: Span
    low: int
    high: int
    file_size: int
    inode: int
    transactions: TransactionHistory | TransactionsAhead | None = None
    continuation: Continuation | None = None
    told_before: int = 0
    origin: Origin | None = None

    @property
    def size(self) -> int:
        """Bytes of the range."""
        return self.span.end - self.span.start


@dataclass(frozen=True, slots=True)
class Split:
    """Spark's unit of work: ranges that one task reads in this order.

    Attributes
    ----------
    ranges : tuple of SplitRange
    known : tuple of (SplitRange, Damage)
        Damage that planning found, with the range that it would have been part of.
    files : tuple of Part
        Files of a view that shows no records; such a split has no ranges.
    """

    ranges: tuple[SplitRange, ...] = ()
    known: tuple[tuple[SplitRange, Damage], ...] = ()
    files: tuple[Part, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all ranges and files."""
        return sum(each.size for each in self.ranges) + sum(each.size for each in self.files)


def pack(ranges: list[SplitRange], target: int, open_cost: int, most_offsets: int | None = None) -> list[Split]:
    """Put neighbouring ranges into splits of about `target` bytes, each range weighing `open_cost` more than its bytes.

    With `most_offsets` no split spans more offsets than that; the ranges must not, either.
    """
    splits: list[Split] = []
    packed: list[SplitRange] = []
    weight = offsets = 0
    for each in ranges:
        span = each.high - each.low if most_offsets is not None else 0
        too_many = most_offsets is not None and offsets + span > most_offsets
        if packed and (too_many or weight + each.size + open_cost > target):
            splits.append(Split(tuple(packed)))
            packed, weight, offsets = [], 0, 0
        packed.append(each)
        weight += each.size + open_cost
        offsets += span
    if packed:
        splits.append(Split(tuple(packed)))
    return splits


def pack_files(files: list[Part], target: int, open_cost: int) -> list[Split]:
    """Put neighbouring files into splits of about `target` bytes, a file weighing `open_cost` more than its bytes."""
    splits: list[Split] = []
    packed: list[Part] = []
    weight = 0
    for each in files:
        if packed and weight + each.size + open_cost > target:
            splits.append(Split(files=tuple(packed)))
            packed, weight = [], 0
        packed.append(each)
        weight += each.size + open_cost
    return [*splits, Split(files=tuple(packed))] if packed else splits
