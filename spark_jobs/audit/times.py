"""Timestamps within the range of Python's datetime."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["readable_time"]


def readable_time(name: str) -> Column:
    """Return a timestamp column with null for times before the year 1 or after the year 9999."""
    from pyspark.sql import functions as F

    time = F.col(name)
    # A margin of a day at both ends for time zones.
    first, last = (F.lit(text).cast("timestamp") for text in ("0001-01-02 00:00:00", "9999-12-30 00:00:00"))
    return F.when(time.between(first, last), time)
