"""An audit as plain values, for the terminal, JSON and HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["Profile", "Row", "collected", "largest_topics"]

Row = dict[str, Any]

_MOST = {"codecs": 10_000, "formats": 10_000, "partitions": 10_000, "topics": 10_000, "damage": 1_000}
"""The most rows that are kept of a table; Parquet has all."""


@dataclass
class Profile:
    """The results of an audit; of long tables, the first rows.

    Attributes
    ----------
    input : list of str
        The paths.
    depth : str
        ``records``, or ``headers`` where records were not read.
    time_zone : str
        Time zone of all timestamps, which are without time zone.
    seconds : float
    segments, splits : int
        As planned.
    warnings, skipped : list of str
    topics, partitions, codecs, formats, hours, sizes, headers, producers, damage : list of dict
        The rows of the tables, the largest first.
    cut : dict of str to int
        Number of rows of the tables that were cut.
    plotted : list of str or None
        The topics in `hours` and `sizes`, the largest first.
    """

    input: list[str]
    depth: str
    time_zone: str = "UTC"
    seconds: float = 0.0
    segments: int = 0
    splits: int = 0
    warnings: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    topics: list[Row] = field(default_factory=list)
    partitions: list[Row] = field(default_factory=list)
    codecs: list[Row] = field(default_factory=list)
    formats: list[Row] = field(default_factory=list)
    hours: list[Row] = field(default_factory=list)
    sizes: list[Row] = field(default_factory=list)
    headers: list[Row] = field(default_factory=list)
    producers: list[Row] = field(default_factory=list)
    damage: list[Row] = field(default_factory=list)
    cut: dict[str, int] = field(default_factory=dict)
    plotted: list[str | None] = field(default_factory=list)

    def total(self, name: str) -> int:
        """Return the sum of a column over all topics."""
        return sum(row.get(name) or 0 for row in self.topics)

    @property
    def records(self) -> int | None:
        """Number of records; None if it is unknown for any topic, because only headers were read."""
        return None if any(row.get("records") is None for row in self.topics) else self.total("records")

    @property
    def damaged_regions(self) -> int:
        """Number of damaged regions, including those that are not shown."""
        return self.cut.get("damage", len(self.damage))

    def as_dict(self) -> dict[str, Any]:
        """Return all results as plain values, for JSON."""
        totals = {name: self.total(name) for name in ("segments", "bytes", "batches")}
        return {**asdict(self), "totals": {**totals, "records": self.records}}


def collected(profile: Profile, tables: Mapping[str, DataFrame], *, plots: int, most_rows: int) -> Profile:
    """Fill a profile with the rows of the tables.

    Parameters
    ----------
    profile : Profile
        Filled in place, and returned.
    tables : mapping
        From `profile_tables`.
    plots : int
        Number of topics, the largest ones, whose hours and sizes are kept.
    most_rows : int
        Number of headers and producers that are kept.
    """
    for name, order in _ORDERS.items():
        if name in tables:
            _take(profile, name, tables[name].orderBy(*_sorted_by(order)), _MOST.get(name, most_rows))
    profile.plotted = largest_topics(profile.topics, plots)
    for name, columns in (("hours", ("topic", "hour")), ("sizes", ("topic", "of", "size"))):
        if name in tables and profile.plotted:
            rows = _as_shown(tables[name]).where(_one_of(profile.plotted)).orderBy(*columns).collect()
            setattr(profile, name, [row.asDict() for row in rows])
    return profile


_ORDERS: dict[str, Sequence[str]] = {
    "topics": ("-bytes", "topic"),
    "partitions": ("topic", "partition"),
    "codecs": ("topic", "-bytes"),
    "formats": ("topic", "magic"),
    "headers": ("topic", "-records", "name"),
    "producers": ("topic", "-batches", "producer_id"),
    "damage": ("topic", "partition", "file", "position"),
}
"""The sort order of each table; a minus sorts descending."""


def _sorted_by(names: Sequence[str]) -> list[Column]:
    from pyspark.sql import functions as F

    return [F.desc_nulls_last(name[1:]) if name.startswith("-") else F.asc_nulls_first(name) for name in names]


def _take(profile: Profile, name: str, table: DataFrame, most: int) -> None:
    rows = [row.asDict() for row in _as_shown(table).limit(most + 1).collect()]
    if len(rows) > most:
        profile.cut[name] = table.count()
    setattr(profile, name, rows[:most])


def _as_shown(table: DataFrame) -> DataFrame:
    """Convert timestamps to local times of the session's zone; collected as is, they would be in this computer's."""
    times = [field.name for field in table.schema if field.dataType.typeName() == "timestamp"]
    return table.withColumns({name: table[name].cast("timestamp_ntz") for name in times})


def _one_of(topics: Sequence[str | None]) -> Column:
    from pyspark.sql import functions as F

    named = [topic for topic in topics if topic is not None]
    chosen = F.col("topic").isin(named)
    return chosen | F.col("topic").isNull() if None in topics else chosen


def largest_topics(topics: Sequence[Row], count: int) -> list[str | None]:
    """Return the names of the topics with the most bytes."""
    ordered = sorted(topics, key=lambda row: -(row.get("bytes") or 0))
    return [row["topic"] for row in ordered[:count]]
