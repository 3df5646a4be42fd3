"""A progress bar on the terminal; nothing where standard error is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["progress_bar"]


def progress_bar(verb: str, state: Callable[[], tuple[int, int]]) -> AbstractContextManager[object]:
    """Show progress on the standard error stream while the ``with`` block runs, if that is a terminal.

    Parameters
    ----------
    verb : str
        What is being done.
    state : callable
        Returns the number of bytes done and the total. The drawing thread calls it.
    """
    # Rich is imported only where it draws. It takes FORCE_COLOR for a terminal; a log file must not.
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TaskProgressColumn,
        TimeRemainingColumn,
    )

    class PolledBar(Progress):
        """Asks for the state each time it is drawn."""

        def get_renderables(self) -> Iterable[RenderableType]:
            """Update the task before drawing it; until the total is known, the bar pulses."""
            done, total = state()
            for task in self.task_ids:
                self.update(task, completed=done, total=total or None)
            return super().get_renderables()

    columns = (
        "{task.description}",
        BarColumn(),
        TaskProgressColumn(),
        DownloadColumn(binary_units=True),
        TimeRemainingColumn(),
    )
    bar = PolledBar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
    bar.add_task(verb, total=None)
    return bar
