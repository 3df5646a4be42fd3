"""What jobs that stand on whole, committed records ask of the reader beyond a plain read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafkalog_source import scan
from kafkalog_source.errors import printable
from spark_jobs.job_config import ConfigError
from spark_jobs.job_input import JobInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkalog_source.reading.splits import SplitRange

__all__ = [
    "Partition",
    "committed_by_default",
    "damaged_regions",
    "hidden_by_open_transactions",
    "ranges_of",
    "refuse_options",
]

Partition = tuple[str | None, int | None]
"""Topic and partition; both None for a segment outside any ``topic-partition`` directory."""

_ISOLATION = ("isolationLevel", "kafka.isolation.level")


def refuse_options(source: JobInput, reasons: Mapping[str, str]) -> None:
    """Refuse options of the reader that would make a job's result wrong.

    Parameters
    ----------
    source : JobInput
        What is read.
    reasons : mapping
        By the option's name, what is wrong with it here.

    Raises
    ------
    ConfigError
        For the first option that was given.
    """
    for name, reason in reasons.items():
        if source.option(name, ""):
            raise ConfigError(f"option {name} cannot be given here: {reason}")


def committed_by_default(source: JobInput) -> JobInput:
    """Give the same input without aborted and open transactions, unless it says itself what it wants."""
    if any(source.option(name, "") for name in _ISOLATION):
        return source
    return source.with_options({"isolationLevel": "read_committed"})


def damaged_regions(spark: SparkSession, source: JobInput) -> int:
    """Count what was left out. With mode=FAILFAST damage ends the job; other modes cost one more reading."""
    if source.option("mode", "FAILFAST").upper() == "FAILFAST":
        return 0
    return source.with_options({"view": "damage"}).frame(spark).where("kind <> 'torn'").count()


def ranges_of(source: JobInput) -> dict[Partition, list[SplitRange]]:
    """Give the ranges of segments that a read covers, by partition and in the order of offsets."""
    keywords: dict[str, Any] = dict(source.options)
    ranges: dict[Partition, list[SplitRange]] = {}
    for split in scan(list(source.paths), **keywords).splits():
        for each in split.ranges:
            ranges.setdefault((each.topic, each.partition), []).append(each)
    return ranges


def hidden_by_open_transactions(source: JobInput) -> tuple[str, ...]:
    """Tell of partitions whose end is hidden because a transaction is open there.

    A producer that died leaves such a transaction. Until a broker aborts it, nothing
    behind its first record is visible, however much was written since; whoever reads
    a copy of the log has to know.
    """
    if "read_committed" not in {source.option(name, "").lower() for name in _ISOLATION}:
        return ()
    plain = JobInput(source.paths, {k: v for k, v in source.options.items() if k.lower() != _ISOLATION[1]})
    visible = ranges_of(source)
    everything = ranges_of(plain.with_options({"isolationLevel": "read_uncommitted"}))
    return tuple(
        f"{printable(str(topic))}-{partition}: a transaction is open; what lies behind its first record is not read"
        for (topic, partition), ranges in everything.items()
        if _end(ranges) > _end(visible.get((topic, partition), []))
    )


def _end(ranges: list[SplitRange]) -> int:
    """Where a read of a partition ends; an open transaction lowers it."""
    return ranges[-1].high if ranges else -1
