"""The rows of a replay in Spark: what is written, in which order, and what a target already holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["SCHEMA", "Found", "HeaderNames", "digests", "extents", "found_records", "in_order", "rows_to_write"]

SCHEMA = (
    "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, "
    "headers array<struct<key: string, value: binary>>"
)
"""The columns of a replay."""

_PLACE = ("topic", "partition")


@dataclass(frozen=True)
class HeaderNames:
    """Names of the headers that hold the origin of a record: the table ``[headers]``."""

    topic: str = "kafkalog.topic"
    partition: str = "kafkalog.partition"
    offset: str = "kafkalog.offset"
    timestamp: str = "kafkalog.timestamp"


@dataclass(frozen=True)
class Found:
    """Summary of the records of one partition, in a target or in the log.

    Attributes
    ----------
    count, first, last : int
        Number of offsets, the lowest and the highest.
    digest : int
        Hash of offsets, keys, values and timestamps; independent of their order.
    """

    count: int
    first: int
    last: int
    digest: int = 0


def extents(records: DataFrame) -> dict[tuple[str, int], Found]:
    """Summarize the records of each partition, without reading keys and values."""
    from pyspark.sql import functions as F

    counted = records.groupBy(*_PLACE).agg(F.count("*"), F.min("offset"), F.max("offset"), F.lit(0))
    return {(topic, partition): Found(*numbers) for topic, partition, *numbers in counted.collect()}


def digests(records: DataFrame) -> dict[tuple[str, int], Found]:
    """Summarize the records of each partition with a digest; a duplicate counts once."""
    from pyspark.sql import functions as F

    # xxhash64 skips nulls, so their presence is hashed separately.
    hashed_columns = ("offset", F.isnull("key"), "key", F.isnull("value"), "value", "timestamp_ms")
    hashed = records.select(*_PLACE, "offset", F.xxhash64(*hashed_columns).alias("hash"))
    once = hashed.groupBy(*_PLACE, "offset").agg(F.max("hash").alias("hash"))
    each = once.groupBy(*_PLACE).agg(F.count("*"), F.min("offset"), F.max("offset"), F.bit_xor("hash"))
    return {(topic, partition): Found(*numbers) for topic, partition, *numbers in each.collect()}


def with_milliseconds(records: DataFrame) -> DataFrame:
    """Add the timestamp in milliseconds, as Kafka stores it."""
    from pyspark.sql import functions as F

    return records.withColumn("timestamp_ms", F.unix_millis("timestamp"))


def within(records: DataFrame, ranges: Mapping[tuple[str, int], tuple[int, int]]) -> DataFrame:
    """Keep the records whose offset is in the range [low, high) of their partition; drop other partitions."""
    from pyspark.sql import functions as F

    rows = [(topic, partition, low, high) for (topic, partition), (low, high) in ranges.items()]
    wanted = records.sparkSession.createDataFrame(rows, "topic string, partition int, low long, high long")
    joined = records.join(F.broadcast(wanted), list(_PLACE))
    return joined.where("offset >= low AND offset < high").drop("low", "high")


def in_order(records: DataFrame, tasks: int) -> DataFrame:
    """Bring each partition into one task, sorted by offset.

    Spark runs tasks in parallel, and each task sends its rows in order, so this preserves
    the order. A task may hold several partitions, one after another.
    """
    return records.repartition(tasks, *_PLACE).sortWithinPartitions(*_PLACE, "offset")


def rows_to_write(records: DataFrame, topics: Mapping[str, str], names: HeaderNames) -> DataFrame:
    """Return the columns of Spark's Kafka sink, with the headers of origin after those of the record."""
    from pyspark.sql import functions as F

    target = F.lit(None).cast("string")
    for source, name in topics.items():
        target = F.when(F.col("topic") == source, F.lit(name)).otherwise(target)
    own = {
        names.topic: F.col("topic"),
        names.partition: F.col("partition").cast("string"),
        names.offset: F.col("offset").cast("string"),
        names.timestamp: F.col("timestamp_ms").cast("string"),
    }
    origin = F.filter(F.array(*(_header(name, text) for name, text in own.items())), lambda h: h["value"].isNotNull())
    before = F.coalesce(F.col("headers"), F.array().cast("array<struct<key: string, value: binary>>"))
    headers = F.concat(before, origin).alias("headers")
    return records.select("key", "value", headers, target.alias("topic"), "partition")


def _header(name: str, text: Column) -> Column:
    from pyspark.sql import functions as F

    return F.struct(F.lit(name).alias("key"), text.cast("binary").alias("value"))


def found_records(target: DataFrame, topics: Mapping[str, str], names: HeaderNames) -> tuple[DataFrame, DataFrame]:
    """Separate the records in target topics by origin.

    Parameters
    ----------
    target : DataFrame
        Rows of Spark's Kafka source, with headers.
    topics : mapping
        The target of each source topic.
    names : HeaderNames
        The headers of origin.

    Returns
    -------
    DataFrame
        Records that a replay of these topics wrote, under their own topic, partition, offset and time.
    DataFrame
        All others.
    """
    from pyspark.sql import functions as F

    back = {target_name: source for source, target_name in topics.items()}
    source = F.lit(None).cast("string")
    for target_name, source_name in back.items():
        source = F.when(F.col("topic") == target_name, F.lit(source_name)).otherwise(source)
    rows = target.select(
        "key",
        "value",
        source.alias("topic"),
        "partition",
        _last_header(names.topic).alias("from_topic"),
        _last_header(names.partition).try_cast("int").alias("from_partition"),
        _last_header(names.offset).try_cast("long").alias("offset"),
        _last_header(names.timestamp).try_cast("long").alias("timestamp_ms"),
    )
    own = F.col("offset").isNotNull() & (F.col("from_topic") == F.col("topic"))
    own = F.coalesce(own & (F.col("from_partition") == F.col("partition")), F.lit(False))
    return rows.where(own).drop("from_topic", "from_partition"), rows.where(~own)


def _last_header(name: str) -> Column:
    """Return the value of the last header of a name, as Kafka's ``lastHeader`` does; null without one."""
    from pyspark.sql import functions as F

    named = F.filter("headers", lambda header: header["key"] == name)
    return F.try_element_at(named, F.lit(-1))["value"].cast("string")


def partition_names(partitions: Sequence[tuple[str, int]]) -> str:
    """List some partitions for a message."""
    shown = ", ".join(f"{topic}-{number}" for topic, number in partitions[:5])
    return shown + (f" and {len(partitions) - 5} more" if len(partitions) > 5 else "")
