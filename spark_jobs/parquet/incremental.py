"""What is new in log directories, added to a table: a stream that ends at what was there when it began.

Every micro-batch is written by `common.sink.append_once`, so one that Spark repeats after a
crash leaves each record there once. Plain Parquet is not written by Spark's own file sink:
that one keeps a list of its good files which only Spark reads, and any other reader would
see the files of a crashed attempt too.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from spark_jobs.common.input import JobInput
from spark_jobs.common.sink import JobOutput, append_once, iceberg_table
from spark_jobs.parquet.checkpoint import claim, has_unfinished, owner_properties
from spark_jobs.parquet.rows import ORDER_BY, PARTITION_BY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["Appended", "append_new", "read_stream"]

# Under this name Spark reports what a micro-batch counted.
_NAME = "log_to_parquet"

# Spark remembers the last hundred micro-batches, none of which is faster than some tens of milliseconds.
_POLL_SECONDS = 2


def read_stream(spark: SparkSession, source: JobInput) -> DataFrame:
    """Read an input as a stream."""
    reader = spark.readStream.format("kafkalog").options(**source.options)
    return reader.option("paths", json.dumps(list(source.paths))).load()


class Appended:
    """What a stream has counted, micro-batch by micro-batch."""

    def __init__(self) -> None:
        self._batches: dict[int, dict[str, int]] = {}

    def take(self, progress: Sequence[Any]) -> None:
        """Take in what Spark reports, which repeats itself."""
        for each in progress:
            number, row = int(each["batchId"]), each["observedMetrics"].get(_NAME)
            # Where nothing was read nothing was counted.
            if number in self._batches or row is None:
                continue
            self._batches[number] = {name: int(count or 0) for name, count in row.asDict().items()}
            if sys.stderr.isatty():
                print(f"micro-batch {number}: {self._batches[number]['records']:,} records", file=sys.stderr)

    @property
    def micro_batches(self) -> int:
        """How many held rows."""
        return len(self._batches)

    def totals(self) -> dict[str, int]:
        """Sum the counts."""
        sums = {"records": 0}
        for counts in self._batches.values():
            for name, count in counts.items():
                sums[name] = sums.get(name, 0) + count
        return sums


def append_new(
    rows: DataFrame,
    counts: Sequence[Column],
    finish: Callable[[DataFrame], DataFrame],
    output: JobOutput,
    checkpoint: str,
    shape: Mapping[str, str],
) -> Appended:
    """Add what is there now and was not written yet.

    Parameters
    ----------
    rows : DataFrame
        A stream of rows as they are counted.
    counts : sequence of Column
        What is counted.
    finish : callable
        Makes of counted rows those that are written.
    output : JobOutput
        Where to.
    checkpoint : str
        Where Spark notes what was written.
    shape : mapping
        What must stay as it was in earlier runs, by the key of the config.

    Returns
    -------
    Appended
        What was counted.

    Raises
    ------
    ConfigError
        If the checkpoint and the output do not belong together.
    """
    spark = rows.sparkSession
    owner = claim(spark, checkpoint, output, shape)
    observed = finish(rows.observe(_NAME, *counts))
    if output.format == "iceberg" and not spark.catalog.tableExists(output.table):
        nothing = spark.createDataFrame([], observed.schema)
        iceberg_table(nothing, output, PARTITION_BY, owner_properties(owner)).create()

    def write(batch: DataFrame, number: int) -> None:
        append_once(batch, output, PARTITION_BY, ORDER_BY, owner, number)

    writer = observed.writeStream.foreachBatch(write).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", checkpoint)
    appended = Appended()
    # Before 4.2 Spark repeats what a crash left unfinished and ends there, whatever is new.
    for _ in range(2 if has_unfinished(spark, checkpoint) else 1):
        _to_the_end(writer.start(), appended)
    return appended


def _to_the_end(query: StreamingQuery, appended: Appended) -> None:
    try:
        while not query.awaitTermination(_POLL_SECONDS):
            appended.take(query.recentProgress)
    finally:
        query.stop()
    appended.take(query.recentProgress)
