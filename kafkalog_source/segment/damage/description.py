"""The description of a damaged region, shared by all modes, views and messages."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass

from kafkalog_source.errors import CorruptBatchError, KafkaLogError, LimitError, counted, offsets_text, printable

READ_AROUND = "Restore the file from another replica, or skip the damage with startingOffsets and endingOffsets"


class Kind(enum.Enum):
    """Kinds of a region that gave no rows."""

    TORN = "torn"
    """The file ends inside a batch, as after a crash or in a copy of a live file. Harmless at the end of the log."""
    DAMAGED = "damaged"
    """Bytes that should be batches but are not valid."""
    CUT = "cut"
    """What a broker's recovery would truncate, valid or not: everything from the first bad batch on."""
    MISSING = "missing"
    """No bytes at all: offsets between two segments that are in neither, since a segment is missing."""


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
        The error that a codec or a limit raised, if that is the reason.
    first_offset, last_offset : int or None
        No offset outside this range is lost. None where it cannot be known.
    found : str or None
        What was read instead of what was expected, such as the stored and the computed CRC. Never record content.
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
    found: str | None = None

    def to_error(self, remedy: str = READ_AROUND) -> KafkaLogError:
        """Return the error that FAILFAST raises for this region."""
        if self.error is not None:
            return self.error.at(self.file, self.position, self.first_offset)
        return CorruptBatchError(
            self.reason,
            file=self.file,
            position=self.position,
            base_offset=self.first_offset,
            found=self.found or f"a bad region of {counted(self.size, 'byte')}",
            expected=self.expected,
            remedy=remedy,
        )

    def to_dict(self) -> dict[str, str | int | None]:
        """Return the fields as plain values."""
        return {
            "file": self.file,
            "position": self.position,
            "size": self.size,
            "kind": self.kind.value,
            "reason": self.reason,
            "expected": self.expected,
            "found": self.found,
            "first_offset": self.first_offset,
            "last_offset": self.last_offset,
        }

    def to_json(self) -> str:
        """Return the JSON text of ``_corrupt_record``. It is ASCII, so file names keep bytes that are not UTF-8."""
        return json.dumps({name: value for name, value in self.to_dict().items() if value is not None})

    def to_text(self) -> str:
        """Return one sentence for a log or a terminal."""
        place = f"{printable(self.file)}, position {self.position}"
        lost = offsets_text(self.first_offset, self.last_offset)
        return f"{place}: {counted(self.size, 'byte')} {self.kind.value}, {lost}: {self.reason}"


def words_of(error: KafkaLogError) -> tuple[str, str | None, str | None]:
    """The problem, the expected and the found text of an error."""
    expected, found = (None if each is None else str(each) for each in (error.expected, error.found))
    return error.problem, expected, found


def too_large_error(size: int, most: int) -> LimitError:
    """The error for a batch of `size` bytes where at most `most` bytes are allowed."""
    return LimitError(
        "the batch is larger than allowed",
        found=counted(size, "byte"),
        expected=f"at most {most}",
        remedy="Raise maxDecompressedBatchBytes if the batch is known to be good",
    )


def raise_damage(damage: Damage) -> None:
    """Raise the error for a damaged region, as FAILFAST does; ignore a torn end of the log.

    Raises
    ------
    KafkaLogError
        The region is not torn.
    """
    if damage.kind is not Kind.TORN:
        raise damage.to_error()
