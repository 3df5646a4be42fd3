"""Write the lag of consumer groups over time as a table, out of Kafka's log directories.

    python -m spark_jobs.consumer_lag --config conf/consumer_lag.toml
    spark-submit spark_jobs/consumer_lag.py --output /lake/lag --every 5m /backup/disk1 /backup/disk2

A row is a group, a partition and a time: the offset that was committed last, the end of
the log, and the records and the time in between. Every run replaces the table. Exit
codes: 0, 1 if the read or the write failed, 2 if the config or a flag is invalid.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from kafkalog_source import compacted_up_to
from kafkalog_source.errors import printable
from spark_jobs.common.config import ConfigError
from spark_jobs.common.input import JobInput, input_with_flags
from spark_jobs.common.plan import ReadPlan, print_notes, print_plan
from spark_jobs.common.reading import left_out_before_errors, refuse_options
from spark_jobs.common.run import config_file, job_parser, run_job, with_given
from spark_jobs.common.session import job_session
from spark_jobs.common.sink import (
    JobOutput,
    add_output_flags,
    check_sink,
    output_with_flags,
    read_sink,
    sink_settings,
    write_sink,
)
from spark_jobs.common.summary import print_json, table_text
from spark_jobs.lag.commits import COMMITS_SCHEMA, committed_offsets, with_their_ends
from spark_jobs.lag.history import COLUMNS, at_each_commit, at_each_interval, lag_history
from spark_jobs.lag.logs import BATCHES_SCHEMA, IDS_SCHEMA, log_steps, pattern_of, topic_ids
from spark_jobs.lag.moments import parse_interval, parse_time

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["Config", "Lag", "Output", "main"]

_TOPIC = "__consumer_offsets"
_CHOSEN = "the job chooses the topics: those that the groups consume; use groups to choose these"
_WHOLE = "the history is made from whole logs; use since and until"
_REFUSED = {
    "subscribe": _CHOSEN,
    "subscribePattern": _CHOSEN,
    "assign": _CHOSEN,
    "places": _CHOSEN,
    "startingOffsets": _WHOLE,
    "startingTimestamp": _WHOLE,
    "startingOffsetsByTimestamp": _WHOLE,
    "endingOffsets": _WHOLE,
    "endingTimestamp": _WHOLE,
    "endingOffsetsByTimestamp": _WHOLE,
    "isolationLevel": "commits of aborted and open transactions are always left out",
    "kafka.isolation.level": "commits of aborted and open transactions are always left out",
    "includeControlRecords": "transaction markers are no commits",
    "maxRecordsPerPartition": _WHOLE,
    "view": "the job sets the views itself",
}
_OF_FILES = ("mode", "followsymlinks")
_MOST_SHOWN = 50


@dataclass(frozen=True)
class Lag:
    """What the table holds: the table ``[lag]`` of the config."""

    every: str = "commit"
    groups: tuple[str, ...] = ()
    since: str = ""
    until: str = ""


@dataclass(frozen=True)
class Output(JobOutput):
    """Where and how rows are written: the table ``[output]``."""

    when_exists: Literal["replace-all", "fail"] = "replace-all"


@dataclass(frozen=True)
class Config:
    """The whole config file; conf/consumer_lag.toml explains every key."""

    input: JobInput = field(default_factory=JobInput)
    lag: Lag = field(default_factory=Lag)
    output: Output = field(default_factory=Output)
    spark: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Moments:
    """The times of the rows: an interval in seconds, None for the commits', and bounds in milliseconds."""

    interval: int | None
    since: int | None
    until: int | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code. The arguments default to those of the process; see `run_job`."""
    return run_job(_parser(), _job, arguments)


def _parser() -> argparse.ArgumentParser:
    parser = job_parser("consumer_lag", "Write the lag of consumer groups over time as a table.")
    add = parser.add_argument
    add("--every", metavar="INTERVAL", help="a row for each commit, or for each interval: 30s, 5m, 1h, 1d")
    add("--group", action="append", metavar="NAME", help="only this group; may be repeated")
    add("--since", metavar="TIME", help="first time: 2026-11-20, 2026-11-20T14:30+01:00, yesterday, -2h")
    add("--until", metavar="TIME", help="last time")
    add_output_flags(parser)
    return parser


def _job(flags: argparse.Namespace) -> None:
    config = _config(flags)
    settings = config.lag
    bounds = (parse_time(name, text, config.input.milliseconds) for name, text in _bounds(settings))
    moments = _Moments(parse_interval(settings.every), *bounds)
    source = config.input.with_options({"view": "consumer_offsets"})
    plan = source.plan()
    if not plan.topics:
        raise ConfigError(
            f"no partition of {_TOPIC} is in {', '.join(source.paths)}: give the log dirs of brokers that have it"
        )
    plan = replace(plan, warnings=(*plan.warnings, *_compacted(config.input)))
    if flags.dry_run:
        outcome = f"Nothing was written; the lag of {_what(settings)} would go to {config.output.place}"
        print_plan(source.paths, plan, outcome, as_json=flags.json)
        return
    _run(config, moments, plan, as_json=flags.json)


def _bounds(settings: Lag) -> tuple[tuple[str, str], ...]:
    return (("since", settings.since), ("until", settings.until))


def _config(flags: argparse.Namespace) -> Config:
    """Merge the config file and the flags, which take precedence, and check the result."""
    config = config_file(Config, flags)
    source = input_with_flags(config.input, flags)
    refuse_options(source, _REFUSED)
    if source.option("mode", "").upper() == "PERMISSIVE":
        raise ConfigError("mode=PERMISSIVE returns rows for damaged regions, which are no commits; use DROPMALFORMED")
    groups = None if flags.group is None else tuple(flags.group)
    settings = with_given(config.lag, every=flags.every, groups=groups, since=flags.since, until=flags.until)
    output = output_with_flags(config.output, flags, source.paths)
    if output.when_exists not in ("replace-all", "fail"):
        raise ConfigError("when_exists must be replace-all or fail: the table is always replaced as a whole")
    return Config(source, settings, output, config.spark)


def _what(settings: Lag) -> str:
    groups = ", ".join(map(printable, settings.groups)) or "all groups"
    return f"{groups}, {'at each commit' if settings.every == 'commit' else f'every {settings.every}'},"


def _compacted(source: JobInput) -> tuple[str, ...]:
    """Return a note for each partition whose history is incomplete."""
    follow = source.option("followSymlinks", "false")
    found = compacted_up_to(list(source.paths), subscribe=_TOPIC, followSymlinks=follow)
    return tuple(
        f"{topic}-{partition}: compacted up to offset {offset}; of older commits only the latest are left"
        for (topic, partition), offset in found.items()
        if offset and topic == _TOPIC
    )


def _run(config: Config, moments: _Moments, plan: ReadPlan, *, as_json: bool) -> None:
    started = time.monotonic()
    at_start = {**sink_settings(config.output), **config.spark}
    with job_session("consumer_lag", at_start=at_start, verb="Following groups") as spark:
        check_sink(spark, config.output)
        with left_out_before_errors(spark, config.input, "consumer_lag"):
            counted = _write(spark, config, moments)
        groups = _by_group(read_sink(spark, config.output))
    summary = {
        "input": list(config.input.paths),
        "format": config.output.format,
        "output": config.output.place,
        "every": config.lag.every,
        "commits": counted,
        "rows": sum(group["rows"] for group in groups),
        "groups": groups,
        "warnings": list(plan.warnings),
        "skipped": list(plan.skipped),
        "seconds": round(time.monotonic() - started, 3),
    }
    if as_json:
        print_json(summary)
    else:
        _print_summary(plan, summary)


def _write(spark: SparkSession, config: Config, moments: _Moments) -> int:
    """Write the table, and return the number of commits."""
    kept: list[DataFrame] = [_commits(spark, config).persist()]
    try:
        write_sink(_history(spark, config.input, kept, moments), config.output, (), order_by=COLUMNS[:4])
        return kept[0].count()
    finally:
        for frame in kept:
            frame.unpersist()


def _commits(spark: SparkSession, config: Config) -> DataFrame:
    records = config.input.with_options({"view": "consumer_offsets"}).frame(spark, COMMITS_SCHEMA)
    return with_their_ends(committed_offsets(records, config.lag.groups))


def _history(spark: SparkSession, source: JobInput, kept: list[DataFrame], moments: _Moments) -> DataFrame:
    """Make the table of the commits in `kept`, to which another frame that is read several times is added."""
    from pyspark.sql import functions as F

    (commits,) = kept
    topics = [row["topic"] for row in commits.select("topic").distinct().collect()]
    # Without any topic, one that cannot exist: nothing but the commits, of which there are none, is to be read.
    wanted = {"subscribePattern": pattern_of(topics) or "(?!)"}
    # Of a tiered topic, the batches that are not in remote storage have the end of the log.
    lenient = {"failOnDataLoss": source.option("failOnDataLoss", "false")}
    batches = source.with_options({**wanted, **lenient, "view": "batches"}).frame(spark, BATCHES_SCHEMA)
    # A view of files takes no option that is about records.
    of_files = {name: value for name, value in source.options.items() if name.lower() in _OF_FILES}
    properties = replace(source, options={**of_files, **wanted, "view": "checkpoints"}).frame(spark, IDS_SCHEMA)
    steps = log_steps(batches.where(F.col("topic").isin(*topics))).persist()
    kept.append(steps)
    if moments.interval is None:
        rows = at_each_commit(commits)
    else:
        rows = at_each_interval(commits, moments.interval, _last_time(commits, steps, moments))
    return lag_history(_between(rows, moments), steps, topic_ids(properties)).select(*COLUMNS)


def _between(rows: DataFrame, moments: _Moments) -> DataFrame:
    from pyspark.sql import functions as F

    if moments.since is not None:
        rows = rows.where(F.col("time") >= F.timestamp_millis(F.lit(moments.since)))
    if moments.until is not None:
        rows = rows.where(F.col("time") <= F.timestamp_millis(F.lit(moments.until)))
    return rows


def _last_time(commits: DataFrame, steps: DataFrame, moments: _Moments) -> Column:
    """Return the end of the history: the setting, but not after the last commit or record on disk."""
    from pyspark.sql import functions as F

    times = commits.select("time").unionByName(steps.select(F.col("appended").alias("time")))
    (last,) = times.agg(F.unix_millis(F.max("time"))).collect()[0]
    bounds = [each for each in (last, moments.until) if each is not None]
    return F.timestamp_millis(F.lit(min(bounds, default=0)))


def _by_group(rows: DataFrame) -> list[dict[str, Any]]:
    """Summarize the table by group: its greatest lag in one partition, and the last lag of all partitions."""
    from pyspark.sql import functions as F

    by_partition = rows.groupBy("group", "topic", "partition").agg(
        F.count("*").alias("rows"), F.max("lag").alias("most"), F.max_by("lag", "time").alias("last")
    )
    found = by_partition.groupBy("group").agg(
        F.count("*").alias("partitions"),
        F.sum("rows").alias("rows"),
        F.max("most").alias("greatestLag"),
        F.sum("last").alias("lastLag"),
    )
    return [row.asDict() for row in found.orderBy("group").collect()]


def _print_summary(plan: ReadPlan, summary: dict[str, Any]) -> None:
    heads = ("group", "partitions", "rows", "greatest lag", "last lag")
    groups = summary["groups"]
    rows = [
        (
            printable(group["group"]),
            *(
                "unknown" if group[name] is None else group[name]
                for name in ("partitions", "rows", "greatestLag", "lastLag")
            ),
        )
        for group in groups[:_MOST_SHOWN]
    ]
    print(table_text(heads, rows))
    if len(groups) > _MOST_SHOWN:
        print(f"and {len(groups) - _MOST_SHOWN} more groups; --json lists all")
    print_notes(plan)
    print(f"Commits: {summary['commits']:,}")
    print(f"Rows: {summary['rows']:,}, {_every(summary['every'])}")
    print(f"{summary['format'].capitalize()}: {summary['output']}, in {summary['seconds']:.1f} s")


def _every(text: str) -> str:
    return "one for each commit" if text == "commit" else f"every {text}"


if __name__ == "__main__":
    sys.exit(main())
