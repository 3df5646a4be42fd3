"""Appending what is new in log directories to a table, by a stream that ends at the end of the logs at its start.

Every micro-batch is written by `common.sink.append_once`, so that each record is there once
even if Spark repeats a micro-batch after a crash. Plain Parquet is not written by Spark's own
file sink: it lists valid files in a log that only Spark reads, so that other readers would
also read the files of failed attempts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from spark_jobs.common.input import JobInput
from spark_jobs.common.sink import JobOutput, append_once, iceberg_table
from spark_jobs.parquet.checkpoint import claim, has_unfinished, owner_properties
from spark_jobs.parquet.rows import ORDER_BY, PARTITION_BY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["STREAM_SETTINGS", "Appended", "append_new", "read_stream"]

STREAM_SETTINGS = {"spark.sql.adaptive.enabled": "false"}
"""Settings of a session that runs a stream. Spark warns that a stream cannot be adaptive if the session is."""

# The name of the observed metrics of a micro-batch.
_NAME = "log_to_parquet"

# Spark keeps the progress of the last hundred micro-batches, each of which takes tens of milliseconds at least.
_POLL_SECONDS = 2


def read_stream(spark: SparkSession, source: JobInput) -> DataFrame:
    """Return an input as a stream."""
    reader = spark.readStream.format("kafkalog").options(**source.options)
    return reader.option("paths", json.dumps(list(source.paths))).load()


class Appended:
    """The counts of a stream, by micro-batch."""

    def __init__(self) -> None:
        self._batches: dict[int, dict[str, int]] = {}

    def take(self, progress: Sequence[Any]) -> None:
        """Add progress reports; Spark repeats earlier ones."""
        for each in progress:
            number, row = int(each["batchId"]), each["observedMetrics"].get(_NAME)
            # Without rows there are no metrics.
            if number in self._batches or row is None:
                continue
            self._batches[number] = {name: int(count or 0) for name, count in row.asDict().items()}

    @property
    def micro_batches(self) -> int:
        """Number of micro-batches with rows."""
        return len(self._batches)

    def totals(self) -> dict[str, int]:
        """Return the sums of all counts."""
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
    """Append what is in the input now and was not written yet.

    Parameters
    ----------
    rows : DataFrame
        A stream of rows, as from `shaped`.
    counts : sequence of Column
        Aggregates to observe.
    finish : callable
        Turns counted rows into those to write.
    output : JobOutput
        Where to write.
    checkpoint : str
        Where Spark records what was written.
    shape : mapping
        Config values that must not change between runs, by key.

    Returns
    -------
    Appended
        The counts.

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
    # Before 4.2, a query that repeats an uncommitted micro-batch ends after it; a second one reads what is new.
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
