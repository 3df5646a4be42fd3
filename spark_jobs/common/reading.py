"""Offset ranges, open transactions and damage of an input, for jobs that need complete, committed records."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kafkalog_source import scan
from kafkalog_source.errors import counted, offsets_text, printable
from spark_jobs.common.config import ConfigError
from spark_jobs.common.errors import one_line
from spark_jobs.common.input import JobInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "Partition",
    "committed_by_default",
    "damaged_regions",
    "hidden_by_open_transactions",
    "left_out_before_errors",
    "ranges_of",
    "refuse_options",
]

Partition = tuple[str | None, int | None]
"""Topic and partition; both None for a segment outside of any ``topic-partition`` directory."""

_MOST_SHOWN = 50
_ISOLATION = ("isolationLevel", "kafka.isolation.level")
_IS_DAMAGED = "kind NOT IN ('torn', 'missing')"
"""Torn ends are usual, and a missing segment is an error or a warning of its own."""


def refuse_options(source: JobInput, reasons: Mapping[str, str]) -> None:
    """Reject options of the reader that would make the result of a job wrong.

    Parameters
    ----------
    source : JobInput
        What is read.
    reasons : mapping
        By option name, why it is rejected.

    Raises
    ------
    ConfigError
        For the first option that was given.
    """
    for name, reason in reasons.items():
        if source.option(name, ""):
            raise ConfigError(f"option {name} cannot be given here: {reason}")


def committed_by_default(source: JobInput) -> JobInput:
    """Return the input with isolationLevel=read_committed, unless it sets an isolation level itself."""
    if any(source.option(name, "") for name in _ISOLATION):
        return source
    return source.with_options({"isolationLevel": "read_committed"})


def damaged_regions(spark: SparkSession, source: JobInput) -> int:
    """Count the damaged regions. With mode=FAILFAST damage ends the job; with others, the input is read once more."""
    if source.option("mode", "FAILFAST").upper() == "FAILFAST":
        return 0
    return source.with_options({"view": "damage"}).frame(spark).where(_IS_DAMAGED).count()


@contextmanager
def left_out_before_errors(spark: SparkSession, source: JobInput, job: str) -> Iterator[None]:
    """Report what was left out if a read fails, because no summary will.

    Parameters
    ----------
    spark : SparkSession
    source : JobInput
        What is read inside the ``with`` block. If the reader raises an error there, the input is searched for damage;
        with mode=FAILFAST nothing was left out.
    job : str
        Name of the job, which begins each line on standard error.
    """
    try:
        yield
    except Exception as error:
        if source.option("mode", "FAILFAST").upper() != "FAILFAST" and "kafkalog_source.errors." in str(error):
            for line in _left_out(spark, source):
                print(f"{job}: {line}", file=sys.stderr)
        raise


def _left_out(spark: SparkSession, source: JobInput) -> Iterator[str]:
    view = source.with_options({"view": "damage", "failOnDataLoss": "false"})
    try:
        damage = view.frame(spark).where(_IS_DAMAGED).orderBy("file", "position")
        count, regions = damage.count(), damage.limit(_MOST_SHOWN).collect()
    except Exception as error:  # The caller raises the first error, which ends the job.
        yield f"what was left out before the error is unknown: {one_line(error)}"
        return
    for each in regions:
        lost = offsets_text(each["first_offset"], each["last_offset"])
        place = f"{printable(each['file'])}, position {each['position']}"
        yield f"left out: {place}: {counted(each['size'], 'byte')} {each['kind']}, {lost}: {each['reason']}"
    if count > len(regions):
        yield f"left out: {counted(count - len(regions), 'more damaged region')}; view=damage lists all"


def ranges_of(source: JobInput) -> dict[Partition, tuple[int, int]]:
    """Return the offset range [low, high) that a read covers, for each partition with something to read."""
    keywords: dict[str, Any] = dict(source.options)
    ranges: dict[Partition, tuple[int, int]] = {}
    for split in scan(list(source.paths), **keywords).splits():
        for each in split.ranges:
            # The ranges of a partition are in offset order.
            low, _ = ranges.get((each.topic, each.partition), (each.low, None))
            ranges[each.topic, each.partition] = (low, each.high)
    return ranges


def hidden_by_open_transactions(source: JobInput) -> tuple[str, ...]:
    """Return a note for each partition whose end is invisible because a transaction is open there.

    A producer that crashed leaves such a transaction. Until a broker aborts it, no
    record after its first one is visible, so a copy of the log may lack many records.
    """
    if "read_committed" not in {source.option(name, "").lower() for name in _ISOLATION}:
        return ()
    plain = JobInput(source.paths, {k: v for k, v in source.options.items() if k.lower() != _ISOLATION[1]})
    visible = ranges_of(source)
    everything = ranges_of(plain.with_options({"isolationLevel": "read_uncommitted"}))
    return tuple(
        f"{printable(str(topic))}-{partition}: a transaction is open; records from its first one on are not read"
        for (topic, partition), (_, end) in everything.items()
        if end > visible.get((topic, partition), (0, -1))[1]
    )
