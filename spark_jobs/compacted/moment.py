"""The moment of a table, and whether the log still holds all records of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from kafkalog_source import compacted_up_to, milliseconds
from kafkalog_source.errors import OptionError, printable
from spark_jobs.common.config import ConfigError
from spark_jobs.common.input import JobInput
from spark_jobs.common.reading import Partition, ranges_of

__all__ = ["Moment", "notes_on_moment", "parse_moment"]

_CHECKPOINT = "cleaner-offset-checkpoint"
_NAMES_SHOWN = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that datetime can represent."""


@dataclass(frozen=True)
class Moment:
    """The moment of a table: the end of the log, a time, or an offset of every partition.

    Attributes
    ----------
    time_ms : int or None
        Records up to this time, inclusive, belong to the table; milliseconds since 1970.
    offsets : str or None
        Records below these offsets belong to the table; JSON as for ``endingOffsets``.
    """

    time_ms: int | None = None
    offsets: str | None = None

    @property
    def text(self) -> str:
        """The moment as text."""
        if self.time_ms is not None:
            time = _EPOCH + timedelta(milliseconds=self.time_ms)
            return time.isoformat(timespec="milliseconds" if self.time_ms % 1000 else "seconds").replace("+00:00", "Z")
        return self.offsets or "end"


def parse_moment(
    as_of: str, offsets: Mapping[str, str], to_milliseconds: Callable[[str], int] = milliseconds
) -> Moment:
    """Parse ``as_of`` and ``as_of_offsets`` of the config.

    Parameters
    ----------
    as_of : str
        ``end``, or a time as the reader takes it.
    offsets : mapping
        By topic, JSON of offsets by partition.
    to_milliseconds : callable
        Converts the time.

    Raises
    ------
    ConfigError
        If a time is invalid, or both are given.
    """
    if as_of == "end":
        return Moment(offsets=_offsets_json(offsets) if offsets else None)
    if offsets:
        raise ConfigError("as_of and as_of_offsets are both given; remove one of them")
    try:
        time_ms = to_milliseconds(as_of)
    except OptionError as error:
        raise ConfigError(f"as_of is neither end nor a time: {error}") from error
    if time_ms > _LAST_MS:
        raise ConfigError(f"as_of {as_of!r} is after the year 9999")
    return Moment(time_ms=time_ms)


def _offsets_json(offsets: Mapping[str, str]) -> str:
    try:
        return json.dumps({topic: json.loads(places) for topic, places in offsets.items()})
    except ValueError as error:
        raise ConfigError("as_of_offsets must be tables of offsets: { orders = { 0 = 23 } }") from error


def notes_on_moment(source: JobInput, moment: Moment) -> tuple[str, ...]:
    """Return notes on partitions in which compaction may have removed values that were current at the moment.

    The cleaner removes a value if a later one of its key is below the offset up to which
    it has compacted. If all records below that offset belong to the table, nothing is
    missing; if a later record is among them, the value that it replaced may be gone.
    """
    if moment == Moment():
        return ()
    beyond = _first_beyond(source, moment)
    notes, unknown = [], []
    keywords: dict[str, Any] = dict(source.options)
    for (topic, partition), cleaned in compacted_up_to(list(source.paths), **keywords).items():
        later = beyond.get((topic, partition))
        if later is None:
            continue
        name = f"{printable(topic)}-{partition}"
        if cleaned is None:
            unknown.append(name)
        elif cleaned > later:
            notes.append(_past_note(name, cleaned, later))
    return (*notes, *_unknown_note(unknown))


def _past_note(name: str, cleaned: int, later: int) -> str:
    return (
        f"{name}: compacted up to offset {cleaned}, and offset {later} is already later than the moment;"
        " keys that were updated since may be missing"
    )


def _unknown_note(names: Sequence[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        yield (
            f"{', '.join(names[:_NAMES_SHOWN])}{more}: no {_CHECKPOINT} shows how far the log is compacted;"
            " keys that were updated since the moment may be missing"
        )


def _first_beyond(source: JobInput, moment: Moment) -> dict[Partition, int]:
    """Return the first offset that does not belong to the table, for the partitions that have one."""
    if moment.time_ms is None:
        places: dict[str, dict[str, int]] = json.loads(moment.offsets or "{}")
        found = {(topic, int(each)): offset for topic, offsets in places.items() for each, offset in offsets.items()}
        return {place: offset for place, offset in found.items() if offset >= 0}
    # Found by the time indexes, without reading all records.
    later: dict[str, Any] = {
        "startingTimestamp": str(moment.time_ms + 1),
        "startingOffsetsByTimestampStrategy": "latest",
    }
    return {place: low for place, (low, _) in ranges_of(source.with_options(later)).items()}
