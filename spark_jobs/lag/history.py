"""The lag of each group and partition over time: committed offsets joined with the growth of logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["COLUMNS", "at_each_commit", "at_each_interval", "lag_history"]

COLUMNS = ("time", "group", "topic", "partition", "committedOffset", "logEndOffset", "lag", "lagMs", "commitTimestamp")

_LOG = ("topic", "topicPartition")


def at_each_commit(commits: DataFrame) -> DataFrame:
    """Return the moments of the history if it has a row for each commit."""
    return commits.withColumnRenamed("time", "commitTimestamp").selectExpr("commitTimestamp AS time", "*").drop("until")


def at_each_interval(commits: DataFrame, seconds: int, end: Column) -> DataFrame:
    """Return the moments of the history if it has rows at regular times, also while nothing is committed.

    Parameters
    ----------
    commits : DataFrame
        From `with_their_ends`.
    seconds : int
        The interval. Times are multiples of it since 1970.
    end : Column
        The last time, a timestamp.
    """
    from pyspark.sql import functions as F

    step = seconds * 1_000_000
    first = F.ceil(F.unix_micros("time") / step) * step
    # Replaced at that time already; the latest commit holds up to the end, that time included.
    last = F.coalesce(F.unix_micros("until") - 1, F.unix_micros(end))
    times = F.when(first <= last, F.sequence(first, last, F.lit(step)))
    moments = commits.withColumn("micros", F.explode(times)).withColumnRenamed("time", "commitTimestamp")
    return moments.select(F.timestamp_micros("micros").alias("time"), "*").drop("micros", "until")


def lag_history(moments: DataFrame, steps: DataFrame, ids: DataFrame) -> DataFrame:
    """Join the moments with the logs.

    Parameters
    ----------
    moments : DataFrame
        From `at_each_commit` or `at_each_interval`.
    steps : DataFrame
        From `log_steps`.
    ids : DataFrame
        From `topic_ids`.

    Returns
    -------
    DataFrame
        With the columns `COLUMNS`. logEndOffset, lag and lagMs are null if the log is not there, its records of that
        time are deleted, or the offset was committed for an earlier topic of the same name.
    """
    from pyspark.sql import functions as F

    is_other = F.col("topicId").isNotNull() & F.col("idOnDisk").isNotNull() & (F.col("topicId") != F.col("idOnDisk"))
    rows = _with_unread(_with_end(moments, steps), steps).join(F.broadcast(ids), list(_LOG), "left")
    end = F.when(~is_other, F.col("logEndOffset"))
    lag = end - F.col("committedOffset")
    waited = F.when(lag <= 0, F.lit(0)).otherwise(F.unix_millis("time") - F.unix_millis("unreadSince"))
    return rows.select(
        "time",
        "group",
        "topic",
        F.col("topicPartition").alias("partition"),
        "committedOffset",
        end.alias("logEndOffset"),
        lag.alias("lag"),
        F.when(lag.isNotNull(), F.greatest(waited, F.lit(0))).alias("lagMs"),
        "commitTimestamp",
    )


def _with_end(moments: DataFrame, steps: DataFrame) -> DataFrame:
    """Add the end of the log at each moment: the batches that were appended up to it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    both = moments.unionByName(
        steps.select(*_LOG, "logStart", F.col("appended").alias("time"), (F.col("lastOffset") + 1).alias("grownTo")),
        allowMissingColumns=True,
    )
    log = Window.partitionBy(*_LOG)
    # Nulls come first: the batches of a moment are before it.
    so_far = log.orderBy("time", F.col("group").asc_nulls_first()).rowsBetween(
        Window.unboundedPreceding, Window.currentRow
    )
    first = F.min("logStart").over(log)
    # Before the first batch on disk, a log from offset 0 on was empty; of any other, the records are deleted.
    end = F.coalesce(F.max("grownTo").over(so_far), F.when(first == 0, F.lit(0)))
    return both.withColumn("logEndOffset", end).where(F.col("group").isNotNull()).drop("grownTo", "logStart")


def _with_unread(rows: DataFrame, steps: DataFrame) -> DataFrame:
    """Add when the first record that a group had not read was appended: the first batch that ends at or after it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    batches = steps.select(
        *_LOG, F.col("lastOffset").alias("committedOffset"), F.col("appended").alias("batchAppended")
    )
    both = rows.unionByName(batches, allowMissingColumns=True)
    onwards = (
        Window.partitionBy(*_LOG)
        .orderBy(F.col("committedOffset").desc(), F.col("group").asc_nulls_first())
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    since = F.last("batchAppended", ignorenulls=True).over(onwards)
    return both.withColumn("unreadSince", since).where(F.col("group").isNotNull()).drop("batchAppended")
