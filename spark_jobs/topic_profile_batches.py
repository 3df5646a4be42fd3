"""What an audit learns of batches: one pass over their headers, kept, and the tables made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_jobs.topic_profile_times import readable_time

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["BATCH_SCHEMA", "BatchTables"]

BATCH_SCHEMA = (
    "topic string, partition int, file string, batchSize long, batchBaseOffset long, batchLastOffset long,"
    " recordCount int, magic int, compression string, firstTimestamp timestamp, maxTimestamp timestamp,"
    " producerId long, producerEpoch int, isTransactional boolean, isControl boolean, _corrupt_record string"
)
"""The columns of ``view=batches`` that the tables are made of."""

_PLACE = ("topic", "partition")


class BatchTables:
    """The tables that headers alone give.

    Parameters
    ----------
    batches : DataFrame
        Rows of ``view=batches`` with the columns of `BATCH_SCHEMA`. It is gone through several times.
    """

    def __init__(self, batches: DataFrame) -> None:
        times = {name: readable_time(name) for name in ("firstTimestamp", "maxTimestamp")}
        self._good = batches.where("_corrupt_record IS NULL").withColumns(times)
        self._damaged = batches.where("_corrupt_record IS NOT NULL")

    def partitions(self) -> DataFrame:
        """A row for each partition: sizes, counts, offsets and times."""
        return self._good.groupBy(*_PLACE).agg(*_counts(), *_offsets(), *_kinds())

    def topics(self) -> DataFrame:
        """A row for each topic."""
        from pyspark.sql import functions as F

        partitions = F.count_distinct(F.coalesce("partition", F.lit(-1))).alias("partitions")
        producers = F.approx_count_distinct("producerId", 0.02).alias("producers")
        return self._good.groupBy("topic").agg(partitions, *_counts(), *_kinds(), producers)

    def codecs(self) -> DataFrame:
        """A row for each topic and codec."""
        return self._good.groupBy("topic", "compression").agg(*_counts())

    def formats(self) -> DataFrame:
        """A row for each topic and format version."""
        return self._good.groupBy("topic", "magic").agg(*_counts())

    def hours(self) -> DataFrame:
        """A row for each topic and hour of the batches' largest times: bytes on disk, and records as far as told."""
        from pyspark.sql import functions as F

        hour = F.date_trunc("hour", "maxTimestamp").alias("hour")
        return self._good.groupBy("topic", hour).agg(*_counts())

    def producers(self) -> DataFrame:
        """A row for each topic and producer id."""
        from pyspark.sql import functions as F

        return (
            self._good.where("producerId IS NOT NULL")
            .groupBy("topic", "producerId")
            .agg(
                F.min("producerEpoch").alias("first_epoch"),
                F.max("producerEpoch").alias("last_epoch"),
                F.count_distinct(F.coalesce("partition", F.lit(-1))).alias("partitions"),
                *_counts(),
            )
            .withColumnRenamed("producerId", "producer_id")
            .drop("segments", "empty_batches", "uncounted_batches")
        )

    def gaps(self) -> DataFrame:
        """A row for each partition: offsets that no record has, by where they are missing.

        A wrapper of v0 or v1 does not say where it begins, so that nothing is missing before or inside of it.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        order = Window.partitionBy(*_PLACE).orderBy("batchLastOffset")
        followed = self._good.select(
            *_PLACE,
            (F.col("batchBaseOffset") - F.lag("batchLastOffset").over(order) - 1).alias("between"),
            (F.col("file") == F.lag("file").over(order)).alias("same_file"),
            (F.col("batchLastOffset") - F.col("batchBaseOffset") + 1 - F.col("recordCount")).alias("inside"),
        )
        missing = F.greatest(F.coalesce("between", F.lit(0)), F.lit(0))
        return followed.groupBy(*_PLACE).agg(
            F.sum(F.coalesce("inside", F.lit(0))).alias("missing_inside_batches"),
            F.sum(F.when(F.col("same_file"), missing).otherwise(0)).alias("missing_between_batches"),
            F.sum(F.when(~F.col("same_file"), missing).otherwise(0)).alias("missing_between_segments"),
            F.count_if(missing > 0).alias("gaps"),
            F.max(missing).alias("largest_gap"),
        )

    def damage(self) -> DataFrame:
        """A row for each region that is no batch, as the headers show it."""
        from pyspark.sql import functions as F

        fields = "position long, size long, kind string, reason string, first_offset long, last_offset long"
        told = F.from_json("_corrupt_record", fields).alias("told")
        return self._damaged.select(*_PLACE, "file", told).select(*_PLACE, "file", "told.*")


def _counts() -> list[Column]:
    from pyspark.sql import functions as F

    data_records = F.when(~F.col("isControl"), F.col("recordCount"))
    return [
        F.count_distinct("file").alias("segments"),
        F.sum("batchSize").alias("bytes"),
        F.count(F.lit(1)).alias("batches"),
        F.coalesce(F.sum(data_records), F.lit(0)).alias("header_records"),
        F.count_if(F.col("recordCount").isNull()).alias("uncounted_batches"),
        F.count_if((F.col("recordCount") == 0) & ~F.col("isControl")).alias("empty_batches"),
        F.count_if("isControl").alias("control_batches"),
        F.count_if(F.col("isTransactional") & ~F.col("isControl")).alias("transactional_batches"),
        F.min(F.coalesce("firstTimestamp", "maxTimestamp")).alias("first_time"),
        F.max("maxTimestamp").alias("last_time"),
    ]


def _offsets() -> list[Column]:
    from pyspark.sql import functions as F

    return [
        F.min(F.coalesce("batchBaseOffset", "batchLastOffset")).alias("first_offset"),
        F.max("batchLastOffset").alias("last_offset"),
    ]


def _kinds() -> list[Column]:
    from pyspark.sql import functions as F

    return [
        F.sort_array(F.collect_set("magic")).alias("magics"),
        F.sort_array(F.collect_set("compression")).alias("codecs"),
    ]
