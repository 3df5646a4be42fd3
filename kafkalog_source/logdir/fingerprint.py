"""Detects that a broker created, removed or renamed files while a directory was being listed.

``scandir`` gives no snapshot: of two files that are created or renamed one after
the other, it may show the second and not the first. Such a listing would have
gaps, or the same rows twice. Comparing the fingerprints from before and after
the listing detects it, at the cost of listing the names once more; a directory
that has not changed for a while does not need it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from kafkalog_source.logdir.access import entries, status

__all__ = ["LONG_AGO_NS", "Fingerprint", "is_at_rest"]

LONG_AGO_NS = 60 * 10**9
"""A file last modified this long before a listing did not change during it, even if two clocks differ somewhat."""


@dataclass(slots=True)
class Fingerprint:
    """An order-independent hash of the names and inodes in a directory.

    Attributes
    ----------
    started_ns : int
        The time it was created, in nanoseconds since the epoch.
    """

    started_ns: int = field(default_factory=time.time_ns)
    _sum: int = 0

    def add(self, entry: os.DirEntry[str]) -> None:
        """Add one entry."""
        self._sum += hash((entry.name, entry.inode()))

    def still_fits(self, path: str) -> bool:
        """Whether the directory has exactly these entries now."""
        now = Fingerprint()
        for entry in entries(path):
            now.add(entry)
        return now._sum == self._sum


def is_at_rest(path: str, started_ns: int) -> bool:
    """Whether no file of a directory was created, removed or renamed shortly before `started_ns` or since then."""
    return status(path).st_mtime_ns < started_ns - LONG_AGO_NS
