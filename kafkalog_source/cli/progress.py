"""A bar on the terminal for what takes long; nothing where there is no terminal."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Bar"]

_WIDTH = 30
_REDRAW_SECONDS = 0.2
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class Bar:
    """Draws on the standard error stream while the ``with`` block runs, if that is a terminal.

    Parameters
    ----------
    verb : str
        What is being done.
    state : callable
        Gives the bytes done and the bytes in all.
    """

    def __init__(self, verb: str, state: Callable[[], tuple[int, int]]) -> None:
        self._verb = verb
        self._state = state
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._thread = threading.Thread(target=self._draw, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            # What is written next begins on a clean line.
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _draw(self) -> None:
        started = time.monotonic()
        while not self._ended.wait(_REDRAW_SECONDS):
            done, total = self._state()
            sys.stderr.write("\r" + bar_line(self._verb, done, total, time.monotonic() - started) + "\x1b[K")
            sys.stderr.flush()


def bar_line(verb: str, done: int, total: int, seconds: float) -> str:
    """Write how far it is: a bar, the bytes, the pace and the time that is left."""
    share = min(done / total, 1.0) if total else 0.0
    filled = int(share * _WIDTH)
    pace = done / seconds if seconds > 0 else 0.0
    left = f", {_duration((total - done) / pace)} left" if pace > 0 and total > done else ""
    bar = "#" * filled + "." * (_WIDTH - filled)
    return f"{verb} [{bar}] {share:4.0%} {size_text(done)} of {size_text(total)}, {size_text(pace)}/s{left}"


def size_text(size: float) -> str:
    """Write a number of bytes for people."""
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
