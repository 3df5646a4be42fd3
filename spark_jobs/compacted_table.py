"""Make a table of a compacted topic: the latest value of each key at a given moment.

    kafkalog job compacted_table --config conf/compacted_table.toml
    spark-submit spark_jobs/compacted_table.py --output /lake/users --as-of 2026-01-31T12:00:00Z /backup/kafka-logs

A key whose latest record has no value (a tombstone) is not in the table. Every run
replaces the table, so that running it twice is the same as running it once. Exit codes:
0, 1 if the read or the write failed, 2 if the config or a flag is invalid.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from kafkalog_source.errors import printable
from spark_jobs.common.config import ConfigError
from spark_jobs.common.input import JobInput, input_with_flags
from spark_jobs.common.plan import ReadPlan, print_notes, print_plan
from spark_jobs.common.reading import (
    committed_by_default,
    damaged_regions,
    hidden_by_open_transactions,
    left_out_before_errors,
    refuse_options,
)
from spark_jobs.common.run import config_file, job_parser, run_job, with_given
from spark_jobs.common.session import job_session
from spark_jobs.common.sink import JobOutput, add_output_flags, check_sink, output_with_flags, sink_settings, write_sink
from spark_jobs.common.summary import print_json, size_text, table_text
from spark_jobs.compacted.latest_by_key import SeveralPartitions, latest_by_key
from spark_jobs.compacted.moment import Moment, notes_on_moment, parse_moment

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["Config", "Output", "Table", "main"]

_COLUMNS = ("topic", "key", "value", "headers", "partition", "offset", "timestamp")
_SCHEMA = (
    "topic string, key binary, value binary, headers array<struct<key: string, value: binary>>, "
    "partition int, offset long, timestamp timestamp"
)
_FROM_THE_START = "the table is made from the beginning of the log"
_BY_MOMENT = "use as_of or as_of_offsets"
_REFUSED = {
    "startingOffsets": _FROM_THE_START,
    "startingTimestamp": _FROM_THE_START,
    "startingOffsetsByTimestamp": _FROM_THE_START,
    "endingOffsets": _BY_MOMENT,
    "endingTimestamp": _BY_MOMENT,
    "endingOffsetsByTimestamp": _BY_MOMENT,
    "includeControlRecords": "the keys of transaction markers are not keys of the topic",
    "includeHeaders": "the table has a column headers",
    "view": "the table is made from records",
}

# This rule drops the steps before an empty one, and the counts that were observed there with them.
_KEEP_COUNTS = {
    "spark.sql.adaptive.optimizer.excludedRules": ("org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation")
}


@dataclass(frozen=True)
class Table:
    """What the table holds: the table ``[table]`` of the config."""

    as_of: str = "end"
    as_of_offsets: dict[str, str] = field(default_factory=dict)
    several_partitions: SeveralPartitions = "apart"


@dataclass(frozen=True)
class Output(JobOutput):
    """Where and how rows are written: the table ``[output]``."""

    when_exists: Literal["replace-all", "fail"] = "replace-all"


@dataclass(frozen=True)
class Config:
    """The whole config file; conf/compacted_table.toml explains every key."""

    input: JobInput = field(default_factory=JobInput)
    table: Table = field(default_factory=Table)
    output: Output = field(default_factory=Output)
    spark: dict[str, str] = field(default_factory=dict)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code. The arguments default to those of the process; see `run_job`."""
    return run_job(_parser(), _job, arguments)


def _job(flags: argparse.Namespace) -> None:
    config = _config(flags)
    moment = parse_moment(config.table.as_of, config.table.as_of_offsets, config.input.milliseconds)
    source = config.input.with_options({"endingOffsets": moment.offsets} if moment.offsets else {})
    plan = source.plan()
    if any(topic.topic is None and topic.segments > 1 for topic in plan.topics):
        raise ConfigError(
            "several segments lie outside of any topic-partition directory, so their partitions are unknown"
        )
    # Notes that matter for a table only: records that it may lack.
    notes = (*notes_on_moment(config.input, moment), *hidden_by_open_transactions(source))
    plan = replace(plan, warnings=(*plan.warnings, *notes))
    if flags.dry_run:
        outcome = f"Nothing was written; the table of {moment.text} would go to {config.output.place}"
        print_plan(source.paths, plan, outcome, as_json=flags.json)
        return
    _run(replace(config, input=source), moment, plan, as_json=flags.json)


def _parser() -> argparse.ArgumentParser:
    parser = job_parser("compacted_table", "Make a table of a compacted topic: the latest value of each key.")
    add = parser.add_argument
    add("--as-of", metavar="MOMENT", help="end, or a time: 2026-01-31T12:00Z, 2026-01-31, yesterday, -2h")
    add("--as-of-offsets", metavar="JSON", help='use the records below these offsets: {"users": {"0": 23}}')
    add(
        "--several-partitions",
        choices=get_args(SeveralPartitions),
        help="how to treat a key that is in several partitions",
    )
    add_output_flags(parser)
    return parser


def _config(flags: argparse.Namespace) -> Config:
    """Merge the config file and the flags, which take precedence, and check the result."""
    config = config_file(Config, flags)
    source = committed_by_default(input_with_flags(config.input, flags))
    refuse_options(source, _REFUSED)
    if source.option("mode", "").upper() == "PERMISSIVE":
        raise ConfigError("mode=PERMISSIVE returns rows for damaged regions, which are not records; use DROPMALFORMED")
    offsets = None if flags.as_of_offsets is None else _offset_tables(flags.as_of_offsets)
    given = {"as_of": flags.as_of, "as_of_offsets": offsets, "several_partitions": flags.several_partitions}
    output = output_with_flags(config.output, flags, source.paths)
    if output.when_exists not in ("replace-all", "fail"):
        raise ConfigError("when_exists must be replace-all or fail: the table is always replaced as a whole")
    return Config(source, with_given(config.table, **given), output, config.spark)


def _offset_tables(text: str) -> dict[str, str]:
    try:
        tables = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"--as-of-offsets is not valid JSON: {error}") from error
    if not isinstance(tables, dict):
        raise ConfigError('--as-of-offsets must be a JSON object such as {"users": {"0": 23}}')
    return {topic: json.dumps(places) for topic, places in tables.items()}


def _run(config: Config, moment: Moment, plan: ReadPlan, *, as_json: bool) -> None:
    at_start = {**sink_settings(config.output), **config.spark}
    with job_session("compacted_table", _KEEP_COUNTS, at_start=at_start, plan=plan, verb="Making the table") as spark:
        check_sink(spark, config.output)
        started = time.monotonic()
        with left_out_before_errors(spark, config.input, "compacted_table"):
            counts = _write(config.input.frame(spark, _SCHEMA), config, moment, plan)
        damage = damaged_regions(spark, config.input)
    summary = _summary(config, moment, plan, counts, damage, time.monotonic() - started)
    if as_json:
        print_json(summary)
    else:
        _print_summary(plan, summary)


def _write(records: DataFrame, config: Config, moment: Moment, plan: ReadPlan) -> dict[str, int]:
    """Write the table, and count the records read and the rows written on the way."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    topics = plan.topics_counted_apart
    is_in, has_key, has_time = _is_in(moment), F.col("key").isNotNull(), F.col("timestamp").isNotNull()
    read, made = Observation("records"), Observation("keys")
    counts = {"records": F.lit(True), "later": ~is_in, "without_key": is_in & ~has_key, "without_time": ~has_time}
    records = records.observe(read, *_counts(counts, topics, "records")).where(is_in & has_key)
    latest = latest_by_key(records, config.table.several_partitions)
    has_value = F.col("value").isNotNull()
    counts = {"rows": has_value, "deleted": ~has_value, "in_several_partitions": F.col("repeated")}
    latest = latest.observe(made, *_counts(counts, topics, "rows", has_value)).where(has_value)
    write_sink(latest.select(*_COLUMNS), config.output, (), order_by=("topic", "key"))
    return {name: int(value or 0) for name, value in {**read.get, **made.get}.items()}


def _is_in(moment: Moment) -> Column:
    """Return whether a record is not later than the moment; the reader already applies offsets."""
    from pyspark.sql import functions as F

    if moment.time_ms is None:
        return F.lit(True)
    # Records of the oldest formats have no timestamp. They come first in their log, so they belong to the table.
    return F.col("timestamp").isNull() | (F.col("timestamp") <= F.timestamp_millis(F.lit(moment.time_ms)))


def _counts(
    counts: dict[str, Column], topics: Sequence[str | None], name: str, counted: Column | None = None
) -> list[Column]:
    """Return the aggregates: all counts, and the count `name` for each topic."""
    from pyspark.sql import functions as F

    totals = [F.count_if(condition).alias(each) for each, condition in counts.items()]
    for index, topic in enumerate(topics):
        of_topic = F.col("topic").eqNullSafe(F.lit(topic))
        of_topic = of_topic if counted is None else of_topic & counted
        totals.append(F.count_if(of_topic).alias(f"{name}_{index}"))
    return totals


def _summary(
    config: Config, moment: Moment, plan: ReadPlan, counts: dict[str, int], damage: int, seconds: float
) -> dict[str, Any]:
    topics = [
        asdict(topic) | {name: counts.get(f"{name}_{index}") for name in ("records", "rows")}
        for index, topic in enumerate(plan.topics)
    ]
    totals = ("records", "later", "without_key", "without_time", "deleted", "in_several_partitions", "rows")
    return {
        "input": list(config.input.paths),
        "format": config.output.format,
        "output": config.output.place,
        "as_of": moment.text,
        "topics": topics,
        "partitions": plan.partitions,
        "segments": plan.segments,
        "splits": plan.splits,
        "bytes": plan.bytes,
        **{name: counts[name] for name in totals},
        "several_partitions": config.table.several_partitions,
        "damage": damage,
        "warnings": list(plan.warnings),
        "skipped": list(plan.skipped),
        "seconds": round(seconds, 3),
    }


def _print_summary(plan: ReadPlan, summary: dict[str, Any]) -> None:
    heads = ("topic", "partitions", "segments", "size", "records", "rows")
    rows = [_summary_row(topic["topic"] or "(no topic)", topic) for topic in summary["topics"]]
    print(table_text(heads, [*rows, _summary_row("total", summary)]))
    print_notes(plan)
    print(f"As of: {summary['as_of']}")
    for name, text in _COUNTED.items():
        if summary[name]:
            print(f"{text}: {summary[name]:,}")
    if summary["in_several_partitions"]:
        print(f"Keys in several partitions: {summary['in_several_partitions']:,} ({summary['several_partitions']})")
    print(f"Damage: {summary['damage'] or 'none'}")
    print(f"{summary['format'].capitalize()}: {summary['output']}, in {summary['seconds']:.1f} s")


_COUNTED = {
    "later": "Records after that moment",
    "without_time": "Records without a timestamp, taken as older than any moment",
    "without_key": "Records without a key, left out",
    "deleted": "Keys whose latest record is a tombstone, left out",
}


def _summary_row(name: str, counts: dict[str, Any]) -> tuple[object, ...]:
    numbers = ["" if counts[each] is None else counts[each] for each in ("records", "rows")]
    return printable(name), counts["partitions"], counts["segments"], size_text(counts["bytes"]), *numbers


if __name__ == "__main__":
    sys.exit(main())
