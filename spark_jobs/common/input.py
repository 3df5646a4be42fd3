"""What a job reads: the table ``[input]`` of its config file, the flags for it, and the DataFrame."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from kafkalog_source import milliseconds
from spark_jobs.common.config import ConfigError, option_strings
from spark_jobs.common.plan import ReadPlan, plan_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["JobInput", "add_input_flags", "add_range_flags", "input_with_flags"]

# Paths in options would be read too, but escape the check that the output lies in no input.
_NAMES_OF_PATHS = ("path", "paths")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PARAMETERS_OF_SCAN = ("columns", "threads")
_RANGE_FLAGS = (
    (
        "--since",
        "startingTimestamp",
        "start at the first record of this time or later: 2026-11-20, 2026-11-20T14:30+01:00, yesterday, -2h",
    ),
    ("--until", "endingTimestamp", "stop before the first record of this time or later"),
)
"""Flags of the jobs that read any range of records, and the options that they set."""
_STRATEGY = "startingOffsetsByTimestampStrategy"


@dataclass(frozen=True)
class JobInput:
    """What is read: the table ``[input]``.

    Attributes
    ----------
    paths : tuple of str
        Log directories, globs, partition directories or segments.
    options : dict
        Options of the reader, as the strings that Spark takes.
    """

    paths: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)

    def option(self, name: str, default: str) -> str:
        """Return an option; its name is case-insensitive."""
        return next((value for key, value in self.options.items() if key.lower() == name.lower()), default)

    def with_options(self, options: Mapping[str, str]) -> JobInput:
        """Return the same input with more options, which replace those of the same name."""
        names = {name.lower() for name in options}
        kept = {name: value for name, value in self.options.items() if name.lower() not in names}
        return replace(self, options={**kept, **options})

    def milliseconds(self, time: str) -> int:
        """Convert a time as the reader does, with the options ``now`` and ``timeZone``."""
        zone, now = self.option("timeZone", "UTC"), self.option("now", "now")
        return milliseconds(time, now=_EPOCH + timedelta(milliseconds=milliseconds(now, zone=zone)), zone=zone)

    def plan(self) -> ReadPlan:
        """Plan the read without Spark, as Spark will."""
        return plan_of(self.paths, self.options)

    def frame(self, spark: SparkSession, schema: str | None = None) -> DataFrame:
        """Return the DataFrame; `schema` selects the columns, and no others are built."""
        reader = spark.read.format("kafkalog").options(**self.options)
        if schema is not None:
            reader = reader.schema(schema)
        return reader.load(list(self.paths))


def add_input_flags(parser: argparse.ArgumentParser) -> None:
    """Add PATH and ``--option``."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="log directories, globs, partitions or segments")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="option of the reader")


def add_range_flags(parser: argparse.ArgumentParser) -> None:
    """Add ``--since`` and ``--until``, for jobs that read any range of the records."""
    for flag, name, words in _RANGE_FLAGS:
        parser.add_argument(flag, dest=name, metavar="TIME", help=words)


def input_with_flags(source: JobInput, flags: argparse.Namespace) -> JobInput:
    """Apply the flags on top of the config file, and fix the time that relative times refer to.

    Raises
    ------
    ConfigError
        If there is no path, an ``--option`` is not ``NAME=VALUE``, or an option cannot be set for a job.
    """
    paths = tuple(flags.paths) or source.paths
    if not paths:
        raise ConfigError("no input: give a PATH, or set input.paths in the config file")
    source = replace(source, paths=paths).with_options(_option_flags(flags.option) | _range_options(flags))
    source = _with_quiet_partitions(source, flags)
    for name in source.options:
        if name.lower() in _NAMES_OF_PATHS:
            raise ConfigError(f"option {name} cannot be given here: give a PATH, or set input.paths in the config file")
        if name in _PARAMETERS_OF_SCAN:
            raise ConfigError(f"unknown option {name}: it is a parameter of scan(), which the job sets itself")
    # A job plans its input several times, and `-2h` must be the same time in all of them.
    return source.with_options({"now": str(source.milliseconds("now"))})


def _range_options(flags: argparse.Namespace) -> dict[str, str]:
    given = {name: getattr(flags, name, None) for _, name, _ in _RANGE_FLAGS}
    return {name: time for name, time in given.items() if time is not None}


def _with_quiet_partitions(source: JobInput, flags: argparse.Namespace) -> JobInput:
    """Read nothing of a partition that has no record since the time of ``--since``; other starts make it an error."""
    if getattr(flags, "startingTimestamp", None) is None or source.option(_STRATEGY, ""):
        return source
    return source.with_options({_STRATEGY: "latest"})


def _option_flags(pairs: Sequence[str]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise ConfigError(f"--option {pair!r} must be NAME=VALUE")
    return option_strings(dict(pair.split("=", 1) for pair in pairs), "--option")
