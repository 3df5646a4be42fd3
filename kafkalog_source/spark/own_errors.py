"""Errors as Spark shows them: those of kafkalog, without the traceback that led to them."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError, LimitError
from kafkalog_source.spark.address_space import address_space_limit

if TYPE_CHECKING:
    from kafkalog_source.partition.splits import Split

__all__ = ["OwnErrorsOnly"]

_MIB = 1 << 20
_TASK_REMEDY = (
    "Raise spark.executor.pyspark.memory, which limits address space and is shared out among the cores of an "
    "executor: the libraries take about half a GiB for each, and a batch several times its decompressed size. Or "
    "lower maxDecompressedBatchBytes, so that such a batch is rejected"
)
_PLANNER_REMEDY = "Raise spark.sql.planner.pythonExecution.memory, or give the driver's machine more memory"
_MACHINE_REMEDY = "Run fewer tasks at once, or lower maxDecompressedBatchBytes so that such a batch is rejected"
_NO_ROOM_FOR_LIBRARY = "failed to map segment from shared object"


class OwnErrorsOnly:
    """Remove the traceback from errors of kafkalog, because Spark prints it around the message.

    An out-of-memory error is replaced by one that names the setting to raise. This is a class because a generator
    with `contextmanager` restores the traceback.

    Parameters
    ----------
    split : Split, optional
        The split that a task reads; None on the driver.
    """

    def __init__(self, split: Split | None = None) -> None:
        self._split = split

    def __enter__(self) -> None:
        """Nothing to set up."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        if isinstance(error, MemoryError) or (isinstance(error, ImportError) and _NO_ROOM_FOR_LIBRARY in str(error)):
            error = _no_memory(error, self._split)
        if isinstance(error, KafkaLogError):
            raise error.with_traceback(None) from None


def _no_memory(error: BaseException, split: Split | None) -> LimitError:
    limit = address_space_limit()
    limited_remedy = _PLANNER_REMEDY if split is None else _TASK_REMEDY
    paths = set() if split is None else {each.path for each in split.ranges}
    return LimitError(
        "a Python worker ran out of memory" + (f" for {len(paths)} files" if len(paths) > 1 else ""),
        file=paths.pop() if len(paths) == 1 else None,
        found=str(error) or type(error).__name__,
        expected=None if limit is None else f"at most {limit // _MIB} MiB of address space",
        remedy=_MACHINE_REMEDY if limit is None else limited_remedy,
    )
