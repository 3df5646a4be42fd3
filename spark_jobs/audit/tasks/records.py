"""Statistics of the records in one Arrow batch."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from spark_jobs.audit.tasks.mergeable import grouped
from spark_jobs.audit.tasks.times import hours, readable

__all__ = ["header_names", "record_cells", "record_columns", "sizes", "wrappers"]

_EXACT_BELOW = 256
"""Smaller sizes are counted exactly; larger ones are grouped by their first eight bits."""


def record_columns(*, keys: bool) -> list[str]:
    """Return the columns that are read; values are never among them."""
    place = ["topic", "partition", "file", "batchPosition", "offset", "timestamp", "magic", "compression"]
    columns = [*place, "headers", "keySize", "valueSize", "isTransactional", "_corrupt_record"]
    return [*columns, "key"] if keys else columns


def record_cells(records: pa.RecordBatch, zone: str) -> pa.Table:
    """Count records by codec, format and hour."""
    times = readable(records["timestamp"])
    table = pa.table(
        {
            "magic": records["magic"],
            "compression": records["compression"],
            "hour": hours(times, zone),
            "records": pa.repeat(pa.scalar(1, pa.int64()), len(records)),
            "key_bytes": records["keySize"],
            "value_bytes": records["valueSize"],
            "header_bytes": _header_bytes(records["headers"]),
            "records_with_headers": _as_counts(pc.greater(pc.list_value_length(records["headers"]), 0)),
            "null_keys": _as_counts(pc.is_null(records["keySize"])),
            "tombstones": _as_counts(pc.is_null(records["valueSize"])),
            "transactional_records": _as_counts(records["isTransactional"]),
            **{f"{kind}_{end}": records[f"{kind}Size"] for kind in ("key", "value") for end in ("min", "max")},
            "first_record_time": times,
            "last_record_time": times,
        }
    )
    return grouped(table, ("magic", "compression", "hour"))


def _as_counts(flags: pa.Array) -> pa.Array:
    return pc.fill_null(flags, fill_value=False).cast(pa.int64())


def _header_bytes(headers: pa.ListArray) -> pa.Array:
    """Return the bytes of names and values of the headers of each record."""
    if not len(headers.values):
        return pa.repeat(pa.scalar(0, pa.int64()), len(headers))
    names, values = headers.values.field("key"), headers.values.field("value")
    sizes = pc.add(pc.binary_length(names), pc.fill_null(pc.binary_length(values), 0)).cast(pa.int64())
    up_to = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(sizes)])
    ends = up_to.take(headers.offsets)
    return pc.subtract(ends[1:], ends[:-1])


def header_names(headers: pa.ListArray) -> pa.Table:
    """Count header names: the records that have each, and its occurrences."""
    names = pc.list_flatten(headers)
    table = pa.table({"name": names.field("key"), "record": pc.list_parent_indices(headers)})
    found = table.group_by("name", use_threads=False).aggregate([("record", "count_distinct"), ("record", "count")])
    return found.rename_columns(["name", "records", "occurrences"])


def sizes(sizes: pa.Array) -> pa.Table:
    """Count sizes of keys or values, rounded down to their first eight bits: an error of less than 1 in 128."""
    known = sizes.drop_null().cast(pa.int64())
    exponents = pc.floor(pc.log2(pc.max_element_wise(known, 1).cast(pa.float64()))).cast(pa.int64())
    shifts = pc.max_element_wise(pc.subtract(exponents, 7), 0)
    coarse = pc.shift_left(pc.shift_right(known, shifts), shifts)
    counts = pc.value_counts(pc.if_else(pc.less(known, _EXACT_BELOW), known, coarse))
    return pa.table({"size": counts.field("values"), "records": counts.field("counts")})


def wrappers(records: pa.RecordBatch) -> pa.Table | None:
    """Return what compressed messages of formats 0 and 1 hold: number, first offset and first time of their records."""
    is_inside = pc.and_(pc.less(records["magic"], 2), pc.not_equal(records["compression"], "none"))
    if not pc.any(is_inside).as_py():
        return None
    inside = pa.table({name: records[name] for name in ("file", "batchPosition", "offset")}).append_column(
        "timestamp", readable(records["timestamp"])
    )
    groups = inside.filter(is_inside).group_by(["file", "batchPosition"], use_threads=False)
    found = groups.aggregate([("offset", "count"), ("offset", "min"), ("timestamp", "min")])
    return found.rename_columns(["file", "batchPosition", "recordCount", "batchBaseOffset", "firstTimestamp"])
