"""The rows that log_to_parquet writes: headers, decoded values, the date, and the counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from spark_jobs.parquet.decode import DECODED, Decode, decoded_value

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["ORDER_BY", "PARTITION_BY", "Headers", "counts_of", "shaped", "written"]

Headers = Literal["array", "map"]

PARTITION_BY = ("topic", "date")
ORDER_BY = ("partition", "offset")

_CORRUPT_RECORD = "_corrupt_record"
_COPIED = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers", _CORRUPT_RECORD)

# The number of headers of a record; counted, not written.
_HEADER_COUNT = "_kafkalog_header_count"


def shaped(frame: DataFrame, headers: Headers, decode: Decode) -> DataFrame:
    """Turn rows of the reader into rows to write.

    Parameters
    ----------
    frame : DataFrame
        Rows of the reader.
    headers : str
        ``array``, as read, or ``map``: of headers of the same name the last one is kept, as
        by Kafka's ``lastHeader``, and the others are counted.
    decode : Decode
        How values are decoded.

    Returns
    -------
    DataFrame
        The rows, with columns for `counts_of` that `written` drops.
    """
    from pyspark.sql import functions as F

    rows = frame.select(*(name for name in _COPIED if name in frame.columns))
    as_map = headers == "map" and "headers" in rows.columns
    if as_map:
        rows = rows.withColumn(_HEADER_COUNT, F.size("headers"))
        rows = rows.withColumn("headers", F.map_from_entries("headers"))
    if decode.format != "none":
        rows = rows.withColumn(DECODED, decoded_value(frame.sparkSession, decode))
    return rows.withColumn("date", F.to_date("timestamp"))


def counts_of(rows: DataFrame, topics: Sequence[str | None]) -> list[Column]:
    """Return aggregates over `shaped` rows: records, records by topic, and values and headers that were lost."""
    from pyspark.sql import functions as F

    is_record = F.col(_CORRUPT_RECORD).isNull() if _CORRUPT_RECORD in rows.columns else F.lit(True)
    counts = [F.count_if(is_record).alias("records")]
    counts += [
        F.count_if(is_record & F.col("topic").eqNullSafe(F.lit(topic))).alias(f"topic_{index}")
        for index, topic in enumerate(topics)
    ]
    if DECODED in rows.columns:
        lost = F.col("value").isNotNull() & F.col(DECODED).isNull()
        counts.append(F.count_if(lost).alias("undecodable"))
    if _HEADER_COUNT in rows.columns:
        lost_headers = F.col(_HEADER_COUNT) - F.size("headers")
        counts.append(F.coalesce(F.sum(lost_headers), F.lit(0)).alias("headers_dropped"))
    return counts


def written(rows: DataFrame, decode: Decode) -> DataFrame:
    """Drop the columns that were only counted."""
    dropped = [] if decode.keep_value else ["value"]
    return rows.drop(_HEADER_COUNT, *dropped)
