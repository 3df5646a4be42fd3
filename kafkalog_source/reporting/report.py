"""The report of a plan and a read: counts, damage and warnings."""

from __future__ import annotations

import resource
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kafkalog_source.errors import counted
from kafkalog_source.segment.damage.description import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafkalog_source.segment.damage.description import Damage

_MOST_LISTED = 50
"""Most damaged regions that are listed one by one."""


@dataclass(slots=True)
class Report:
    """Counts of a plan, or of a plan and its read.

    Attributes
    ----------
    bytes_total : int
        Bytes of all segments of the chosen partitions.
    bytes_read : int
        Bytes read from segments and their indexes, while planning and while reading.
    topics, partitions, segments : int
        Chosen for the read.
    without_segments : int
        Partitions that were chosen but have no segment in their directories; not counted in `partitions`.
    splits : int
    batches : int
        Batches and top-level messages that were walked.
    records : int
        Rows.
    times_out_of_range : int
        Timestamps beyond int64 microseconds, which are null.
    times : dict
        The times that bound the read in UTC, as in ``ReadOptions.times``.
    damage : list of Damage
        Regions that yielded no rows, including a torn batch at the end of a live log.
    missing : list of Damage
        Wanted offsets that are in no segment, since one is missing.
    skipped : list of (str, str)
        Paths that were left out, and why.
    warnings : list of str
    """

    bytes_total: int = 0
    bytes_read: int = 0
    topics: int = 0
    partitions: int = 0
    segments: int = 0
    without_segments: int = 0
    splits: int = 0
    batches: int = 0
    records: int = 0
    times_out_of_range: int = 0
    times: Mapping[str, str] = field(default_factory=dict)
    damage: list[Damage] = field(default_factory=list)
    missing: list[Damage] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    faults_before: int = field(default_factory=lambda: minor_faults())

    def add_reading(self, other: Report) -> None:
        """Add what one thread read."""
        self.bytes_read += other.bytes_read
        self.batches += other.batches
        self.records += other.records
        self.times_out_of_range += other.times_out_of_range
        # Threads read splits in any order.
        self.damage = sorted([*self.damage, *other.damage], key=lambda each: (each.file, each.position))
        # Several splits may find the same gap, and give the same warning.
        self.missing = list(dict.fromkeys([*self.missing, *other.missing]))
        self.warnings = list(dict.fromkeys([*self.warnings, *other.warnings]))

    def left_out_texts(self, mode: str) -> list[str]:
        """A sentence for each of the first damaged regions, and one with the number of further ones.

        A region that ends the read in this mode is not included, since it is the error of the read.
        """
        left_out = [each for each in self.damage if not ends_read(each, mode)]
        texts = [each.to_text() for each in left_out[:_MOST_LISTED]]
        left = len(left_out) - len(texts)
        return [*texts, f"{counted(left, 'more damaged region')}: view=damage lists all"] if left else texts

    def to_dict(self) -> dict[str, Any]:
        """Convert the report to plain values: numbers, and lists of mappings."""
        counts = {
            name: getattr(self, name)
            for name in (
                "bytes_total",
                "bytes_read",
                "topics",
                "partitions",
                "segments",
                "without_segments",
                "splits",
                "batches",
                "records",
                "times_out_of_range",
            )
        }
        return {
            **counts,
            "minor_faults": minor_faults() - self.faults_before,
            "times": dict(self.times),
            "damage": [each.to_dict() for each in self.damage],
            "missing": [each.to_dict() for each in self.missing],
            "skipped": [{"path": path, "reason": reason} for path, reason in self.skipped],
            "warnings": list(self.warnings),
        }


def ends_read(damage: Damage, mode: str) -> bool:
    """Whether a region is an error in this mode; what RECOVER truncates is not."""
    return damage.kind is Kind.DAMAGED and mode in ("FAILFAST", "RECOVER")


def minor_faults() -> int:
    """The number of minor page faults of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
