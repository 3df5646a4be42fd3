"""What is wrong with a region of a file: one description for every mode, view and message."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass

from kafkalog_source.errors import CorruptBatchError, KafkaLogError, LimitError, counted, offsets_text, printable

READ_AROUND = "Restore the file from another replica, or read around it by startingOffsets and endingOffsets"


class Kind(enum.Enum):
    """How a region that gave no rows is to be taken."""

    TORN = "torn"
    """The file ends inside a batch, as after a crash or a copy of a live file. Benign where nothing follows."""
    DAMAGED = "damaged"
    """Bytes that should be batches and are not."""
    CUT = "cut"
    """What a broker's recovery removes, damaged or not, because a bad batch lies at its start or before it."""


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
        No offset outside of this range is lost. The last is None where nothing tells it.
    found : str or None
        What stood there instead of what was expected. Never the content of a record.
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
        """The error that FAILFAST raises for it."""
        if self.error is not None:
            return self.error.at(self.file, self.position, self.first_offset)
        return CorruptBatchError(
            self.reason,
            file=self.file,
            position=self.position,
            base_offset=self.first_offset,
            found=f"a bad region of {counted(self.size, 'byte')}",
            expected=self.expected,
            remedy=remedy,
        )

    def to_dict(self) -> dict[str, str | int | None]:
        """The same as plain values."""
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
        """The text of a corrupt record. It is ASCII: names of files keep every byte that they have."""
        return json.dumps({name: value for name, value in self.to_dict().items() if value is not None})

    def to_text(self) -> str:
        """One sentence for a log or a terminal."""
        place = f"{printable(self.file)}, position {self.position}"
        lost = offsets_text(self.first_offset, self.last_offset)
        return f"{place}: {counted(self.size, 'byte')} {self.kind.value}, {lost}: {self.reason}"


def words_of(error: KafkaLogError) -> tuple[str, str | None, str | None]:
    """What an error says is wrong, what was expected and what was found."""
    expected, found = (None if each is None else str(each) for each in (error.expected, error.found))
    return error.problem, expected, found


def too_large_error(size: int, most: int) -> LimitError:
    """The error for a batch of `size` bytes where only `most` are allowed."""
    return LimitError(
        "a batch is larger than is allowed",
        found=counted(size, "byte"),
        expected=f"at most {most}",
        remedy="Raise maxDecompressedBatchBytes if the batch is known to be good",
    )


def raise_damage(damage: Damage) -> None:
    """What FAILFAST does about damage; a torn end of the log is none.

    Raises
    ------
    KafkaLogError
    """
    if damage.kind is not Kind.TORN:
        raise damage.to_error()
