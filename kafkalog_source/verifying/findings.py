"""Findings: problems with their place and severity."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.errors import PermissionDeniedError, printable
from kafkalog_source.segment.damage.description import Kind

if TYPE_CHECKING:
    from kafkalog_source.errors import KafkaLogError
    from kafkalog_source.segment.damage.description import Damage


class Severity(enum.Enum):
    """The severity of a finding."""

    DAMAGE = "damage"
    """Records that cannot be read, or are missing."""
    MISLEADING = "misleading"
    """A file other than a segment that is damaged or contradicts the batches: it misleads a broker, or is rebuilt."""
    UNCHECKED = "unchecked"
    """Records that cannot be checked because they are in remote storage or compressed."""
    NOTE = "note"
    """Not a problem: left by a crash, a live log or an old broker."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem that was found.

    Attributes
    ----------
    severity : Severity
    file : str
    problem : str
        A sentence; never the content of a record.
    position : int or None
        Position in the file, in bytes.
    size : int or None
        Size of the affected region, in bytes.
    found, expected : str or None
    first_offset, last_offset : int or None
        The affected offsets, None if unknown.
    is_denied : bool
        Whether the file was not checked because this process may not read it.
    is_absent : bool
        Whether records are missing that no file on this disk holds, damaged or not.
    """

    severity: Severity
    file: str
    problem: str
    position: int | None = None
    size: int | None = None
    found: str | None = None
    expected: str | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    is_denied: bool = False
    is_absent: bool = False

    def __str__(self) -> str:
        place = printable(self.file) + ("" if self.position is None else f", position {self.position}")
        details = [
            f"{word} {value}"
            for word, value in (("found", self.found), ("expected", self.expected), ("offsets", self._offsets()))
            if value is not None
        ]
        return f"{self.severity.value}: {place}: {self.problem}" + (f" ({', '.join(details)})" if details else "")

    def _offsets(self) -> str | None:
        if self.first_offset is None:
            return None
        return f"from {self.first_offset} to {'?' if self.last_offset is None else self.last_offset}"

    def to_dict(self) -> dict[str, str | int | None]:
        """Convert to plain values."""
        return {
            "severity": self.severity.value,
            "file": self.file,
            "position": self.position,
            "size": self.size,
            "problem": self.problem,
            "found": self.found,
            "expected": self.expected,
            "firstOffset": self.first_offset,
            "lastOffset": self.last_offset,
        }


def of_damage(damage: Damage) -> Finding:
    """The finding for a region that yields no rows; a torn end is only a note."""
    torn = damage.kind is Kind.TORN
    problem = damage.reason if damage.error is None else damage.error.problem
    return Finding(
        Severity.NOTE if torn else Severity.DAMAGE,
        damage.file,
        f"the log ends inside a batch: {problem}" if torn else problem,
        damage.position,
        damage.size,
        damage.found or f"a bad region of {damage.size} bytes",
        damage.expected,
        damage.first_offset,
        damage.last_offset,
    )


def of_error(error: KafkaLogError, severity: Severity, file: str) -> Finding:
    """The finding for an error."""
    return Finding(
        severity,
        error.file or file,
        error.problem,
        error.position,
        None,
        None if error.found is None else str(error.found),
        None if error.expected is None else str(error.expected),
        is_denied=isinstance(error, PermissionDeniedError),
    )
