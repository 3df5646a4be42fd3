"""The one line of progress that a job shows on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Progress", "progress_line"]

_SECONDS = 0.5


class Progress:
    """Counts the tasks of a Spark application."""

    def __init__(self) -> None:
        self._spark: SparkSession | None = None
        self._stages: set[int] = set()
        self._asking = Lock()

    def follow(self, spark: SparkSession) -> None:
        """Count the tasks of this session from now on."""
        self._spark = spark

    def unfollow(self) -> None:
        """Ask the session for nothing more, because it is about to end."""
        with self._asking:
            self._spark = None

    def tasks(self) -> tuple[int, int] | None:
        """Return how many tasks are done and how many are known; None before Spark has started."""
        with self._asking:
            return None if self._spark is None else self._counted(self._spark)

    def _counted(self, spark: SparkSession) -> tuple[int, int]:
        tracker = spark.sparkContext.statusTracker()
        # Stages of all jobs: a stream runs its own in another thread and group.
        self._stages.update(tracker.getActiveStageIds())
        stages = [stage for stage in map(tracker.getStageInfo, self._stages) if stage is not None]
        return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)


@contextmanager
def progress_line(verb: str) -> Iterator[Progress]:
    """Show a bar on standard error during the ``with`` block, if that is a terminal.

    Parameters
    ----------
    verb : str
        What the job does, such as ``Copying``.
    """
    progress = Progress()
    if not sys.stderr.isatty():
        yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), "tasks", TimeElapsedColumn())
    # Rich would send what the job prints to standard output to the stream of the bar.
    bar = Bar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
    shown = bar.add_task("Starting Spark", total=None)
    ended = Event()

    def draw() -> None:
        while not ended.wait(_SECONDS):
            tasks = progress.tasks()
            if tasks is not None:
                bar.update(shown, description=verb, completed=tasks[0], total=tasks[1] or None)

    thread = Thread(target=draw, daemon=True)
    with bar:
        thread.start()
        try:
            yield progress
        finally:
            ended.set()
            thread.join()
