"""Times as people write them: ISO 8601, ``yesterday``, ``-2h``, or milliseconds since 1970.

A time without a zone is in UTC unless a read sets another zone. The zone of a machine is not used, so that a config
means the same on the driver, on another machine and in a scheduler. A relative time is resolved once, when the options
of a read are parsed: tasks get milliseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, available_timezones

from kafkalog_source.errors import OptionError, did_you_mean
from kafkalog_source.options.values import INT64_MAX, invalid, shown, whole_number

__all__ = ["Clock", "clock_of", "day_of", "iso_text", "milliseconds", "parse_now_ms", "parse_time_ms", "parse_zone"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that datetime can represent."""
_DAYS = {"today": 0, "yesterday": -1}
_WORDS = ("now", *_DAYS)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_RELATIVE = re.compile(r"-([0-9]{1,9})([smhdw])")
# `datetime.fromisoformat` would also take any other character between date and time.
_ISO = re.compile(r"[0-9W-]{7,10}(?:[T ][0-9:.,]+(?:Z|[+-][0-9:]+)?)?")
_EXPECTED = (
    "a time such as 2026-11-20, 2026-11-20T14:30, 2026-11-20T14:30:00+01:00, now, today, yesterday or -2h "
    "(s, m, h, d, w), or milliseconds since 1970-01-01 UTC, 0 or more"
)


@dataclass(frozen=True)
class Clock:
    """What relative times and times without a zone refer to, the same for all times of a read.

    Parameters
    ----------
    now : datetime
        With a zone.
    zone : tzinfo
        The zone of times without one, and of the days `today` and `yesterday`.
    """

    now: datetime
    zone: tzinfo = UTC


def milliseconds(text: str, *, now: datetime | None = None, zone: str = "UTC") -> int:
    """Convert a time into milliseconds since 1970-01-01 UTC.

    Parameters
    ----------
    text : str
        An ISO 8601 date or time, with or without a zone; a date is its first moment. Or ``now``, ``today``,
        ``yesterday`` (the first moment of these days), a time before now such as ``-45s``, ``-30m``, ``-2h``, ``-7d``
        or ``-1w``, or milliseconds since 1970.
    now : datetime, optional
        What relative times refer to, with a zone; by default the current time.
    zone : str, optional
        The name of the zone of times without one, and of the days, such as ``Europe/Berlin``. By default UTC.

    Returns
    -------
    int
        A fraction of a millisecond is rounded up, because records have whole milliseconds.

    Raises
    ------
    OptionError
        If the text is not a time, the time is before 1970, or the zone is unknown.

    Examples
    --------
    >>> milliseconds("2026-11-20T14:30+01:00")
    1795181400000
    """
    clock = Clock(datetime.now(UTC) if now is None else now, _zone(parse_zone("timeZone", zone)))
    found = _milliseconds(text, clock)
    if found is None:
        raise OptionError("not a time", found=shown(text), expected=_EXPECTED, remedy=did_you_mean(text, _WORDS))
    if not 0 <= found <= INT64_MAX:
        raise OptionError("a time is out of range", found=shown(text), expected=_EXPECTED)
    return found


def parse_time_ms(name: str, value: object, clock: Clock) -> int:
    """Parse the value of an option: a time as for `milliseconds`, an int, a date or a datetime.

    Like Kafka's own lookup by time, refuses times before 1970.
    """
    found = _milliseconds(value, clock)
    if found is None:
        raise invalid(name, "is not a time", value, _EXPECTED, _WORDS)
    if not 0 <= found <= INT64_MAX:
        raise invalid(name, "is out of range", value, _EXPECTED)
    return found


def parse_now_ms(name: str, value: object, clock: Clock) -> int:
    """Parse the time that relative times refer to, up to the year 9999."""
    found = parse_time_ms(name, value, clock)
    if found > _LAST_MS:
        raise invalid(name, "is out of range", value, "a time up to the year 9999")
    return found


def parse_zone(name: str, value: object) -> str:
    """Parse the name of a time zone, and check that this machine knows it."""
    text = str(value).strip()
    try:
        return text if text == "UTC" else ZoneInfo(text).key
    except (LookupError, OSError, ValueError):
        raise OptionError(
            f"option {name} is not a time zone that this machine knows",
            found=shown(value),
            expected="a name such as UTC or Europe/Berlin",
            remedy=did_you_mean(text, available_timezones()),
        ) from None


def clock_of(zone: str, now_ms: int | None) -> Clock:
    """Return the clock of a read from its options ``timeZone`` and ``now``."""
    return Clock(datetime.now(UTC) if now_ms is None else _EPOCH + now_ms * _MILLISECOND, _zone(zone))


def _zone(name: str) -> tzinfo:
    # UTC is needed even where the zone database is not installed.
    return UTC if name == "UTC" else ZoneInfo(name)


def day_of(text: str, clock: Clock) -> tuple[int, int] | None:
    """Convert a date, ``today`` or ``yesterday`` into the first moment of the day and of the next one.

    Returns
    -------
    tuple of int, or None
        Milliseconds; None if the text is not a day.
    """
    day = _day(text.strip(), clock)
    if day is None or day == date.max:
        return None
    return _since_epoch(_midnight(day, clock)), _since_epoch(_midnight(day + timedelta(days=1), clock))


def iso_text(time_ms: int) -> str:
    """Format milliseconds since 1970 as ISO 8601 in UTC; as a number after the year 9999."""
    if time_ms > _LAST_MS:
        return str(time_ms)
    time = _EPOCH + time_ms * _MILLISECOND
    return time.isoformat(timespec="milliseconds" if time_ms % 1000 else "seconds").replace("+00:00", "Z")


def _milliseconds(value: object, clock: Clock) -> int | None:
    """The time in milliseconds, which may be out of range; None if the value is not a time."""
    number = whole_number(value)
    if number is not None:
        return number
    try:
        time = _time(value, clock)
        return None if time is None else _since_epoch(time)
    except (ValueError, OverflowError):
        return None


def _time(value: object, clock: Clock) -> datetime | None:
    if isinstance(value, datetime):
        return _with_zone(value, clock)
    if isinstance(value, date):
        return _midnight(value, clock)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.lower() == "now":
        return clock.now
    relative = _RELATIVE.fullmatch(text.lower())
    if relative is not None:
        return clock.now - timedelta(**{_UNITS[relative[2]]: int(relative[1])})
    day = _day(text, clock)
    if day is not None:
        return _midnight(day, clock)
    return _with_zone(datetime.fromisoformat(text.upper()), clock) if _ISO.fullmatch(text.upper()) else None


def _day(text: str, clock: Clock) -> date | None:
    if text.lower() in _DAYS:
        return clock.now.astimezone(clock.zone).date() + timedelta(days=_DAYS[text.lower()])
    try:
        # Eight digits could be a date as well, but whole numbers are milliseconds or offsets.
        return None if text.isdigit() else date.fromisoformat(text.upper())
    except ValueError:
        return None


def _midnight(day: date, clock: Clock) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=clock.zone)


def _with_zone(time: datetime, clock: Clock) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=clock.zone)


def _since_epoch(time: datetime) -> int:
    return -((_EPOCH - time) // _MILLISECOND)
