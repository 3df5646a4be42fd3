"""The offsets that groups committed, out of ``view=consumer_offsets``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, WindowSpec

__all__ = ["COMMITS_SCHEMA", "committed_offsets", "with_their_ends"]

COMMITS_SCHEMA = (
    "partition int, offset long, timestamp timestamp, recordType string, isTombstone boolean, decodeError string, "
    "transactionState string, group string, committedTopic string, committedPartition int, committedOffset long, "
    "commitTimestamp timestamp, committedTopicId string"
)
"""The columns that are read; JSON is not made."""

_COMMITS = ("OFFSET_COMMIT", "LEGACY_OFFSET_COMMIT")
_POSITION = ("group", "topic", "topicPartition")


def committed_offsets(records: DataFrame, groups: Sequence[str]) -> DataFrame:
    """Select the commits and deletions of offsets.

    Commits of aborted and open transactions are left out. Reading with ``read_committed`` instead would stop at the
    first open transaction, while other groups go on to commit.

    Parameters
    ----------
    records : DataFrame
        With the columns of `COMMITS_SCHEMA`.
    groups : sequence of str
        Only these; all if it is empty.

    Returns
    -------
    DataFrame
        group, topic, topicPartition, topicId, committedOffset (null for a deletion), time, partition, offset.
    """
    from pyspark.sql import functions as F

    counts = F.col("transactionState").isNull() | (F.col("transactionState") == "committed")
    is_commit = F.col("recordType").isin(*_COMMITS) & F.col("decodeError").isNull()
    chosen = records.where(counts & is_commit)
    if groups:
        chosen = chosen.where(F.col("group").isin(*groups))
    return chosen.select(
        "group",
        F.col("committedTopic").alias("topic"),
        F.col("committedPartition").alias("topicPartition"),
        F.col("committedTopicId").alias("topicId"),
        "committedOffset",
        # Kafka before 0.10 gave records no timestamp.
        F.coalesce("timestamp", "commitTimestamp").alias("time"),
        "partition",
        "offset",
    )


def with_their_ends(commits: DataFrame) -> DataFrame:
    """Add `until`, when the next commit or the deletion of the same offset replaced each; null for the latest.

    The deletions themselves are left out.
    """
    from pyspark.sql import functions as F

    following = F.lead("time").over(_in_order())
    return commits.withColumn("until", following).where(F.col("committedOffset").isNotNull())


def _in_order() -> WindowSpec:
    from pyspark.sql import Window

    return Window.partitionBy(*_POSITION).orderBy("partition", "offset")
