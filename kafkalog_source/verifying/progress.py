"""Progress in bytes, counted by worker threads and displayed by the caller."""

from __future__ import annotations

import threading


class Progress:
    """Bytes done out of the total. Thread-safe.

    Attributes
    ----------
    done, total : int
    """

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self._lock = threading.Lock()

    def expect(self, size: int) -> None:
        """Add bytes to the total."""
        with self._lock:
            self.total += size

    def add(self, size: int) -> None:
        """Add bytes to those that are done."""
        with self._lock:
            self.done += size
