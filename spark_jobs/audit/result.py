"""An audit as plain values, for the terminal, JSON and HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from spark_jobs.audit.tasks.times import local_times

__all__ = ["Profile", "Row", "collected"]

Row = dict[str, Any]

_MOST = {"codecs": 10_000, "formats": 10_000, "partitions": 10_000, "topics": 10_000, "damage": 1_000}
"""The most rows that are kept of a table; Parquet has all."""
_ONLY_PLOTTED = ("hours", "sizes", "timeline")


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
    timeline : list of dict
        Bytes and records by topic and interval: ``start`` and ``step``, both in microseconds, as `timeline` makes them.
    cut : dict of str to int
        Number of rows of the tables that were cut.
    plotted : list of str or None
        The topics in `hours`, `sizes` and `timeline`, the largest first.
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
    timeline: list[Row] = field(default_factory=list)
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


def collected(
    profile: Profile, tables: Mapping[str, pa.Table], *, plotted: Sequence[str | None], most_rows: int
) -> None:
    """Fill a profile with the rows of the tables.

    Parameters
    ----------
    profile : Profile
        Filled in place.
    tables : mapping
        Sorted, from `tables.profile_tables`, and ``timeline``.
    plotted : sequence of str or None
        The topics whose hours, sizes and timelines are kept, the largest first.
    most_rows : int
        Number of headers and producers that are kept.
    """
    profile.plotted = list(plotted)
    for name, table in tables.items():
        if name in _ONLY_PLOTTED:
            # Null is a value to look for: the topic of a segment outside of any topic.
            shown = table.filter(pc.is_in(table["topic"], pa.array(profile.plotted, pa.string())))
        else:
            shown = table.slice(0, _MOST.get(name, most_rows))
            if len(shown) < len(table):
                profile.cut[name] = len(table)
        setattr(profile, name, _rows(shown))


def _rows(table: pa.Table) -> list[Row]:
    """Return rows as plain values, timestamps as local times of their zone."""
    for place, column in enumerate(table.schema):
        if pa.types.is_timestamp(column.type) and column.type.tz is not None:
            table = table.set_column(place, column.name, local_times(table.column(place)))
    rows: list[Row] = table.to_pylist()
    return rows
