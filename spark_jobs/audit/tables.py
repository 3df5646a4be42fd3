"""The tables of an audit, made from the tally of all tasks: written to Parquet in full, shown by their first rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc

from spark_jobs.audit.tasks.distinct import estimates
from spark_jobs.audit.tasks.mergeable import Tally, grouped
from spark_jobs.audit.tasks.offsets import RUN, missing_offsets
from spark_jobs.audit.tasks.split import DAMAGE

__all__ = ["profile_tables"]

_TOPIC, _PLACE = ("topic",), ("topic", "partition")
_ORDERS: dict[str, Sequence[str]] = {
    "topics": ("-bytes", "topic"),
    "partitions": ("topic", "partition"),
    "codecs": ("topic", "-bytes", "compression"),
    "formats": ("topic", "magic"),
    "hours": ("topic", "hour"),
    "sizes": ("topic", "of", "size"),
    "headers": ("topic", "-records", "name"),
    "producers": ("topic", "-batches", "producer_id"),
    "damage": ("topic", "partition", "file", "position"),
}
"""The sort order of each table; a minus sorts descending. Null is the first, or of descending numbers the last."""
_FILE = pa.schema(
    [
        *(("topic", pa.string()), ("partition", pa.int32()), ("file", pa.string())),
        *(("magic", pa.int32()), ("compression", pa.string())),
    ]
)
_HOUR = pa.field("hour", pa.timestamp("us", "UTC"))
_BATCH_COUNTS = (
    *("bytes", "batches", "header_records", "uncounted_batches", "empty_batches", "control_batches"),
    *("transactional_batches", "unknown_first_times"),
)
_BATCHES = pa.schema(
    [
        *((name, pa.int64()) for name in _BATCH_COUNTS),
        *((name, pa.timestamp("us", "UTC")) for name in ("first_time", "last_time")),
    ]
)
_PRODUCERS = pa.schema(
    [
        *(_FILE.field("topic"), _FILE.field("partition"), ("producer_id", pa.int64())),
        *(("first_epoch", pa.int32()), ("last_epoch", pa.int32()), *_BATCHES),
    ]
)
_RECORD_COUNTS = (
    *("records", "key_bytes", "value_bytes", "header_bytes", "records_with_headers", "null_keys", "tombstones"),
    "transactional_records",
)
_RECORDS = pa.schema(
    [
        *((name, pa.int64()) for name in _RECORD_COUNTS),
        *((name, pa.int32()) for name in ("key_min", "key_max", "value_min", "value_max")),
        *((name, pa.timestamp("us", "UTC")) for name in ("first_record_time", "last_record_time")),
    ]
)
_SHARES = {"median": 0.5, "p99": 0.99}


def profile_tables(tally: Tally, *, zone: str, with_records: bool, header_names: bool) -> dict[str, pa.Table]:
    """Return all tables by name, sorted; an input without anything to read has empty ones.

    Parameters
    ----------
    tally : Tally
        Of all splits.
    zone : str
        Time zone of the timestamps.
    with_records : bool
        Whether records were read. Otherwise, records are counted by headers, and what these do not hold is null.
    header_names : bool
        Whether header names were counted.
    """
    maker = _Maker(tally, with_records=with_records)
    tables = maker.tables()
    if with_records:
        tables["sizes"] = maker.sizes
        if header_names:
            tables["headers"] = _table(tally, "headers", _schema(_TOPIC, name=pa.string(), records=pa.int64()))
    return {name: _in_zone(_sorted(table, _ORDERS[name]), zone) for name, table in tables.items()}


class _Maker:
    def __init__(self, tally: Tally, *, with_records: bool) -> None:
        self._tally = tally
        self._with_records = with_records
        self._measures = [*_BATCHES, *(_RECORDS if with_records else ())]
        files = _table(tally, "files", pa.schema([*_FILE, *self._measures]))
        self._damage = _table(tally, "damage", DAMAGE)
        # Also files of which nothing could be read.
        self._files = pa.concat_tables([files, self._damage.select(_FILE.names[:3])], promote_options="default")
        self.sizes = _table(tally, "sizes", _schema(_TOPIC, of=pa.string(), size=pa.int64(), records=pa.int64()))

    def tables(self) -> dict[str, pa.Table]:
        partitions = self._of_places(_PLACE)
        producers = self._producers()
        gaps = missing_offsets(_table(self._tally, "runs", RUN))
        topics = self._of_places(_TOPIC)
        topics = _joined(topics, _count(partitions, _TOPIC, "partitions"), _TOPIC)
        topics = _filled(_joined(topics, _count(producers, _TOPIC, "producers"), _TOPIC), "producers")
        partitions = _joined(partitions, gaps, _PLACE)
        topics = _joined(topics, _gaps_of_topics(gaps), _TOPIC)
        if self._with_records:
            topics = _joined(topics, _percentiles(self.sizes), _TOPIC)
        hours = _table(self._tally, "hours", pa.schema([_FILE.field("topic"), _HOUR, *self._measures]))
        return {
            "topics": topics,
            "partitions": partitions,
            "codecs": self._with_ratio(self._finished(self._grouped_by("topic", "compression"))),
            "formats": self._finished(self._grouped_by("topic", "magic")),
            "hours": self._finished(hours),
            "producers": producers,
            "damage": self._damage,
        }

    def _of_places(self, keys: Sequence[str]) -> pa.Table:
        """Return the statistics by topic, or by topic and partition."""
        found = self._finished(self._grouped_by(*keys))
        for name, lists in (("magic", "magics"), ("compression", "codecs")):
            found = _joined(found, _distinct(self._files, keys, name, lists), keys)
        sketches = self._tally.table("keys")
        if sketches is not None:
            found = _joined(found, estimates(sketches, tuple(keys)), keys)
        regions = _with(
            self._damage.select(keys), damaged_regions=_ones(self._damage), damaged_bytes=self._damage["size"]
        )
        found = _joined(found, grouped(regions, keys), keys)
        return _filled(found, "damaged_regions", "damaged_bytes")

    def _grouped_by(self, *keys: str) -> pa.Table:
        """Group the files, and count those that have batches."""
        files = self._files
        with_batches = files.filter(pc.is_valid(files["batches"]))
        segments = with_batches.group_by(list(keys), use_threads=False).aggregate([("file", "count_distinct")])
        wanted = files if set(keys) <= set(_PLACE) else with_batches
        measured = wanted.select([*keys, *(name for name in files.column_names if name not in _FILE.names)])
        found = _joined(grouped(measured, keys), segments.rename_columns([*keys, "segments"]), keys)
        return _filled(found, "segments")

    def _finished(self, table: pa.Table) -> pa.Table:
        """Replace what headers say by what records say where these were read, and unknown sums by null."""
        table = _filled(table, *_BATCH_COUNTS)
        counts, first_time = _known(table)
        last_time = table["last_time"]
        if self._with_records:
            table = _filled(table, *_RECORD_COUNTS)
            counts = table["records"]
            first_time = pc.coalesce(table["first_record_time"], first_time)
            last_time = pc.coalesce(table["last_record_time"], last_time)
        table = _with(table, records=counts, first_time=first_time, last_time=last_time)
        unused = ("header_records", "unknown_first_times", "first_record_time", "last_record_time")
        return table.drop_columns([name for name in unused if name in table.column_names])

    def _with_ratio(self, codecs: pa.Table) -> pa.Table:
        """Add the bytes of keys, values and headers, and their ratio to the bytes on disk."""
        if not self._with_records:
            return codecs
        content = pc.add(pc.add(codecs["key_bytes"], codecs["value_bytes"]), codecs["header_bytes"])
        sizes = pc.if_else(pc.greater(codecs["bytes"], 0), codecs["bytes"], None).cast(pa.float64())
        return _with(codecs, content_bytes=content, ratio=pc.divide(content.cast(pa.float64()), sizes))

    def _producers(self) -> pa.Table:
        """Return a row for each topic and producer id."""
        found = _table(self._tally, "producers", _PRODUCERS)
        keys = ("topic", "producer_id")
        counted = grouped(_with(found, partitions=_ones(found)).drop_columns("partition"), keys)
        counts, first_time = _known(counted)
        unused = ["header_records", "unknown_first_times", "uncounted_batches", "empty_batches"]
        return _with(counted, first_time=first_time, records=counts).drop_columns(unused)


def _known(table: pa.Table) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return the number of records and the first time by headers, null where a batch does not hold it."""
    counts = pc.if_else(pc.greater(table["uncounted_batches"], 0), None, table["header_records"])
    return counts, pc.if_else(pc.greater(table["unknown_first_times"], 0), None, table["first_time"])


def _gaps_of_topics(gaps: pa.Table) -> pa.Table:
    """Sum the missing offsets of partitions; null if any is unknown: a partial sum would look complete."""
    sums = ("missing_inside_batches", "missing_between_batches", "missing_between_segments", "gaps")
    all_known = pc.ScalarAggregateOptions(skip_nulls=False)
    groups = gaps.group_by(["topic"], use_threads=False)
    return groups.aggregate([(name, "sum", all_known) for name in sums]).rename_columns(["topic", *sums])


def _percentiles(sizes: pa.Table) -> pa.Table:
    """Return the median and the 99th percentile of the sizes of keys and values, by topic."""
    found: dict[str | None, dict[str, int | str | None]] = {}
    rows = _sorted(sizes, _ORDERS["sizes"]).to_pylist()
    for (topic, of), group in groupby(rows, key=itemgetter("topic", "of")):
        counts = [(row["size"], row["records"]) for row in group]
        row = found.setdefault(topic, {"topic": topic})
        row.update((f"{of}_{name}", _quantile(counts, share)) for name, share in _SHARES.items())
    names = [f"{of}_{name}" for of in ("key", "value") for name in _SHARES]
    schema = pa.schema([("topic", pa.string()), *((name, pa.int64()) for name in names)])
    return pa.Table.from_pylist(list(found.values()), schema)


def _quantile(counts: Sequence[tuple[int, int]], share: float) -> int:
    """Interpolate between the two sizes nearest to a share of all; sizes are ascending, each with its count."""
    place = share * (sum(count for _, count in counts) - 1)
    low, high = (next(_from(counts, int(place) + further), counts[-1][0]) for further in (0, 1))
    return int(low + (high - low) * (place - int(place)) + 0.5)


def _from(counts: Sequence[tuple[int, int]], place: int) -> Iterator[int]:
    passed = 0
    for size, count in counts:
        passed += count
        if passed > place:
            yield size


def _table(tally: Tally, name: str, schema: pa.Schema) -> pa.Table:
    """Return a table of the tally with at least the columns of a schema."""
    found = tally.table(name)
    empty = schema.empty_table()
    if found is None:
        return empty
    missing = [column for column in schema.names if column not in found.column_names]
    for column in missing:
        found = found.append_column(column, pa.nulls(len(found), schema.field(column).type))
    return found.select([*schema.names, *(column for column in found.column_names if column not in schema.names)])


def _schema(keys: Sequence[str], **others: pa.DataType) -> pa.Schema:
    return pa.schema([*((name, _FILE.field(name).type) for name in keys), *others.items()])


def _joined(left: pa.Table, right: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Add the columns of the right table to the rows of the left one that have the same keys, also null ones."""
    rows = {key: row for row, key in enumerate(_rows_of(right, keys))}
    found = pa.array([rows.get(key) for key in _rows_of(left, keys)], pa.int64())
    others = {name: right[name].take(found) for name in right.column_names if name not in keys}
    return _with(left, **others)


def _rows_of(table: pa.Table, keys: Sequence[str]) -> Iterator[tuple[object, ...]]:
    return zip(*(table[name].to_pylist() for name in keys), strict=True)


def _with(table: pa.Table, **columns: pa.ChunkedArray) -> pa.Table:
    """Add columns, or replace those of the same name."""
    for name, column in columns.items():
        place = table.column_names.index(name) if name in table.column_names else -1
        table = table.append_column(name, column) if place < 0 else table.set_column(place, name, column)
    return table


def _ones(table: pa.Table) -> pa.Array:
    return pa.repeat(pa.scalar(1, pa.int64()), len(table))


def _distinct(table: pa.Table, keys: Sequence[str], column: str, name: str) -> pa.Table:
    """Return the sorted distinct values of a column, without null, as lists by keys."""
    in_order = table.filter(pc.is_valid(table[column])).sort_by(column)
    found = in_order.group_by(list(keys), use_threads=False).aggregate([(column, "distinct")])
    return found.rename_columns([*keys, name])


def _count(table: pa.Table, keys: Sequence[str], name: str) -> pa.Table:
    return grouped(_with(table.select(keys), **{name: _ones(table)}), keys)


def _filled(table: pa.Table, *names: str) -> pa.Table:
    return _with(table, **{name: pc.fill_null(table[name], 0) for name in names})


def _sorted(table: pa.Table, order: Sequence[str]) -> pa.Table:
    columns, keys = {}, []
    for name in order:
        if name.startswith("-"):
            columns[name] = pc.fill_null(table[name[1:]], -1)
            keys.append((name, "descending"))
        else:
            # Null is the first; Arrow puts it last.
            columns[f"has {name}"] = pc.is_valid(table[name]).cast(pa.int8())
            columns[name] = table[name]
            keys += [(f"has {name}", "ascending"), (name, "ascending")]
    return table.take(pc.sort_indices(pa.table(columns), sort_keys=keys))


def _in_zone(table: pa.Table, zone: str) -> pa.Table:
    times = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
    return _with(table, **{name: table[name].cast(pa.timestamp("us", zone)) for name in times})
