"""Where a read starts and ends: the precedence of the options, and the checks of a batch query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafkalog_source.errors import OptionError
from kafkalog_source.options.offsets_json import (
    EARLIEST,
    LATEST,
    PartitionLongs,
    parse_partition_offsets,
)
from kafkalog_source.options.values import invalid

__all__ = ["OffsetLimit", "check_batch_limits", "limit_of", "parse_offsets"]

_KEYWORDS = ("earliest", "latest")
_EXPECTED = 'earliest, latest or JSON as {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'


@dataclass(frozen=True)
class OffsetLimit:
    """One end of the range to read. Exactly one field is set in addition to `option`.

    Parameters
    ----------
    option : str
        The option that takes precedence, as messages name it.
    keyword : str, optional
        ``earliest`` or ``latest``, for every partition.
    offset : int, optional
        One offset for every partition.
    offsets : mapping, optional
        Offsets by topic and partition; -2 is earliest, -1 latest.
    timestamp_ms : int, optional
        One timestamp for every partition.
    timestamps_ms : mapping, optional
        Timestamps by topic and partition.
    """

    option: str
    keyword: str | None = None
    offset: int | None = None
    offsets: Mapping[str, Mapping[int, int]] | None = None
    timestamp_ms: int | None = None
    timestamps_ms: Mapping[str, Mapping[int, int]] | None = None


def parse_offsets(name: str, value: object) -> str | PartitionLongs:
    """Parse ``earliest``, ``latest`` or offsets by topic and partition."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _KEYWORDS:
            return word
        if not word.startswith("{"):
            raise invalid(name, "is not an offset", value, _EXPECTED, _KEYWORDS)
    return parse_partition_offsets(name, value)


def limit_of(
    side: str,
    timestamp_ms: int | None,
    timestamps_ms: Mapping[str, Mapping[int, int]] | None,
    offsets: str | Mapping[str, Mapping[int, int]],
) -> OffsetLimit:
    """Choose by precedence: one timestamp, then timestamps by partition, then offsets.

    `side` is the prefix of the option names, ``starting`` or ``ending``.
    """
    if timestamp_ms is not None:
        return OffsetLimit(f"{side}Timestamp", timestamp_ms=timestamp_ms)
    if timestamps_ms is not None:
        return OffsetLimit(f"{side}OffsetsByTimestamp", timestamps_ms=timestamps_ms)
    if isinstance(offsets, str):
        return OffsetLimit(f"{side}Offsets", keyword=offsets)
    return OffsetLimit(f"{side}Offsets", offsets=offsets)


def check_batch_limits(start: OffsetLimit, end: OffsetLimit) -> None:
    """Refuse a start at latest, an end at earliest, and an end before its start."""
    _refuse_limit(start, "latest", LATEST, "A batch query would read nothing")
    _refuse_limit(end, "earliest", EARLIEST, "A batch query would read nothing")
    if start.offsets is not None and end.offsets is not None:
        _check_pair(start, end, start.offsets, end.offsets)
    if start.timestamps_ms is not None and end.timestamps_ms is not None:
        _check_pair(start, end, start.timestamps_ms, end.timestamps_ms)


def _refuse_limit(limit: OffsetLimit, keyword: str, mark: int, why: str) -> None:
    if limit.keyword == keyword:
        raise OptionError(f"option {limit.option} cannot be {keyword} in a batch query", remedy=why)
    for topic, partition, offset in _flat(limit.offsets or {}):
        if offset == mark:
            raise OptionError(
                f"option {limit.option} cannot be {keyword} ({mark}) in a batch query,"
                f" as it is for {topic}-{partition}",
                remedy=why,
            )


def _check_pair(
    start: OffsetLimit,
    end: OffsetLimit,
    starts: Mapping[str, Mapping[int, int]],
    ends: Mapping[str, Mapping[int, int]],
) -> None:
    """Compare two mappings: the same partitions in both, and no end before its start."""
    from_, to = ({(t, p): number for t, p, number in _flat(side)} for side in (starts, ends))
    unmatched = sorted(from_.keys() ^ to.keys())
    if unmatched:
        topic, partition = unmatched[0]
        holder, other = (start, end) if unmatched[0] in from_ else (end, start)
        raise OptionError(
            f"option {holder.option} names {topic}-{partition}, but {other.option} does not",
            remedy="Name the same partitions in both",
        )
    for (topic, partition), first in sorted(from_.items()):
        last = to[topic, partition]
        if 0 <= last < first:
            raise OptionError(
                f"{topic}-{partition} ends before it starts",
                found=f"{start.option} {first}, {end.option} {last}",
                expected="a start that is not after the end",
            )


def _flat(topics: Mapping[str, Mapping[int, int]]) -> Iterator[tuple[str, int, int]]:
    for topic, partitions in topics.items():
        for partition, number in partitions.items():
            yield topic, partition, number
