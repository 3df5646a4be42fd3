"""The results of the reference decoder: records, batches, and how a file ends."""

from __future__ import annotations

import enum
from dataclasses import dataclass

Headers = tuple[tuple[str, bytes | None], ...]


class RefCorrupt(Exception):
    """Bytes that are not a valid segment; `position` is that of the top-level entry concerned."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(f"position {position}: {reason}")
        self.position = position
        self.reason = reason


class TailKind(enum.Enum):
    """How a file ends."""

    CLEAN = "clean"
    ZEROED = "zeroed"
    TORN = "torn"


@dataclass(frozen=True)
class RefRecord:
    """One record with every column that is determined by the bytes of its batch.

    Fields that v0 and v1 lack (leader epoch, producer, sequence) are None, and so is
    -1 in v2. `magic` is the record's own, also inside a wrapper of the other magic;
    `compression` and the two batch columns are those of the top-level entry.
    """

    offset: int
    timestamp_ms: int | None
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: Headers | None
    leader_epoch: int | None
    producer_id: int | None
    producer_epoch: int | None
    sequence: int | None
    is_transactional: bool
    is_control: bool
    control_type: str | None
    magic: int
    compression: str
    batch_position: int
    batch_base_offset: int

    @property
    def timestamp_us(self) -> int | None:
        """The timestamp in microseconds; None if it does not fit an int64."""
        if self.timestamp_ms is None:
            return None
        micros = self.timestamp_ms * 1000
        return micros if -(2**63) <= micros < 2**63 else None


@dataclass(frozen=True)
class RefBatch:
    """One top-level entry: its position in the file, its offsets and its records."""

    position: int
    size: int
    first_offset: int
    last_offset: int
    records: tuple[RefRecord, ...]


@dataclass(frozen=True)
class RefSegment:
    """A whole file."""

    batches: tuple[RefBatch, ...]
    tail: TailKind
    tail_position: int
    """The end of the valid entries."""

    @property
    def records(self) -> list[RefRecord]:
        return [record for batch in self.batches for record in batch.records]
