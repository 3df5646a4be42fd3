"""Parses the option places: topics or partitions, each with its own range of offsets or times.

``orders:3@1200..1300`` is a range of one partition, ``orders@yesterday..`` a time in all partitions of a topic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafkalog_source.errors import OptionError
from kafkalog_source.options.limits import OffsetLimit
from kafkalog_source.options.offsets_json import topic_name
from kafkalog_source.options.times import Clock, day_of, iso_text, parse_time_ms
from kafkalog_source.options.values import INT32_MAX, INT64_MAX, invalid, parse_int, shown

__all__ = ["Place", "check_places", "parse_places"]

_EXAMPLE = "orders, orders:3, orders:3@1200..1300, orders:3@1200, orders@yesterday.. or orders@2026-11-20"
_OFFSET = re.compile(r"[0-9]+")
_EXCLUDED = ("subscribe", "subscribePattern", "assign")
_EXCLUDED_PREFIXES = ("startingOffsets", "startingTimestamp", "ending")
_STRATEGY = "startingOffsetsByTimestampStrategy"


@dataclass(frozen=True)
class Place:
    """A topic or one of its partitions, and which of its records are wanted.

    Attributes
    ----------
    topic : str
    partition : int or None
        None for all partitions.
    starting, ending : OffsetLimit
        With a keyword, one offset or one time; the end is exclusive.
    """

    topic: str
    partition: int | None
    starting: OffsetLimit
    ending: OffsetLimit

    def holds(self, topic: str | None, partition: int | None) -> bool:
        """Whether a partition belongs to this place."""
        return topic == self.topic and self.partition in (None, partition)

    @property
    def is_whole(self) -> bool:
        """Whether all offsets are wanted."""
        return self.starting.keyword is not None and self.ending.keyword is not None

    @property
    def times(self) -> str:
        """The place with its times in UTC; empty if it has none."""
        if self.starting.timestamp_ms is None and self.ending.timestamp_ms is None:
            return ""
        name = self.topic if self.partition is None else f"{self.topic}:{self.partition}"
        return f"{name}@{_text(self.starting)}..{_text(self.ending)}"


def parse_places(name: str, value: object, clock: Clock) -> tuple[Place, ...]:
    """Parse places from a comma-separated list or a Python list of these.

    Parameters
    ----------
    name : str
        The option.
    value : object
        Each place is ``TOPIC`` or ``TOPIC:PARTITION``, with or without ``@RANGE``. A range is ``FROM..TO``, ``FROM..``
        or ``..TO``, where a whole number is an offset and anything else a time, and TO is exclusive; or one offset; or
        one day, such as ``yesterday`` or ``2026-11-20``.
    clock : Clock
        For times.

    Raises
    ------
    OptionError
        If a place is malformed, or a partition belongs to two of them.
    """
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise invalid(name, "is not a list of places", value, _EXAMPLE)
    parts = (part.strip() for text in texts for part in text.split(","))
    places = tuple(_place(name, part, clock) for part in parts if part)
    if not places:
        raise invalid(name, "names no place", value, _EXAMPLE)
    _refuse_overlap(name, places)
    return places


def check_places(given: Mapping[str, object]) -> None:
    """Refuse options that choose partitions, offsets or times beside places, which do all of it."""
    if "places" not in given:
        return
    for name in given:
        if name in _EXCLUDED or (name.startswith(_EXCLUDED_PREFIXES) and name != _STRATEGY):
            raise OptionError(
                f"options places and {name} cannot be given together",
                remedy=f"Leave {name} out, and give each topic its range: {_EXAMPLE}",
            )


def _place(name: str, part: str, clock: Clock) -> Place:
    where, at, wanted = part.partition("@")
    topic, colon, number = where.partition(":")
    label = f"{name} at {shown(part)}"
    partition = parse_int(label, number, 0, INT32_MAX, "a partition as in orders:3") if colon else None
    return Place(topic_name(name, topic), partition, *_range(label, wanted, clock, is_given=bool(at)))


def _range(label: str, text: str, clock: Clock, *, is_given: bool) -> tuple[OffsetLimit, OffsetLimit]:
    first, dots, end = text.partition("..")
    if dots or not is_given:
        starting, ending = _limit(label, first, "earliest", clock), _limit(label, end, "latest", clock)
        _refuse_backward(label, starting, ending)
        return starting, ending
    if _OFFSET.fullmatch(text):
        offset = _offset(label, text)
        return OffsetLimit("places", offset=offset), OffsetLimit("places", offset=offset + 1)
    day = day_of(text, clock)
    if day is None:
        raise invalid(label, "has a range that is none", text, "FROM..TO, FROM.., ..TO, an offset or a day")
    return _limit(label, text, "", clock), OffsetLimit("places", timestamp_ms=day[1])


def _limit(label: str, text: str, keyword: str, clock: Clock) -> OffsetLimit:
    if not text.strip():
        return OffsetLimit("places", keyword=keyword)
    if _OFFSET.fullmatch(text.strip()):
        return OffsetLimit("places", offset=_offset(label, text))
    return OffsetLimit("places", timestamp_ms=parse_time_ms(label, text, clock))


def _offset(label: str, text: str) -> int:
    return parse_int(label, text, 0, INT64_MAX - 1, f"an offset from 0 to {INT64_MAX - 1}")


def _refuse_backward(label: str, starting: OffsetLimit, ending: OffsetLimit) -> None:
    for start, end in ((starting.offset, ending.offset), (starting.timestamp_ms, ending.timestamp_ms)):
        if start is not None and end is not None and end < start:
            raise OptionError(f"option {label} ends before it starts", expected="a start that is not after the end")


def _refuse_overlap(name: str, places: Sequence[Place]) -> None:
    seen: dict[str, set[int | None]] = {}
    for place in places:
        partitions = seen.setdefault(place.topic, set())
        if partitions and (place.partition in partitions or None in (place.partition, *partitions)):
            raise OptionError(
                f"option {name} holds two places with the same partition of {place.topic}",
                remedy="Give each partition one range; read several ranges of a partition one after the other",
            )
        partitions.add(place.partition)


def _text(limit: OffsetLimit) -> str:
    if limit.timestamp_ms is not None:
        return iso_text(limit.timestamp_ms)
    return "" if limit.offset is None else str(limit.offset)
