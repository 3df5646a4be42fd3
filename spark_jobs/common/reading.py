"""What jobs that stand on whole, committed records ask of the reader beyond a plain read."""

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
"""Topic and partition; both None for a segment outside any ``topic-partition`` directory."""

_MOST_SHOWN = 50
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


@contextmanager
def left_out_before_errors(spark: SparkSession, source: JobInput, job: str) -> Iterator[None]:
    """Report what was left out when a read fails, since there is no summary then that would count it.

    Parameters
    ----------
    spark : SparkSession
    source : JobInput
        What is read inside the ``with`` block. If the reader raises an error there, the input is searched for damage
        once more; with mode=FAILFAST nothing was left out.
    job : str
        Its name begins each line on the error stream.
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
        damage = view.frame(spark).where("kind <> 'torn'").orderBy("file", "position")
        count, regions = damage.count(), damage.limit(_MOST_SHOWN).collect()
    except Exception as error:  # The first error is the one that ends the job, and it is raised by the caller.
        yield f"what was left out before the error is unknown: {one_line(error)}"
        return
    for each in regions:
        lost = offsets_text(each["first_offset"], each["last_offset"])
        place = f"{printable(each['file'])}, position {each['position']}"
        yield f"left out: {place}: {counted(each['size'], 'byte')} {each['kind']}, {lost}: {each['reason']}"
    if count > len(regions):
        yield f"left out: {counted(count - len(regions), 'more damaged region')}; view=damage lists all"


def ranges_of(source: JobInput) -> dict[Partition, tuple[int, int]]:
    """Give the offsets [low, high) that a read covers of each partition with something to read."""
    keywords: dict[str, Any] = dict(source.options)
    ranges: dict[Partition, tuple[int, int]] = {}
    for split in scan(list(source.paths), **keywords).splits():
        for each in split.ranges:
            # Ranges of a partition come in the order of their offsets.
            low, _ = ranges.get((each.topic, each.partition), (each.low, None))
            ranges[each.topic, each.partition] = (low, each.high)
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
        for (topic, partition), (_, end) in everything.items()
        if end > visible.get((topic, partition), (0, -1))[1]
    )
