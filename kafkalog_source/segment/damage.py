"""What is wrong with a region of a file: one description for every mode, view and message."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from kafkalog_source.errors import CorruptBatchError, KafkaLogError


class Kind(enum.Enum):
    """How a region that gave no rows is to be taken."""

    TORN = "torn"
    """The file ends inside a batch, as after a crash or a copy of a live file. Benign where nothing follows."""
    DAMAGED = "damaged"
    """Bytes that should be batches and are not."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A region of a file that gave no rows.

    Attributes
    ----------
    file : str
    position, size : int
        The region, in bytes.
    kind : Kind
    reason : str
        What is wrong, as a sentence.
    expected : str or None
    error : KafkaLogError or None
        The error that a codec or limit raised, if that is the reason.
    first_offset, last_offset : int or None
        The offsets lost, where they are known; the last is the largest that can be.
    """

    file: str
    position: int
    size: int
    kind: Kind
    reason: str
    expected: str | None = None
    error: KafkaLogError | None = None
    first_offset: int | None = None
    last_offset: int | None = None

    def to_error(self) -> KafkaLogError:
        """The error that FAILFAST raises for it."""
        if self.error is not None:
            return self.error.at(self.file, self.position, self.first_offset)
        return CorruptBatchError(
            self.reason,
            file=self.file,
            position=self.position,
            base_offset=self.first_offset,
            found=f"a bad region of {self.size} bytes",
            expected=self.expected,
            remedy="Restore the file from another replica, or read around it by startingOffsets and endingOffsets",
        )

    def to_dict(self) -> dict[str, str | int | None]:
        """The same as plain values."""
        return {
            "file": self.file,
            "position": self.position,
            "size": self.size,
            "kind": self.kind.value,
            "reason": self.reason,
            "first_offset": self.first_offset,
            "last_offset": self.last_offset,
        }
