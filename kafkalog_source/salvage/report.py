"""What was written, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kafkalog_source.errors import printable
from kafkalog_source.segment.damage.description import Damage, Kind


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not in the new log dir.

    Attributes
    ----------
    path : str
        The file or directory.
    reason : str
    is_loss : bool
        Whether data that was asked for is missing for it: a batch that the end of the log cuts is none, nor is
        what a broker had marked for deletion.
    position, size : int or None
        The part of the file, in bytes; None for all of it.
    first_offset, last_offset : int or None
        The offsets lost, where they are known.
    is_unreadable : bool
        Whether it could not even be opened, so that nothing is known of what it holds.
    """

    path: str
    reason: str
    is_loss: bool
    position: int | None = None
    size: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    is_unreadable: bool = False

    @classmethod
    def of(cls, damage: Damage) -> LeftOut:
        """What a damaged region gives."""
        torn = damage.kind is Kind.TORN
        reason = damage.reason if damage.error is None else damage.error.problem
        return cls(damage.file, reason, not torn, damage.position, damage.size, damage.first_offset, damage.last_offset)

    def __str__(self) -> str:
        place = printable(self.path)
        if self.position is not None:
            place += f", position {self.position}, {self.size} bytes"
        if self.first_offset is not None:
            place += f", offsets from {self.first_offset} to {'?' if self.last_offset is None else self.last_offset}"
        return f"left out: {place}: {printable(self.reason)}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "path": self.path,
            "reason": self.reason,
            "loss": self.is_loss,
            "position": self.position,
            "size": self.size,
            "firstOffset": self.first_offset,
            "lastOffset": self.last_offset,
            "unreadable": self.is_unreadable,
        }


@dataclass(slots=True)
class PartitionReport:
    """What became of one partition.

    Attributes
    ----------
    topic : str
    partition : int
    path : str
        Where it is now.
    segments, batches, records, size : int
        What was written; records count control records, size is that of the segments in bytes.
    start_offset, end_offset : int
        Where the log begins, and the offset after its last one.
    open_transactions : int
        Transactions that no marker ends: their records are hidden from committed reads.
    left_out : list of LeftOut
    warnings : list of str
    """

    topic: str
    partition: int
    path: str
    segments: int = 0
    batches: int = 0
    records: int = 0
    size: int = 0
    start_offset: int = 0
    end_offset: int = 0
    open_transactions: int = 0
    left_out: list[LeftOut] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "path": self.path,
            "segments": self.segments,
            "bytes": self.size,
            "batches": self.batches,
            "records": self.records,
            "startOffset": self.start_offset,
            "endOffset": self.end_offset,
            "openTransactions": self.open_transactions,
            "leftOut": [each.to_dict() for each in self.left_out],
            "warnings": list(self.warnings),
        }


@dataclass(slots=True)
class SalvageReport:
    """What became of a log dir.

    Attributes
    ----------
    path : str
        The new one.
    partitions : list of PartitionReport
    left_out : list of LeftOut
        What is no part of a partition that was written.
    warnings : list of str
    """

    path: str
    partitions: list[PartitionReport] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def all_left_out(self) -> list[LeftOut]:
        """Everything that is missing from the new log dir."""
        return [*self.left_out, *(each for partition in self.partitions for each in partition.left_out)]

    @property
    def all_warnings(self) -> list[str]:
        """The warnings, those of partitions included."""
        return [*self.warnings, *(each for partition in self.partitions for each in partition.warnings)]

    @property
    def is_complete(self) -> bool:
        """Whether no data is missing that was asked for."""
        return not any(each.is_loss for each in self.all_left_out)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "path": self.path,
            "complete": self.is_complete,
            "partitions": [each.to_dict() for each in self.partitions],
            "leftOut": [each.to_dict() for each in self.left_out],
            "warnings": list(self.warnings),
        }
