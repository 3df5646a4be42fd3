"""Timestamps of an audit: those that can be shown, and the hours and intervals that they lie in."""

from __future__ import annotations

import re
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["DAY", "HOUR", "MINUTE", "SECOND", "floored", "hours", "is_zone", "local_micros", "local_times", "readable"]

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_UTC = pa.timestamp("us", "UTC")
# The years of Python's datetime, with a margin of a day at both ends for time zones.
_FIRST, _LAST = (pa.scalar(time, pa.timestamp("us")).cast(_UTC) for time in (datetime(1, 1, 2), datetime(9999, 12, 30)))
_OFFSET = re.compile(r"([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
# Added before a division, which truncates, so that also times before 1970 are rounded down. A multiple of all steps.
_SHIFT = 36_400 * DAY * 100


def is_zone(zone: str) -> bool:
    """Return whether a time zone exists: a name such as ``Europe/Berlin``, or an offset such as ``+02:00``."""
    try:
        local_micros(pa.array([0]).cast(_UTC), zone)
    except pa.ArrowInvalid:
        return False
    # For Arrow, no name is no zone.
    return bool(zone)


def readable(times: pa.Array) -> pa.Array:
    """Return the timestamps with null for those before the year 1 or after the year 9999."""
    return pc.if_else(pc.and_(pc.greater_equal(times, _FIRST), pc.less_equal(times, _LAST)), times, None)


def local_micros(times: pa.Array, zone: str) -> pa.Array:
    """Return the microseconds since 1970-01-01 00:00 on the clocks of a time zone."""
    fixed = _fixed_offset(zone)
    if fixed is not None:
        return pc.add(times.cast(pa.int64()), fixed)
    return pc.local_timestamp(times.cast(pa.timestamp("us", zone))).cast(pa.int64())


def _fixed_offset(zone: str) -> int | None:
    """Return the offset of a zone without a name, and of UTC, which needs no time zone database."""
    found = _OFFSET.fullmatch(zone)
    if found is None:
        return 0 if zone == "UTC" else None
    return int(f"{found[1]}1") * (int(found[2]) * HOUR + int(found[3]) * MINUTE)


def local_times(times: pa.Array) -> pa.Array:
    """Return timestamps as local times of their zone, without a zone."""
    return local_micros(times, times.type.tz).cast(pa.timestamp("us"))


def hours(times: pa.Array, zone: str) -> pa.Array:
    """Return the start of the hour of each timestamp on the clocks of a time zone."""
    local = local_micros(times, zone)
    since_hour = pc.subtract(local, floored(local, HOUR))
    return pc.subtract(times.cast(pa.int64()), since_hour).cast(_UTC).cast(pa.timestamp("us", zone))


def floored(micros: pa.Array, step: int) -> pa.Array:
    """Round numbers down to multiples of a step."""
    return pc.subtract(pc.multiply(pc.divide(pc.add(micros, _SHIFT), step), step), _SHIFT)
