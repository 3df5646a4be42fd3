"""Statistics of batches, made from one persisted pass over their headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_jobs.audit.times import readable_time

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["BATCH_SCHEMA", "WRAPPER_SCHEMA", "BatchTables", "with_wrappers", "without_counts"]

BATCH_SCHEMA = (
    "topic string, partition int, file string, batchPosition long, batchSize long, batchBaseOffset long,"
    " batchLastOffset long, recordCount int, magic int, compression string, firstTimestamp timestamp,"
    " maxTimestamp timestamp, producerId long, producerEpoch int, isTransactional boolean, isControl boolean,"
    " _corrupt_record string"
)
"""The columns of ``view=batches`` that the tables need."""

WRAPPER_SCHEMA = (
    "file string, batchPosition long, offset long, timestamp timestamp, magic int, compression string,"
    " _corrupt_record string"
)
"""The columns of records that complete the headers of compressed messages of formats 0 and 1."""

_PLACE = ("topic", "partition")
_WRAPPER = ("file", "batchPosition")
_FILE_07 = ".kafka"


def without_counts(batches: DataFrame) -> DataFrame:
    """Return the batches whose headers do not hold their number of records."""
    return batches.where("_corrupt_record IS NULL AND recordCount IS NULL")


def with_wrappers(batches: DataFrame, records: DataFrame) -> DataFrame:
    """Complete the headers of compressed messages of formats 0 and 1 from their records.

    Parameters
    ----------
    batches : DataFrame
        With the columns of `BATCH_SCHEMA`.
    records : DataFrame
        With the columns of `WRAPPER_SCHEMA`.

    Returns
    -------
    DataFrame
        The batches, with the number, first offset and first timestamp of their records; null if a batch cannot be
        decoded.
    """
    from pyspark.sql import functions as F

    held = records.where("_corrupt_record IS NULL AND magic < 2 AND compression <> 'none'").groupBy(*_WRAPPER)
    found = {"recordCount": F.count(F.lit(1)).cast("int"), "batchBaseOffset": F.min("offset")}
    found["firstTimestamp"] = F.min("timestamp")
    counted = held.agg(*(column.alias(f"_{name}") for name, column in found.items()))
    joined = batches.join(counted, list(_WRAPPER), "left")
    filled = {name: F.coalesce(name, f"_{name}") for name in found}
    return joined.withColumns(filled).drop(*(f"_{name}" for name in found))


class BatchTables:
    """The tables that need only headers.

    Parameters
    ----------
    batches : DataFrame
        Rows of ``view=batches`` with the columns of `BATCH_SCHEMA`. It is read several times.
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
        """A row for each topic and hour of the largest timestamps of batches: bytes on disk, and records if known."""
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
        """A row for each partition: offsets without a record, by where they are missing.

        They are null if the first offset and the number of records of a compressed message of formats 0 and 1 are
        unknown, and in Kafka 0.7, whose offsets are byte positions.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        order = Window.partitionBy(*_PLACE).orderBy("batchLastOffset")
        followed = self._good.select(
            *_PLACE,
            (F.col("batchBaseOffset") - F.lag("batchLastOffset").over(order) - 1).alias("between"),
            (F.col("file") == F.lag("file").over(order)).alias("same_file"),
            (F.col("batchLastOffset") - F.col("batchBaseOffset") + 1 - F.col("recordCount")).alias("inside"),
            (F.col("recordCount").isNull() | F.col("file").endswith(_FILE_07)).alias("is_unknown"),
        )
        missing = F.greatest(F.coalesce("between", F.lit(0)), F.lit(0))
        sums = {
            "missing_inside_batches": F.sum("inside"),
            "missing_between_batches": F.sum(F.when(F.col("same_file"), missing).otherwise(0)),
            "missing_between_segments": F.sum(F.when(~F.col("same_file"), missing).otherwise(0)),
            "gaps": F.count_if(missing > 0),
            "largest_gap": F.max(missing),
        }
        known = F.count_if("is_unknown") == 0
        return followed.groupBy(*_PLACE).agg(*(F.when(known, value).alias(name) for name, value in sums.items()))

    def damage(self) -> DataFrame:
        """A row for each damaged region that was found by reading headers."""
        from pyspark.sql import functions as F

        fields = "position long, size long, kind string, reason string, first_offset long, last_offset long"
        region = F.from_json("_corrupt_record", fields).alias("region")
        return self._damaged.select(*_PLACE, "file", region).select(*_PLACE, "file", "region.*")


def _counts() -> list[Column]:
    from pyspark.sql import functions as F

    data_records = F.when(~F.col("isControl"), F.col("recordCount"))
    first_time = F.coalesce("firstTimestamp", F.when(F.col("recordCount") == 1, F.col("maxTimestamp")))
    return [
        F.count_distinct("file").alias("segments"),
        F.sum("batchSize").alias("bytes"),
        F.count(F.lit(1)).alias("batches"),
        # Null if any count is unknown: a partial sum would look complete.
        F.when(F.count_if(F.col("recordCount").isNull()) == 0, F.coalesce(F.sum(data_records), F.lit(0))).alias(
            "header_records"
        ),
        F.count_if(F.col("recordCount").isNull()).alias("uncounted_batches"),
        F.count_if((F.col("recordCount") == 0) & ~F.col("isControl")).alias("empty_batches"),
        F.count_if("isControl").alias("control_batches"),
        F.count_if(F.col("isTransactional") & ~F.col("isControl")).alias("transactional_batches"),
        F.when(F.count_if(first_time.isNull() & F.col("maxTimestamp").isNotNull()) == 0, F.min(first_time)).alias(
            "first_time"
        ),
        F.max("maxTimestamp").alias("last_time"),
    ]


def _offsets() -> list[Column]:
    from pyspark.sql import functions as F

    return [
        # Null if the first offset of the first batch is unknown.
        F.min_by("batchBaseOffset", "batchLastOffset").alias("first_offset"),
        F.max("batchLastOffset").alias("last_offset"),
    ]


def _kinds() -> list[Column]:
    from pyspark.sql import functions as F

    return [
        F.sort_array(F.collect_set("magic")).alias("magics"),
        F.sort_array(F.collect_set("compression")).alias("codecs"),
    ]
