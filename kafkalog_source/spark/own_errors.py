"""What reaches Spark when something goes wrong: our own errors, and no frames of ours around them."""

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
    "lower maxDecompressedBatchBytes, so that such a batch is refused"
)
_PLANNER_REMEDY = "Raise spark.sql.planner.pythonExecution.memory, or give the driver's machine more memory"
_MACHINE_REMEDY = "Run fewer tasks at once, or lower maxDecompressedBatchBytes so that such a batch is refused"
_NO_ROOM_FOR_LIBRARY = "failed to map segment from shared object"


class OwnErrorsOnly:
    """Cut the frames below off our own errors: Spark prints the traceback around the message.

    Where memory gives out, the error becomes one that says which setting to raise.
    A class, because a generator behind `contextmanager` gets the old traceback back.

    Parameters
    ----------
    split : Split, optional
        What a task reads; without it the driver is at work.
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
        "a Python worker has not enough memory" + (f" for {len(paths)} files" if len(paths) > 1 else ""),
        file=paths.pop() if len(paths) == 1 else None,
        found=str(error) or type(error).__name__,
        expected=None if limit is None else f"no need of more than {limit // _MIB} MiB of address space",
        remedy=_MACHINE_REMEDY if limit is None else limited_remedy,
    )
