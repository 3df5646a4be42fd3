"""Statistics of batches by topic, added up from Arrow batches of their headers in memory that does not grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.cli.cells import iso_utc

__all__ = ["COLUMNS", "Statistics", "TopicStatistics"]

COLUMNS = (
    "topic",
    "batchSize",
    "recordCount",
    "magic",
    "compression",
    "firstTimestamp",
    "maxTimestamp",
    "producerId",
    "isTransactional",
    "isControl",
)
"""The columns of ``view=batches`` that are needed."""
_MOST_PARTS = 32
_BUCKETS_OF_OCTAVE = 16  # a bucket is 4.4 % wide
_COUNTS = ["batches", "bytes", "records", "uncounted", "without_first"]
_KIND = ["topic", "magic", "compression", "isControl", "isTransactional"]


@dataclass(frozen=True, slots=True)
class TopicStatistics:
    """What the headers of a topic's batches say.

    Attributes
    ----------
    topic : str or None
        None for segments outside of any partition directory.
    records : int or None
        Without control records; None if there are batches whose headers do not hold the number.
    first_time_us, last_time_us : int or None
        Microseconds; None if there is none or, for the first one, it is unknown.
    codecs, formats : dict
        The number of batches by codec and by format version (magic).
    batch_bytes : dict
        Sizes on disk: ``p50``, ``p90``, ``p99`` to within 5 %, and ``max``.
    """

    topic: str | None
    partitions: int
    segments: int
    batches: int
    records: int | None
    uncounted_batches: int
    bytes: int
    first_time_us: int | None
    last_time_us: int | None
    codecs: dict[str, int]
    formats: dict[int, int]
    transactional_batches: int
    control_batches: int
    producers: int
    batch_bytes: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain values, with the names of JSON and times as ISO 8601."""
        values = asdict(self)
        for name in ("first_time_us", "last_time_us"):
            time = values.pop(name)
            values[name.removesuffix("_us")] = None if time is None else iso_utc(time)
        return {_camel(name): value for name, value in values.items()}


class _Sums:
    """A table of sums, least and largest values by some keys, added up from parts."""

    def __init__(
        self, keys: Sequence[str], sums: Sequence[str] = (), least: Sequence[str] = (), most: Sequence[str] = ()
    ):
        self._keys = list(keys)
        self._functions = {**dict.fromkeys(sums, "sum"), **dict.fromkeys(least, "min"), **dict.fromkeys(most, "max")}
        self._parts: list[pa.Table] = []

    def add(self, rows: pa.Table) -> None:
        self._parts.append(self._added_up(rows))
        if len(self._parts) > _MOST_PARTS:
            self._parts = [self._added_up(pa.concat_tables(self._parts))]

    def rows(self) -> list[dict[str, Any]]:
        return self._added_up(pa.concat_tables(self._parts)).to_pylist() if self._parts else []

    def _added_up(self, rows: pa.Table) -> pa.Table:
        found = rows.group_by(self._keys).aggregate(list(self._functions.items()))
        names = [*self._keys, *(f"{name}_{function}" for name, function in self._functions.items())]
        return found.select(names).rename_columns([*self._keys, *self._functions])


class Statistics:
    """Adds up the headers of batches.

    Parameters
    ----------
    places : sequence of (topic, partition, path)
        The segments that are read.
    """

    def __init__(self, places: Sequence[tuple[str | None, int | None, str]]) -> None:
        self._places = places
        self._kinds = _Sums(_KIND, _COUNTS, ["first"], ["last", "largest"])
        self._sizes = _Sums(["topic", "bucket"], ["batches"])
        self._producers = _Sums(["topic", "producerId"], ["batches"])

    def add(self, rows: pa.RecordBatch) -> None:
        """Add rows of ``view=batches`` with `COLUMNS`."""
        one = pa.array([1] * rows.num_rows, pa.int64())
        counts, largest = rows.column("recordCount"), rows.column("maxTimestamp").cast(pa.int64())
        # The largest time of a single record is its own.
        first = pc.coalesce(
            rows.column("firstTimestamp").cast(pa.int64()), pc.if_else(pc.equal(counts, 1), largest, None)
        )
        columns = {name: rows.column(name) for name in (*_KIND, "producerId")}
        whole = pa.table(
            {
                **columns,
                "batches": one,
                "bytes": rows.column("batchSize"),
                "largest": rows.column("batchSize"),
                "records": pc.fill_null(counts, 0).cast(pa.int64()),
                "uncounted": counts.is_null().cast(pa.int64()),
                # An empty batch, which compaction leaves, has a largest time but no record.
                "without_first": _all(first.is_null(), largest.is_valid(), _are_not(counts, 0)).cast(pa.int64()),
                "first": first,
                "last": largest,
                "bucket": _buckets(rows.column("batchSize")),
            }
        )
        self._kinds.add(whole)
        self._sizes.add(whole)
        self._producers.add(whole.filter(pc.is_valid(whole["producerId"])))

    def topics(self) -> list[TopicStatistics]:
        """The statistics of each topic that has segments, in their order."""
        kinds, sizes = self._kinds.rows(), self._sizes.rows()
        producers = self._producers.rows()
        return [
            self._topic(
                topic,
                [row for row in kinds if row["topic"] == topic],
                {row["bucket"]: row["batches"] for row in sizes if row["topic"] == topic},
                sum(row["topic"] == topic for row in producers),
            )
            for topic in dict.fromkeys(topic for topic, _, _ in self._places)
        ]

    def _topic(
        self, topic: str | None, kinds: Sequence[dict[str, Any]], buckets: dict[int, int], producers: int
    ) -> TopicStatistics:
        places = [each for each in self._places if each[0] == topic]
        data = [row for row in kinds if not row["isControl"]]
        largest = max((row["largest"] for row in kinds), default=0)
        uncounted = _sum(kinds, "uncounted")
        return TopicStatistics(
            topic=topic,
            partitions=len({partition for _, partition, _ in places}),
            segments=len(places),
            batches=_sum(kinds, "batches"),
            records=None if uncounted else _sum(data, "records"),
            uncounted_batches=uncounted,
            bytes=_sum(kinds, "bytes"),
            first_time_us=None if _sum(kinds, "without_first") else _known(min, kinds, "first"),
            last_time_us=_known(max, kinds, "last"),
            codecs=_by(kinds, "compression"),
            formats=_by(kinds, "magic"),
            transactional_batches=_sum([row for row in data if row["isTransactional"]], "batches"),
            control_batches=_sum([row for row in kinds if row["isControl"]], "batches"),
            producers=producers,
            batch_bytes={**{f"p{part}": _quantile(buckets, part, largest) for part in (50, 90, 99)}, "max": largest},
        )


def _all(*conditions: pa.Array) -> pa.Array:
    return reduce(pc.and_, conditions)


def _are_not(values: pa.Array, value: int) -> pa.Array:
    return pc.fill_null(pc.not_equal(values, value), True)


def _buckets(sizes: pa.Array) -> pa.Array:
    """The bucket of each size: of its logarithm, so that small and large sizes have the same precision."""
    return pc.floor(pc.multiply(pc.log2(pc.cast(sizes, pa.float64())), _BUCKETS_OF_OCTAVE)).cast(pa.int32())


def _quantile(buckets: dict[int, int], percent: int, largest: int) -> int:
    """The middle of the bucket below whose end `percent` of all sizes are."""
    wanted, seen = sum(buckets.values()) * percent / 100, 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        if seen >= wanted:
            return min(largest, round(2 ** ((bucket + 0.5) / _BUCKETS_OF_OCTAVE)))
    return 0


def _sum(rows: Sequence[dict[str, Any]], name: str) -> int:
    return sum(row[name] for row in rows)


def _known(choose: Any, rows: Sequence[dict[str, Any]], name: str) -> int | None:
    found: int | None = choose((row[name] for row in rows if row[name] is not None), default=None)
    return found


def _by(rows: Sequence[dict[str, Any]], name: str) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for row in sorted(rows, key=lambda row: row[name]):
        found[row[name]] = found.get(row[name], 0) + row["batches"]
    return found


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
