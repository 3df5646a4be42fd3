"""What was in the logs of topics over time, out of the headers of their batches (``view=batches``)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["BATCHES_SCHEMA", "IDS_SCHEMA", "log_steps", "pattern_of", "topic_ids"]

BATCHES_SCHEMA = (
    "topic string, partition int, baseOffset long, batchPosition long, batchBaseOffset long, batchLastOffset long, "
    "maxTimestamp timestamp"
)
IDS_SCHEMA = "topic string, partition int, checkpoint string, name string, value string"


def pattern_of(topics: Iterable[str]) -> str:
    """Return a value of subscribePattern that matches these topics, of which some may not be there."""
    return "|".join(re.escape(topic) for topic in sorted(topics))


def log_steps(batches: DataFrame) -> DataFrame:
    """Turn batches into the steps in which logs grew.

    A batch is in the log from its greatest timestamp on, or from that of an earlier batch if that is greater, as a
    broker finds offsets by time. Of formats without timestamps, it has always been there.

    Parameters
    ----------
    batches : DataFrame
        With the columns of `BATCHES_SCHEMA`.

    Returns
    -------
    DataFrame
        topic, topicPartition, lastOffset, appended (timestamp), logStart: the first offset on disk.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    log = Window.partitionBy("topic", "partition")
    so_far = log.orderBy("baseOffset", "batchPosition").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # Compressed messages of formats 0 and 1 do not have their first offset in the header.
    first = F.coalesce("batchBaseOffset", "baseOffset")
    appended = F.coalesce(F.max("maxTimestamp").over(so_far), F.timestamp_millis(F.lit(0)))
    return batches.select(
        "topic",
        F.col("partition").alias("topicPartition"),
        F.col("batchLastOffset").alias("lastOffset"),
        appended.alias("appended"),
        F.min(first).over(log).alias("logStart"),
    )


def topic_ids(properties: DataFrame) -> DataFrame:
    """Return the topic id of each partition on disk, out of ``view=checkpoints``: topic, topicPartition, idOnDisk."""
    from pyspark.sql import functions as F

    found = properties.where("checkpoint = 'partition.metadata' AND name = 'topic_id'")
    return found.select("topic", F.col("partition").alias("topicPartition"), F.col("value").alias("idOnDisk"))
