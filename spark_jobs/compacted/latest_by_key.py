"""The latest record of each key, in Spark: one exchange and one sort, whatever is asked for.

Records are brought together by topic and key. Sorted once by topic, key and partition
they serve both steps: the latest offset of a key within each partition, and the
comparison of partitions. The aggregate holds one record of a key at a time, so a key
with a million updates costs no memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["SeveralPartitions", "latest_by_key"]

SeveralPartitions = Literal["apart", "latest-timestamp"]


def latest_by_key(records: DataFrame, several_partitions: SeveralPartitions) -> DataFrame:
    """Take the record with the highest offset of each topic, partition and key.

    Parameters
    ----------
    records : DataFrame
        With topic, partition, key and offset. Keys must not be null.
    several_partitions : str
        ``apart`` keeps a record for each partition that a key lies in, as Kafka's own
        compaction does. ``latest-timestamp`` keeps the one with the latest timestamp of these; one
        without a timestamp is older than any other, and of equal ones that of the highest
        offset wins, then of the highest partition.

    Returns
    -------
    DataFrame
        The columns of `records` and ``repeated``: true in one row of each key that lies in
        several partitions.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    rest = [name for name in records.columns if name not in ("topic", "key", "partition")]
    together = records.repartition("topic", "key").groupBy("topic", "key", "partition")
    latest = together.agg(F.max_by(F.struct(*rest), "offset").alias("latest"))
    latest = latest.select("topic", "key", "partition", "latest.*")
    of_key = Window.partitionBy("topic", "key")
    wins = F.struct("timestamp", "offset", "partition")
    ranked = latest.withColumn("wins", F.max(wins).over(of_key)).withColumn("places", F.count("*").over(of_key))
    is_winner = _same(F.col("wins"), wins)
    ranked = ranked.withColumn("repeated", (F.col("places") > 1) & is_winner)
    if several_partitions == "latest-timestamp":
        ranked = ranked.where(is_winner)
    return ranked.select(*records.columns, "repeated")


def _same(one: Column, other: Column) -> Column:
    # A struct with a null inside is not equal to itself, save by this comparison.
    return one.eqNullSafe(other)
