"""The time axis of a plot, in panels: without the long times in which there is nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from spark_jobs.audit.result import Row
from spark_jobs.audit.tasks.timeline import STEPS

__all__ = ["Panel", "time_panels"]

_NAMES = (
    *("millisecond", "10 ms", "100 ms", "second", "5 s", "15 s", "minute", "5 min", "15 min", "hour", "6 hours"),
    *("day", "week", "28 days", "364 days", "3,640 days", "36,400 days"),
)
"""The texts of `STEPS`."""
_MOST_BARS = 120
_MOST_BREAKS = 3
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Panel:
    """A part of the time axis.

    Attributes
    ----------
    rows : list of dict
        The sums by interval; ``start`` in microseconds.
    step : int
        The length of the intervals in microseconds, equal in all panels of a plot.
    """

    rows: list[Row]
    step: int

    @property
    def step_text(self) -> str:
        """The length of an interval."""
        return _NAMES[STEPS.index(self.step)]

    @property
    def starts(self) -> list[datetime]:
        """The starts of the intervals."""
        return [_time(row["start"]) for row in self.rows]

    @property
    def length(self) -> timedelta:
        """The length of an interval."""
        return timedelta(microseconds=self.step)

    @property
    def bounds(self) -> tuple[datetime, datetime]:
        """The first and last time of the axis, with a margin: otherwise a single bar would fill it."""
        margin = max(3 * self.step, self._span // 30)
        return _time(self.rows[0]["start"] - margin), _time(self.rows[-1]["start"] + self.step + margin)

    @property
    def width(self) -> float:
        """The width relative to other panels, where a short time gets some room too."""
        return self._span / self.step + 20

    @property
    def _span(self) -> int:
        span: int = self.rows[-1]["start"] + self.step - self.rows[0]["start"]
        return span

    def values(self, name: str) -> list[int]:
        """Return the sums of one name."""
        return [row.get(name) or 0 for row in self.rows]


def time_panels(rows: Sequence[Row]) -> list[Panel]:
    """Return the panels of one topic's timeline, with intervals of about a hundredth of what they show.

    Parameters
    ----------
    rows : sequence of dict
        At least one, from `timeline.coarsened`.
    """
    rows = sorted(rows, key=lambda row: row["start"])
    pieces = _pieces(rows)
    shortest: int = rows[0]["step"]
    visible = sum(piece[-1]["start"] - piece[0]["start"] for piece in pieces) + shortest
    step = next((each for each in STEPS if each >= shortest and visible <= each * _MOST_BARS), STEPS[-1])
    return [Panel(_summed(piece, step), step) for piece in pieces]


def _pieces(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """Cut rows at the longest times without any, if these are a large part of what is left to show."""
    gaps = sorted(((other["start"] - row["start"], place) for place, (row, other) in enumerate(pairwise(rows), 1)))
    visible = rows[-1]["start"] - rows[0]["start"] + rows[0]["step"]
    cuts = []
    for gap, place in gaps[: -_MOST_BREAKS - 1 : -1]:
        if gap <= visible / 4:
            break
        cuts.append(place)
        visible -= gap
    bounds = [0, *sorted(cuts), len(rows)]
    return [rows[low:high] for low, high in pairwise(bounds)]


def _summed(rows: Sequence[Row], step: int) -> list[Row]:
    sums: dict[int, Row] = {}
    for row in rows:
        start = row["start"] // step * step
        held = sums.setdefault(start, {"start": start})
        for name in ("records", "bytes"):
            held[name] = held.get(name, 0) + (row.get(name) or 0)
    return list(sums.values())


def _time(micros: int) -> datetime:
    # The interval of an early or late time may begin or end outside of the years of Python's datetime.
    least, most = ((time - _EPOCH) // timedelta(microseconds=1) for time in (datetime.min, datetime.max))
    return _EPOCH + timedelta(microseconds=min(max(micros, least), most))
