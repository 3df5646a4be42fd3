"""Every option of a read: its name, its default and its parser, and which options are not supported yet.

`parse_options` is the only entry point, for both Spark and ``scan()``. Names and
checks are those of Spark's own Kafka source wherever it has the option.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from kafkalog_source.columns import VIEWS
from kafkalog_source.errors import OptionError, printable
from kafkalog_source.format import INTERNAL_TOPICS
from kafkalog_source.options import values
from kafkalog_source.options.limits import (
    OffsetLimit,
    check_batch_limits,
    limit_of,
    parse_offsets,
)
from kafkalog_source.options.names import refuse_broker_option, refuse_unknown_option
from kafkalog_source.options.offsets_json import parse_assign, parse_partition_times
from kafkalog_source.options.paths import parse_path_option, parse_paths_option, paths_from_python
from kafkalog_source.options.places import Place, check_places, parse_places
from kafkalog_source.options.times import Clock, clock_of, iso_text, parse_now_ms, parse_time_ms, parse_zone
from kafkalog_source.options.topics import parse_subscribe, parse_subscribe_pattern
from kafkalog_source.options.views import check_streamed_view, check_view

__all__ = ["OPTION_NAMES", "ReadOptions", "check_batch_options", "parse_options"]

_MIB = 1024 * 1024
_TRIGGER_DELAY_MS = 15 * 60 * 1000


@dataclass(frozen=True)
class ReadOptions:
    """The options of one read, checked and typed: one field for each, named as the option in snake case.

    Plain data without credentials, so that it can be sent to a worker. Sizes are in
    bytes, timestamps and durations in milliseconds.
    """

    paths: tuple[str, ...]
    subscribe: tuple[str, ...] | None = None
    subscribe_pattern: str | None = None
    assign: Mapping[str, tuple[int, ...]] | None = None
    places: tuple[Place, ...] | None = None
    starting_offsets: str | Mapping[str, Mapping[int, int]] = "earliest"
    ending_offsets: str | Mapping[str, Mapping[int, int]] = "latest"
    starting_timestamp: int | None = None
    ending_timestamp: int | None = None
    starting_offsets_by_timestamp: Mapping[str, Mapping[int, int]] | None = None
    ending_offsets_by_timestamp: Mapping[str, Mapping[int, int]] | None = None
    starting_offsets_by_timestamp_strategy: str = "error"
    time_zone: str = "UTC"
    now: int | None = None
    include_headers: bool = True
    include_control_records: bool = False
    isolation_level: str = "read_uncommitted"
    read_up_to: str = "logEnd"
    include_deleted: bool = False
    max_partition_bytes: int = 128 * _MIB
    open_cost_in_bytes: int = 4 * _MIB
    min_partitions: int | None = None
    max_records_per_partition: int | None = None
    max_offsets_per_trigger: int | None = None
    max_bytes_per_trigger: int | None = None
    min_offsets_per_trigger: int | None = None
    max_trigger_delay: int = _TRIGGER_DELAY_MS
    fail_on_data_loss: bool = True
    mode: str = "FAILFAST"
    verify_checksums: bool = True
    max_decompressed_batch_bytes: int = 256 * _MIB
    follow_symlinks: bool = False
    view: str = "records"
    include_secrets: bool = False
    filter_pushdown: bool = False

    @property
    def trigger_bounds(self) -> tuple[str, ...]:
        """The options that are set and bound the micro-batches of a stream."""
        bounds = {
            "maxOffsetsPerTrigger": self.max_offsets_per_trigger,
            "maxBytesPerTrigger": self.max_bytes_per_trigger,
            "minOffsetsPerTrigger": self.min_offsets_per_trigger,
            "maxTriggerDelay": None if self.max_trigger_delay == _TRIGGER_DELAY_MS else self.max_trigger_delay,
        }
        return tuple(name for name, value in bounds.items() if value is not None)

    def limits(self, topic: str | None, partition: int | None) -> tuple[OffsetLimit, OffsetLimit]:
        """Where to start and to end (exclusive) in a partition, after precedence."""
        own = next((place for place in self.places or () if place.holds(topic, partition)), None)
        return (self.starting_limit, self.ending_limit) if own is None else (own.starting, own.ending)

    @property
    def times(self) -> dict[str, str]:
        """The times that bound the read in UTC, by option: a time, or places with their times."""
        by_option = {
            limit.option: iso_text(limit.timestamp_ms)
            for limit in (self.starting_limit, self.ending_limit)
            if limit.timestamp_ms is not None
        }
        places = ", ".join(place.times for place in self.places or () if place.times)
        return {**by_option, "places": places} if places else by_option

    @property
    def starting_limit(self) -> OffsetLimit:
        """Where to start, after precedence."""
        return limit_of("starting", self.starting_timestamp, self.starting_offsets_by_timestamp, self.starting_offsets)

    @property
    def ending_limit(self) -> OffsetLimit:
        """Where to end (exclusive), after precedence."""
        return limit_of("ending", self.ending_timestamp, self.ending_offsets_by_timestamp, self.ending_offsets)

    def wants(self, topic: str, partition: int) -> bool:
        """Whether subscribe, subscribePattern, assign or places choose a partition found below a path.

        Without any of them all topics are chosen except Kafka's internal ones, or the one that the view decodes.
        """
        if self.subscribe is not None:
            return topic in self.subscribe
        if self.subscribe_pattern is not None:
            return re.fullmatch(self.subscribe_pattern, topic) is not None
        if self.assign is not None:
            return partition in self.assign.get(topic, ())
        if self.places is not None:
            return any(place.holds(topic, partition) for place in self.places)
        own = VIEWS[self.view].topic
        return topic not in INTERNAL_TOPICS if own is None else topic == own

    def inspects(self, topic: str, partition: int) -> bool:
        """Whether a command that inspects log dirs takes a partition: internal topics too, unless topics are named."""
        named = (self.subscribe, self.subscribe_pattern, self.assign, self.places)
        return self.wants(topic, partition) if any(choice is not None for choice in named) else True


_Parser = Callable[[str, object], Any]

# The parser of each option. The field that takes the value is the name in snake case.
_PARSERS: dict[str, _Parser] = {
    "path": parse_path_option,
    "paths": parse_paths_option,
    "subscribe": parse_subscribe,
    "subscribePattern": parse_subscribe_pattern,
    "assign": parse_assign,
    "startingOffsets": parse_offsets,
    "endingOffsets": parse_offsets,
    "timeZone": parse_zone,
    "startingOffsetsByTimestampStrategy": values.one_of("error", "latest"),
    "includeHeaders": values.parse_bool,
    "includeControlRecords": values.parse_bool,
    "isolationLevel": values.one_of("read_uncommitted", "read_committed"),
    "readUpTo": values.one_of("logEnd", "highWatermark"),
    "includeDeleted": values.parse_bool,
    "maxPartitionBytes": values.parse_positive_size,
    "openCostInBytes": values.parse_non_negative_size,
    "minPartitions": values.parse_positive_int32,
    "maxRecordsPerPartition": values.parse_positive_int64,
    "maxOffsetsPerTrigger": values.parse_positive_int64,
    "maxBytesPerTrigger": values.parse_positive_size,
    "minOffsetsPerTrigger": values.parse_positive_int64,
    "maxTriggerDelay": values.parse_duration_ms,
    "failOnDataLoss": values.parse_bool,
    "mode": values.one_of("FAILFAST", "DROPMALFORMED", "PERMISSIVE", "RECOVER"),
    "verifyChecksums": values.parse_bool,
    "maxDecompressedBatchBytes": values.parse_positive_size,
    "followSymlinks": values.parse_bool,
    "view": values.one_of(*VIEWS),
    "includeSecrets": values.parse_bool,
    "filterPushdown": values.parse_bool,
}
# The parsers of options that hold times, which depend on the options timeZone and now.
_TIME_PARSERS: dict[str, Callable[[str, object, Clock], Any]] = {
    "now": parse_now_ms,
    "places": parse_places,
    "startingTimestamp": parse_time_ms,
    "endingTimestamp": parse_time_ms,
    "startingOffsetsByTimestamp": parse_partition_times,
    "endingOffsetsByTimestamp": parse_partition_times,
}
OPTION_NAMES = (*_PARSERS, *_TIME_PARSERS)
"""Every option, as the documentation spells it."""

# Kafka's own names for options.
_ALIASES = {"kafka.isolation.level": "isolationLevel"}

# Options for which only the default is supported so far; remove an option here when it is implemented.
_NOT_YET = ("filterPushdown",)

_SPELLED = {name.lower(): name for name in OPTION_NAMES}
_TOPIC_OPTIONS = ("subscribe", "subscribePattern", "assign")


def parse_options(
    options: Mapping[str, object], paths: object = None, *, streaming: bool | None = False
) -> ReadOptions:
    """Check all options and return them typed.

    Parameters
    ----------
    options : mapping
        Options by case-insensitive name; values as text or as Python values. An
        option that is ``None`` counts as not given.
    paths : str, path object or sequence of these, optional
        Paths in addition to those of the options ``path`` and ``paths``.
    streaming : bool or None
        Whether to make the checks of a stream or of a batch query; None for neither, while the kind of query is
        unknown.

    Raises
    ------
    OptionError
        For an unknown name, a malformed value, options that contradict each other, and options that are not
        supported yet.
    """
    given = _by_name(options)
    parsed = _parsed(given)
    if "places" in parsed:
        # A topic without records since then is none to fail for, unlike with the options of Spark's Kafka source.
        parsed.setdefault("startingOffsetsByTimestampStrategy", "latest")
    parsed.setdefault("verifyChecksums", VIEWS[parsed.get("view", "records")].verifies)
    _check_topic_options(parsed)
    check_places(parsed)
    _check_trigger_offsets(parsed)
    all_paths = (*(paths_from_python(paths) if paths is not None else ()), *parsed.pop("path", ()))
    all_paths += parsed.pop("paths", ())
    if not all_paths:
        raise OptionError("no path is given", remedy="Give a log directory: load('/path/to/kafka-logs')")
    typed = ReadOptions(
        paths=tuple(dict.fromkeys(all_paths)), **{_field(name): value for name, value in parsed.items()}
    )
    _refuse_not_yet(typed)
    check_view(typed.view, parsed)
    if streaming:
        _check_stream_options(typed, parsed)
    elif streaming is not None:
        check_batch_options(typed)
    return typed


def _parsed(given: Mapping[str, tuple[str, object]]) -> dict[str, Any]:
    """The typed values; all times by one clock."""
    parsed = {name: _PARSERS[name](label, value) for name, (label, value) in given.items() if name in _PARSERS}
    clock = clock_of(parsed.get("timeZone", "UTC"), None)
    if "now" in given:
        clock = clock_of(parsed.get("timeZone", "UTC"), parse_now_ms(*given["now"], clock))
    times = {name: _TIME_PARSERS[name](*each, clock) for name, each in given.items() if name in _TIME_PARSERS}
    return {**times, **parsed}


def check_batch_options(options: ReadOptions) -> None:
    """Refuse options that Spark's Kafka source allows in a stream but not in a batch query."""
    check_batch_limits(options.starting_limit, options.ending_limit)


def _check_stream_options(options: ReadOptions, given: Mapping[str, object]) -> None:
    """Refuse options that make no sense in a stream."""
    for name in given:
        if name.startswith("ending"):
            raise _no_end_of_stream(name)
    if any(place.ending.keyword is None for place in options.places or ()):
        raise _no_end_of_stream("places with an end")
    check_streamed_view(options.view)
    if options.mode == "RECOVER":
        raise OptionError(
            "mode=RECOVER cannot be used in a stream: the result of a recovery is unknown while the log grows",
            remedy="Use FAILFAST, DROPMALFORMED or PERMISSIVE, or spark.read",
        )


def _no_end_of_stream(name: str) -> OptionError:
    return OptionError(
        f"option {name} cannot be used in a stream, which has no end",
        remedy="Use spark.read for a range, or trigger(availableNow=True) to stop at the current end",
    )


def _by_name(options: Mapping[str, object]) -> dict[str, tuple[str, object]]:
    """The values by documented option name, each with the name to show in messages."""
    given: dict[str, tuple[str, object]] = {}
    for raw_name, value in options.items():
        if value is None:
            continue
        lower = str(raw_name).lower()
        name = _ALIASES.get(lower) or _SPELLED.get(lower)
        if name is None:
            refuse_broker_option(str(raw_name))
            refuse_unknown_option(str(raw_name), OPTION_NAMES)
            continue
        label = lower if lower in _ALIASES else name
        if name in given:
            _check_same(given[name], (label, value))
        given[name] = (label, value)
    return given


def _check_same(first: tuple[str, object], second: tuple[str, object]) -> None:
    """Raise if an option is given twice, by case or by alias, with different values."""
    if str(first[1]).strip().lower() == str(second[1]).strip().lower():
        return
    names = " and ".join(dict.fromkeys((first[0], second[0])))
    raise OptionError(f"option {names} is given twice with different values", remedy="Leave one of them out")


def _check_topic_options(parsed: Mapping[str, object]) -> None:
    named = [name for name in _TOPIC_OPTIONS if name in parsed]
    if len(named) > 1:
        raise OptionError(f"only one of {', '.join(_TOPIC_OPTIONS)} can be given", found=" and ".join(named))


def _check_trigger_offsets(parsed: Mapping[str, Any]) -> None:
    low, high = parsed.get("minOffsetsPerTrigger"), parsed.get("maxOffsetsPerTrigger")
    if low is not None and high is not None and low > high:
        raise OptionError(f"minOffsetsPerTrigger ({low}) is above maxOffsetsPerTrigger ({high})")


def _refuse_not_yet(options: ReadOptions) -> None:
    defaults = {field.name: field.default for field in fields(ReadOptions)}
    for name in _NOT_YET:
        field = _field(name)
        value, default = getattr(options, field), defaults[field]
        if value != default:
            raise OptionError(
                f"option {name} is not supported yet",
                found=printable(str(value)),
                remedy=f"Leave it out; the default is {default}" if isinstance(default, str) else "Leave it out",
            )


def _field(name: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", name).lower()
