"""The split that a task reads: plain data, which is sent to a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from kafkalog_source.partition.file_parts import Part
from kafkalog_source.segment.damage.description import Damage
from kafkalog_source.segment.span import Span


@dataclass(frozen=True, slots=True)
class TransactionHistory:
    """The outcomes of the transactions in a range of offsets; those that are not listed are committed.

    Attributes
    ----------
    aborted : tuple of (int, int, int)
        Producer id, first offset and the marker's offset.
    open : tuple of (int, int)
        Producer id and first offset of transactions without a marker.
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
    """What a task needs to resolve the outcomes itself, at its first transactional batch.

    Attributes
    ----------
    base_offset, bound : int
        The segment's offsets are in [base_offset, bound).
    indexed : bool
        Whether it has a transaction index.
    last_base_offset, last_size : int
        Of the partition's last segment when the read was planned; what was written later is ignored.
    is_single_file : bool
        Whether neither side files nor other segments may be consulted.
    is_cut : bool
        Whether recovery truncated the last segment, so that its file is larger than `last_size`.
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
    """The segment after a range's own, to detect missing offsets between the two.

    Attributes
    ----------
    path : str
        The next segment.
    base_offset : int
        The base offset of the next segment.
    wanted_below : int
        Offsets below this one are wanted; at most `base_offset`.
    cleaned : bool
        Whether the partition is known to be compacted.
    """

    path: str
    base_offset: int
    wanted_below: int
    cleaned: bool


@dataclass(frozen=True, slots=True)
class Origin:
    """The log that a range was planned from, so that its offsets can be looked up again if files have changed.

    Attributes
    ----------
    path : str
        The partition's directory, or the segment itself if that was given by its own path.
    inode : int
        Of that path: a directory of the same name with another inode is another log.
    end : int or None
        The offset after the last whole batch of the log; None if the read ends at an offset of its own, or if it was
        not looked up.
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
        The bytes of the range, and the bounds of the offsets in them.
    low, high : int
        Records with offsets in [low, high) are wanted.
    file_size, inode : int
        Of the segment when the read was planned, to detect one that was replaced or truncated since.
    transactions : TransactionHistory or TransactionsAhead or None
        The outcomes of its transactions, or how to resolve them; None for Kafka 0.7, which has none.
    continuation : Continuation or None
        None for the last segment, and for Kafka 0.7.
    reported_before : int
        Damage that begins before this position is reported by an earlier range of the same batches.
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
    reported_before: int = 0
    origin: Origin | None = None

    @property
    def size(self) -> int:
        """Size of the range, in bytes."""
        return self.span.end - self.span.start


@dataclass(frozen=True, slots=True)
class Split:
    """Spark's unit of work: the ranges that one task reads, in this order.

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
        """Size of all ranges and files, in bytes."""
        return sum(each.size for each in self.ranges) + sum(each.size for each in self.files)


def pack(ranges: list[SplitRange], target: int, open_cost: int, most_offsets: int | None = None) -> list[Split]:
    """Pack neighbouring ranges into splits of about `target` bytes, counting `open_cost` more bytes for each range.

    With `most_offsets` no split spans more offsets than that; neither must any of the ranges.
    """
    groups = _groups(ranges, target, open_cost, lambda each: each.high - each.low, most_offsets)
    return [Split(group) for group in groups]


def pack_files(files: list[Part], target: int, open_cost: int) -> list[Split]:
    """Pack neighbouring files into splits of about `target` bytes, counting `open_cost` more bytes for each file."""
    return [Split(files=group) for group in _groups(files, target, open_cost)]


class _Sized(Protocol):
    @property
    def size(self) -> int: ...


_Piece = TypeVar("_Piece", bound=_Sized)


def _groups(
    pieces: list[_Piece],
    target: int,
    open_cost: int,
    offsets_of: Callable[[_Piece], int] = lambda _: 0,
    most_offsets: int | None = None,
) -> list[tuple[_Piece, ...]]:
    """Neighbours in groups of about `target` bytes and at most `most_offsets` offsets."""
    groups: list[tuple[_Piece, ...]] = []
    group: list[_Piece] = []
    weight = offsets = 0
    for each in pieces:
        span = offsets_of(each) if most_offsets is not None else 0
        too_many = most_offsets is not None and offsets + span > most_offsets
        if group and (too_many or weight + each.size + open_cost > target):
            groups.append(tuple(group))
            group, weight, offsets = [], 0, 0
        group.append(each)
        weight += each.size + open_cost
        offsets += span
    return [*groups, tuple(group)] if group else groups
