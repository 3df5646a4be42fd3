"""The tables of an audit, as DataFrames: written to Parquet in full, shown in the report by their first rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from spark_jobs.audit.batches import BatchTables
    from spark_jobs.audit.records import RecordTables

__all__ = ["profile_tables"]

_PLACE = ("topic", "partition")
_CONTENT = ("key_bytes", "value_bytes", "header_bytes")
_OF_RECORDS = (
    *_CONTENT,
    "records_with_headers",
    "null_keys",
    "tombstones",
    "distinct_keys",
    "key_min",
    "key_max",
    "value_min",
    "value_max",
    "damaged_regions",
    "damaged_bytes",
)
"""Columns that need a pass over the records."""


def profile_tables(batches: BatchTables, records: RecordTables | None, damage: DataFrame) -> dict[str, DataFrame]:
    """Return all tables, by name.

    Parameters
    ----------
    batches : BatchTables
    records : RecordTables or None
        None if only headers are read; records are then counted from headers.
    damage : DataFrame
        A row for each damaged region.
    """
    gaps = batches.gaps()
    tables = {
        "topics": _joined(batches.topics(), _gaps_of_topics(gaps), ("topic",)),
        "partitions": _joined(batches.partitions(), gaps, _PLACE),
        "codecs": batches.codecs(),
        "formats": batches.formats(),
        "hours": batches.hours(),
        "producers": _counted(batches.producers()),
        "damage": damage,
    }
    if records is None:
        for name in ("topics", "partitions", "codecs", "formats", "hours"):
            tables[name] = _counted(tables[name])
        return tables
    topics = _with_records(tables["topics"], records.table("topics"), ("topic",))
    tables["topics"] = _joined(topics, records.percentiles(), ("topic",))
    tables["partitions"] = _with_records(tables["partitions"], records.table("partitions"), _PLACE)
    tables["codecs"] = _with_ratio(_with_records(tables["codecs"], records.table("codecs"), ("topic", "compression")))
    tables["formats"] = _with_records(tables["formats"], records.table("formats"), ("topic", "magic"))
    tables["hours"] = _with_records(tables["hours"], records.table("hours"), ("topic", "hour"))
    tables["headers"] = records.headers()
    tables["sizes"] = records.sizes()
    return tables


def _gaps_of_topics(gaps: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    summed = ("missing_inside_batches", "missing_between_batches", "missing_between_segments", "gaps")
    # Null if any count is unknown: a partial sum would look complete.
    sums = {name: F.when(F.count_if(F.col(name).isNull()) == 0, F.sum(name)) for name in summed}
    return gaps.groupBy("topic").agg(*(value.alias(name) for name, value in sums.items()))


def _counted(table: DataFrame) -> DataFrame:
    """Use the record counts of headers."""
    return table.withColumnRenamed("header_records", "records")


def _with_records(table: DataFrame, counted: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Add the statistics of records; their timestamps are more exact than those of headers."""
    from pyspark.sql import functions as F

    # A damaged region has a topic and partition, but no codec, format or hour.
    wanted = "records > 0 OR damaged_regions > 0" if set(keys) <= set(_PLACE) else "records > 0"
    renamed = counted.where(wanted).select(
        *keys, "records", *_OF_RECORDS, F.col("first_time").alias("first_seen"), F.col("last_time").alias("last_seen")
    )
    joined = _joined(table.drop("header_records"), renamed, keys)
    return (
        joined.withColumn("records", F.coalesce("records", F.lit(0)))
        .withColumn("first_time", F.coalesce("first_seen", "first_time"))
        .withColumn("last_time", F.coalesce("last_seen", "last_time"))
        .drop("first_seen", "last_seen")
    )


def _with_ratio(codecs: DataFrame) -> DataFrame:
    """Add the bytes of keys, values and headers, and their ratio to the bytes on disk."""
    from pyspark.sql import functions as F

    content = reduce(lambda one, other: one + other, (F.coalesce(name, F.lit(0)) for name in _CONTENT))
    return codecs.withColumn("content_bytes", content).withColumn(
        "ratio", F.when(F.col("bytes") > 0, F.col("content_bytes") / F.col("bytes"))
    )


def _joined(left: DataFrame, right: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Full outer join by keys that may be null: the topic of a segment outside of any topic is."""
    from pyspark.sql import functions as F

    others = [name for name in right.columns if name not in keys]
    renamed = right.select(*(F.col(name).alias(f"_right_{name}") for name in keys), *others)
    same: Column = reduce(and_, (F.col(name).eqNullSafe(F.col(f"_right_{name}")) for name in keys))
    # In a row that is only on one side, the keys of the other side are null.
    joined = left.withColumn("_is_left", F.lit(True)).join(renamed, same, "full")
    chosen = [F.when(F.col("_is_left"), F.col(name)).otherwise(F.col(f"_right_{name}")).alias(name) for name in keys]
    return joined.select(*chosen, *(name for name in left.columns if name not in keys), *others)
