"""One Spark job that reads all splits and returns their tally."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa

from kafkalog_source import LimitError, Split
from spark_jobs.audit.tasks.mergeable import Tally
from spark_jobs.audit.tasks.split import Reads, tally_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["tally_in_tasks"]

_MOST_TASKS = 256
"""The driver holds the tables of all tasks at once. They hardly overlap, as a task reads neighbouring splits."""
_MEMORY_REMEDY = (
    "Raise spark.executor.pyspark.memory if it is set, run fewer tasks at once, or lower maxDecompressedBatchBytes so "
    "that large batches are rejected"
)
_ROW = pa.schema([("name", pa.string()), ("content", pa.binary())])


def tally_in_tasks(spark: SparkSession, splits: Sequence[Split], reads: Reads) -> Tally:
    """Read splits in the tasks of one Spark job, which tally them, and merge the results.

    Parameters
    ----------
    spark : SparkSession
        A classic one, or a Spark Connect client.
    splits : sequence of Split
        In the order of the plan.
    reads : Reads
    """
    parts = _parts(splits, _MOST_TASKS)
    if not parts:
        return Tally()
    numbers = spark.range(0, len(parts), 1, len(parts))
    found = numbers.mapInArrow(_task(parts, reads), "name string, content binary").collect()
    return Tally((row["name"], bytes(row["content"])) for row in found)


def _parts(splits: Sequence[Split], most: int) -> list[bytes]:
    """Return the splits of each task, pickled: neighbours, because their tables overlap least."""
    count = min(most, len(splits))
    bounds = [len(splits) * number // count for number in range(count + 1)] if count else [0]
    return [pickle.dumps(list(splits[low:high])) for low, high in pairwise(bounds)]


def _task(parts: list[bytes], reads: Reads) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in numbers:
            for number in rows["id"].to_pylist():
                try:
                    tally = tally_of(pickle.loads(parts[number]), reads)
                except MemoryError as error:
                    raise LimitError("a task ran out of memory", found=str(error), remedy=_MEMORY_REMEDY) from None
                for name, content in tally.rows():
                    yield pa.RecordBatch.from_pydict({"name": [name], "content": [content]}, _ROW)

    return run
