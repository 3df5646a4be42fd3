"""Parses partitions, offsets and timestamps in options, given as JSON or as Python values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from kafkalog_source.errors import OptionError, printable
from kafkalog_source.options.times import Clock, parse_time_ms
from kafkalog_source.options.values import INT32_MAX, INT64_MAX, invalid, shown

__all__ = [
    "EARLIEST",
    "LATEST",
    "PartitionLongs",
    "parse_assign",
    "parse_partition_offsets",
    "parse_partition_times",
    "topic_name",
]

LATEST = -1
EARLIEST = -2
PartitionLongs = dict[str, dict[int, int]]
"""An integer for each partition of each topic: offsets, or timestamps in milliseconds."""

_ASSIGN_EXAMPLE = '{"topicA":[0,1],"topicB":[0,1]}'
_OFFSETS_EXAMPLE = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
_TIMES_EXAMPLE = '{"topicA":{"0":"2026-11-20T14:30Z","1":1700000000000}}'
_FRAGMENT_CHARACTERS = 24
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_PARTITION_KEY = re.compile(r"0|[1-9][0-9]{0,9}")


class _BadJsonError(Exception):
    """Raised for JSON that `json.loads` accepts and options do not; its text completes the message."""


def topic_name(name: str, topic: object) -> str:
    """Check that Kafka allows this topic name, so that a typing error is reported at once."""
    if isinstance(topic, str) and _TOPIC.fullmatch(topic) and topic not in (".", ".."):
        return topic
    raise invalid(name, "has an invalid topic name", topic, "1 to 249 letters, digits, dots, underscores or hyphens")


def parse_assign(name: str, value: object) -> dict[str, tuple[int, ...]]:
    """Parse the partitions of each topic: ``{"topicA":[0,1]}``."""
    assigned: dict[str, tuple[int, ...]] = {}
    for topic, partitions in _mapping(name, value, _ASSIGN_EXAMPLE).items():
        place = f'at topic "{topic_name(name, topic)}"'
        if isinstance(partitions, (str, bytes)) or not isinstance(partitions, Sequence) or not partitions:
            raise invalid(name, f"has no list of partitions {place}", partitions, _ASSIGN_EXAMPLE)
        numbers = [_whole(name, place, p, 0, INT32_MAX, _ASSIGN_EXAMPLE) for p in partitions]
        assigned[topic] = tuple(sorted(set(numbers)))
    if not assigned:
        raise invalid(name, "names no partition", value, _ASSIGN_EXAMPLE)
    return assigned


def parse_partition_offsets(name: str, value: object) -> PartitionLongs:
    """Parse offsets by topic and partition, where -2 is earliest and -1 latest."""

    def offset(where: str, number: object) -> int:
        return _whole(name, where, number, EARLIEST, INT64_MAX, _OFFSETS_EXAMPLE)

    return _partition_longs(name, value, offset, _OFFSETS_EXAMPLE)


def parse_partition_times(name: str, value: object, clock: Clock) -> PartitionLongs:
    """Parse times by topic and partition into milliseconds. Like Kafka, refuses those before 1970."""

    def time_ms(where: str, time: object) -> int:
        return parse_time_ms(f"{name} {where}", time, clock)

    return _partition_longs(name, value, time_ms, _TIMES_EXAMPLE)


def _partition_longs(name: str, value: object, parse: Callable[[str, object], int], example: str) -> PartitionLongs:
    topics: PartitionLongs = {}
    for topic, partitions in _mapping(name, value, example).items():
        place = f'at topic "{topic_name(name, topic)}"'
        if not isinstance(partitions, Mapping):
            raise invalid(name, f"has no object of partitions {place}", partitions, example)
        longs = topics[topic] = {}
        for key, number in partitions.items():
            partition = _partition(name, place, key, example)
            where = f"{place}, partition {partition}"
            if partition in longs:
                raise invalid(name, f"names a partition twice {where}", key, example)
            longs[partition] = parse(where, number)
    return topics


def _partition(name: str, place: str, key: object, example: str) -> int:
    if isinstance(key, str):
        if _PARTITION_KEY.fullmatch(key) and int(key) <= INT32_MAX:
            return int(key)
        raise invalid(name, f"has an invalid partition number {place}", key, example)
    return _whole(name, place, key, 0, INT32_MAX, example)


def _whole(name: str, place: str, number: object, low: int, high: int, example: str) -> int:
    # In Python a bool is an int, but true is not an offset.
    if isinstance(number, bool) or not isinstance(number, int):
        raise invalid(name, f"has a value that is not an integer {place}", number, example)
    if not low <= number <= high:
        raise invalid(name, f"is out of range {place}", number, f"{low} to {high}")
    return number


def _mapping(name: str, value: object, example: str) -> Mapping[Any, Any]:
    """The outermost object, given as JSON or as a Python mapping."""
    if isinstance(value, str):
        value = _load(name, value, example)
    if not isinstance(value, Mapping):
        raise invalid(name, "is not a JSON object", value, example)
    return value


def _load(name: str, text: str, example: str) -> object:
    if not text.strip():
        raise invalid(name, "is empty", text, example)
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_int=_bounded_int, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        problem = f"is not valid JSON at character {error.pos}: {error.msg}"
        raise OptionError(f"option {name} {problem}", found=_fragment(text, error.pos), expected=example) from None
    except _BadJsonError as error:
        raise OptionError(f"option {name} {error}", found=shown(text), expected=example) from None
    except RecursionError:
        raise invalid(name, "is nested too deeply", text, example) from None


def _fragment(text: str, position: int) -> str:
    start = max(0, position - _FRAGMENT_CHARACTERS)
    end = position + _FRAGMENT_CHARACTERS
    before, after = ("..." if start else ""), ("..." if end < len(text) else "")
    return f"'{before}{printable(text[start:end])}{after}'"


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _BadJsonError(f"has the key {shown(key)} twice in one object")
        found[key] = value
    return found


def _bounded_int(digits: str) -> int:
    if len(digits) > len(str(-INT64_MAX)):
        raise _BadJsonError(f"has a number of {len(digits)} digits, too large for an int64")
    return int(digits)


def _no_constant(word: str) -> NoReturn:
    raise _BadJsonError(f"has {word}, which is not a JSON number")
