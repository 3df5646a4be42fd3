"""How far a long piece of work has come, counted by its threads and shown by whoever waits for it."""

from __future__ import annotations

import threading


class Progress:
    """Bytes done out of bytes in all.

    Attributes
    ----------
    done, total : int
    """

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self._lock = threading.Lock()

    def expect(self, size: int) -> None:
        """More is to be done."""
        with self._lock:
            self.total += size

    def add(self, size: int) -> None:
        """More has been done."""
        with self._lock:
            self.done += size
