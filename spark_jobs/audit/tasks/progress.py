"""Progress of the one Spark job of an audit, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["progress_of_tasks"]

_SECONDS = 0.25
_GROUP = "spark.jobGroup.id"


@contextmanager
def progress_of_tasks(spark: SparkSession, verb: str) -> Iterator[None]:
    """Show a bar on standard error while a Spark job runs in the ``with`` block.

    Nothing is shown if standard error is not a terminal, or with Spark Connect, whose client has a bar of its own.
    """
    if not sys.stderr.isatty() or not hasattr(spark, "_jsc"):
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    context, group = spark.sparkContext, f"{verb}-{id(spark)}"
    before = context.getLocalProperty(_GROUP)
    context.setLocalProperty(_GROUP, group)
    bar = Progress(*Progress.get_default_columns(), TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    shown = bar.add_task(verb, total=None)

    def update() -> None:
        done, total = _tasks(spark, group)
        bar.update(shown, completed=done, total=total or None)

    try:
        with bar, _repeated(update):
            yield
    finally:
        # None removes it.
        context.setLocalProperty(_GROUP, before)  # type: ignore[arg-type]


@contextmanager
def _repeated(action: Callable[[], None]) -> Iterator[None]:
    stopped = Event()

    def repeat() -> None:
        while not stopped.wait(_SECONDS):
            action()

    thread = Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _tasks(spark: SparkSession, group: str) -> tuple[int, int]:
    """Return how many tasks of the group's jobs are done, and how many there are."""
    tracker = spark.sparkContext.statusTracker()
    jobs = filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)))
    stages = [stage for job in jobs for stage in filter(None, map(tracker.getStageInfo, job.stageIds))]
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
