"""The latest record of each key, in Spark, with one exchange and one sort.

Records are repartitioned by topic and key. One sort by topic, key and partition serves
both steps: the latest offset of a key within each partition, and the comparison of
partitions. The aggregate holds one record of a key at a time, so that a key with a
million updates needs no more memory than others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["SeveralPartitions", "latest_by_key"]

SeveralPartitions = Literal["apart", "latest-timestamp"]


def latest_by_key(records: DataFrame, several_partitions: SeveralPartitions) -> DataFrame:
    """Select the record with the highest offset of each topic, partition and key.

    Parameters
    ----------
    records : DataFrame
        With topic, partition, key and offset. Keys must not be null.
    several_partitions : str
        ``apart`` keeps a record for each partition that a key is in, as Kafka's own
        compaction does. ``latest-timestamp`` keeps the one of these with the latest
        timestamp, a missing timestamp being the oldest; on a tie, the one with the
        highest offset, then the highest partition.

    Returns
    -------
    DataFrame
        The columns of `records`, and ``repeated``: true in one row of each key that is in
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
    # With =, the comparison of structs with a null field is null.
    return one.eqNullSafe(other)
