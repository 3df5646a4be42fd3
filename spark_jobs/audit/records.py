"""Statistics of records, made in one pass with several groupings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spark_jobs.audit.times import readable_time

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["RecordTables", "record_schema"]

_GROUPED = ("topic", "partition", "hour", "compression", "magic", "value_bucket", "key_bucket", "header_names")
_SETS = {
    "topics": ("topic",),
    "partitions": ("topic", "partition"),
    "hours": ("topic", "hour"),
    "codecs": ("topic", "compression"),
    "formats": ("topic", "magic"),
    "value_sizes": ("topic", "value_bucket"),
    "key_sizes": ("topic", "key_bucket"),
    "headers": ("topic", "header_names"),
}
"""The grouping columns of each table. All aggregates are numbers, so that groups stay small."""

_EXACT_BELOW = 256
"""Smaller sizes are counted exactly; larger ones are grouped by their first eight bits."""
_KEY_COUNT_ERROR = 0.02


def record_schema(*, keys: bool) -> str:
    """Return the columns of records that the tables need; values are never among them."""
    columns = (
        "topic string, partition int, timestamp timestamp, headers array<struct<key:string,value:binary>>,"
        " magic int, compression string, keySize int, valueSize int, isTransactional boolean, _corrupt_record string"
    )
    return f"{columns}, key binary" if keys else columns


class RecordTables:
    """The tables that need a pass over all records.

    Parameters
    ----------
    records : DataFrame
        With the columns of `record_schema`.
    header_names : bool
        Whether to count header names.
    """

    def __init__(self, records: DataFrame, *, header_names: bool) -> None:
        from pyspark.sql import functions as F

        prepared = _prepared(records, header_names=header_names)
        sets: list[list[Column | str]] = [list(names) for names in _SETS.values()]
        grouped = prepared.groupingSets(sets, *_GROUPED)
        counted = grouped.agg(F.grouping_id().alias("grouping"), *_counts("key_hash" in prepared.columns))
        self.all = counted.persist()
        """The groups of all tables, persisted so that records are read only once."""

    def table(self, name: str) -> DataFrame:
        """Return the groups of one table: its grouping columns and the aggregates."""
        wanted = _SETS[name]
        aside = [column for column in _GROUPED if column not in wanted]
        return self.all.where(f"grouping = {_grouping_of(wanted)}").drop("grouping", *aside)

    def headers(self) -> DataFrame:
        """A row for each topic and header name: the number of records with it, and of its occurrences."""
        from pyspark.sql import functions as F

        listed = self.table("headers").where("header_names IS NOT NULL")
        name = F.explode(F.array_distinct("header_names")).alias("name")
        named = listed.select("topic", "records", name, "header_names")
        times = F.size(F.filter("header_names", lambda each: each == F.col("name")))
        return named.groupBy("topic", "name").agg(
            F.sum("records").alias("records"), F.sum(F.col("records") * times).alias("occurrences")
        )

    def sizes(self) -> DataFrame:
        """A row for each topic, key or value, and size: the number of records."""
        from pyspark.sql import functions as F

        pieces = [
            self.table(f"{kind}_sizes")
            .where(f"{kind}_bucket IS NOT NULL")
            .select("topic", F.lit(kind).alias("of"), F.col(f"{kind}_bucket").alias("size"), "records")
            for kind in ("key", "value")
        ]
        return pieces[0].unionAll(pieces[1])

    def percentiles(self) -> DataFrame:
        """A row for each topic: the median and the 99th percentile of the sizes of keys and values."""
        from pyspark.sql import functions as F

        found = self.sizes().groupBy("topic")
        wanted = []
        for kind in ("key", "value"):
            for name, share in (("median", 0.5), ("p99", 0.99)):
                size = f"CASE WHEN of = '{kind}' THEN size END"
                wanted.append(F.expr(f"round(percentile({size}, {share}D, records))").cast("long"))
                wanted[-1] = wanted[-1].alias(f"{kind}_{name}")
        return found.agg(*wanted)


def _grouping_of(columns: Sequence[str]) -> int:
    """Return the ``grouping_id()`` of columns: a bit for each column that is not grouped by, the first one highest."""
    bits = ["0" if name in columns else "1" for name in _GROUPED]
    return int("".join(bits), 2)


def _prepared(records: DataFrame, *, header_names: bool) -> DataFrame:
    """Return the columns of each record that are aggregated."""
    from pyspark.sql import functions as F

    header_bytes = F.aggregate(
        "headers",
        F.lit(0).cast("long"),
        lambda total, each: total + F.octet_length(each["key"]) + F.coalesce(F.octet_length(each["value"]), F.lit(0)),
    )
    names = F.transform("headers", lambda each: each["key"]) if header_names else F.lit(None).cast("array<string>")
    hashed = [F.xxhash64("key").alias("key_hash")] if "key" in records.columns else []
    time = readable_time("timestamp")
    return records.select(
        "topic",
        "partition",
        time.alias("timestamp"),
        "compression",
        "magic",
        "isTransactional",
        "keySize",
        "valueSize",
        F.date_trunc("hour", time).alias("hour"),
        _bucket("valueSize").alias("value_bucket"),
        _bucket("keySize").alias("key_bucket"),
        names.alias("header_names"),
        F.coalesce(F.size("headers"), F.lit(0)).alias("header_count"),
        F.coalesce(header_bytes, F.lit(0)).alias("header_size"),
        F.col("_corrupt_record").isNull().alias("is_record"),
        F.get_json_object("_corrupt_record", "$.size").cast("long").alias("damaged_size"),
        *hashed,
    )


def _bucket(size: str) -> Column:
    """Round a size down to its first eight bits, an error of less than 1 in 128."""
    from pyspark.sql import functions as F

    step = F.pow(F.lit(2.0), F.floor(F.log2(size)) - 7)
    coarse = (F.floor(F.col(size) / step) * step).cast("int")
    return F.when(F.col(size) < _EXACT_BELOW, F.col(size)).otherwise(coarse)


def _counts(has_keys: bool) -> list[Column]:
    from pyspark.sql import functions as F

    is_record = F.col("is_record")
    distinct = F.first(F.lit(None).cast("long"))
    if has_keys:
        distinct = F.approx_count_distinct(F.when(F.col("keySize").isNotNull(), F.col("key_hash")), _KEY_COUNT_ERROR)
    return [
        F.count_if(is_record).alias("records"),
        F.coalesce(F.sum("keySize"), F.lit(0)).alias("key_bytes"),
        F.coalesce(F.sum("valueSize"), F.lit(0)).alias("value_bytes"),
        F.coalesce(F.sum("header_size"), F.lit(0)).alias("header_bytes"),
        F.count_if(is_record & (F.col("header_count") > 0)).alias("records_with_headers"),
        F.count_if(is_record & F.col("keySize").isNull()).alias("null_keys"),
        F.count_if(is_record & F.col("valueSize").isNull()).alias("tombstones"),
        F.count_if(is_record & F.col("isTransactional")).alias("transactional_records"),
        F.min("keySize").alias("key_min"),
        F.max("keySize").alias("key_max"),
        F.min("valueSize").alias("value_min"),
        F.max("valueSize").alias("value_max"),
        F.min("timestamp").alias("first_time"),
        F.max("timestamp").alias("last_time"),
        distinct.alias("distinct_keys"),
        F.count_if(~is_record).alias("damaged_regions"),
        F.coalesce(F.sum("damaged_size"), F.lit(0)).alias("damaged_bytes"),
    ]
