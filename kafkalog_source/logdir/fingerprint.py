"""Whether a directory that was listed looks as it was listed, or a broker renamed files meanwhile.

``scandir`` gives no snapshot: of two files that are created or renamed one after
the other, it may show the second and not the first. Such a listing would have
gaps, or the same rows twice. Whoever compares the numbers of this module from
before and after notices it, at the price of listing the names once more; a
directory in which nothing changed for a while is spared that.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from kafkalog_source.logdir.access import entries, status

__all__ = ["LONG_AGO_NS", "Fingerprint", "is_at_rest"]

LONG_AGO_NS = 60 * 10**9
"""Nothing that was last changed this long before a listing changed during it, even if two clocks differ somewhat."""


@dataclass(slots=True)
class Fingerprint:
    """A number for the names and inodes in a directory, whatever their order.

    Attributes
    ----------
    started_ns : int
        The time when it was begun.
    """

    started_ns: int = field(default_factory=time.time_ns)
    _sum: int = 0

    def add(self, entry: os.DirEntry[str]) -> None:
        """Take in one entry."""
        self._sum += hash((entry.name, entry.inode()))

    def still_fits(self, path: str) -> bool:
        """Whether the directory has these very entries now."""
        now = Fingerprint()
        for entry in entries(path):
            now.add(entry)
        return now._sum == self._sum


def is_at_rest(path: str, started_ns: int) -> bool:
    """Whether no file of a directory was created, removed or renamed shortly before `started_ns` or since then."""
    return status(path).st_mtime_ns < started_ns - LONG_AGO_NS
