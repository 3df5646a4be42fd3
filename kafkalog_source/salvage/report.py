"""The report of a salvage: what was written, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kafkalog_source.errors import printable
from kafkalog_source.segment.damage.description import Damage, Kind


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file, directory or region of a file that is not in the new log dir.

    Attributes
    ----------
    path : str
        The file or directory.
    reason : str
    is_loss : bool
        Whether wanted data is lost; False for a torn batch at the end of the log, and for files that a broker had
        marked for deletion.
    position, size : int or None
        The region of the file, in bytes; None for the whole file.
    first_offset, last_offset : int or None
        The lost offsets, None if unknown.
    is_unreadable : bool
        Whether it could not be opened, so that its content is unknown.
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
        """The entry for a damaged region."""
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
        """Convert to plain values."""
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
    """The result of one partition.

    Attributes
    ----------
    topic : str
    partition : int
    path : str
        The new directory.
    segments, batches, records, size : int
        Written to it; `records` includes control records, `size` is that of the segments in bytes.
    start_offset, end_offset : int
        The first offset of the log, and the offset after its last one.
    open_transactions : int
        Transactions without a marker, whose records are hidden from committed reads.
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
        """Convert to plain values."""
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
    """The result of a salvage.

    Attributes
    ----------
    path : str
        The new log dir.
    partitions : list of PartitionReport
    left_out : list of LeftOut
        Left out of the log dir; what was left out of a partition is in its own report.
    warnings : list of str
    """

    path: str
    partitions: list[PartitionReport] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def all_left_out(self) -> list[LeftOut]:
        """Everything that was left out, including that of partitions."""
        return [*self.left_out, *(each for partition in self.partitions for each in partition.left_out)]

    @property
    def all_warnings(self) -> list[str]:
        """All warnings, including those of partitions."""
        return [*self.warnings, *(each for partition in self.partitions for each in partition.warnings)]

    @property
    def is_complete(self) -> bool:
        """Whether no wanted data is lost."""
        return not any(each.is_loss for each in self.all_left_out)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values."""
        return {
            "path": self.path,
            "complete": self.is_complete,
            "partitions": [each.to_dict() for each in self.partitions],
            "leftOut": [each.to_dict() for each in self.left_out],
            "warnings": list(self.warnings),
        }
