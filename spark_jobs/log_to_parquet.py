"""Copy Kafka's log directories into Parquet, partitioned by topic and date.

    kafkalog job log_to_parquet --config conf/log_to_parquet.toml
    spark-submit spark_jobs/log_to_parquet.py --output /lake/kafka /backup/broker-1/kafka-logs

Prints a few rows of the output, what was read and where it was written. Running it
twice gives the same result as running it once. Exit codes: 0, 1 if the read or the
write failed, 2 if the config or a flag is invalid.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from spark_jobs.common.config import ConfigError, overlap, refuse_output_over_input
from spark_jobs.common.input import JobInput, add_range_flags, input_with_flags
from spark_jobs.common.plan import ReadPlan, plan_since, print_plan
from spark_jobs.common.reading import damaged_regions, left_out_before_errors
from spark_jobs.common.run import config_file, job_parser, run_job, with_given
from spark_jobs.common.session import job_session
from spark_jobs.common.sink import JobOutput, add_output_flags, check_sink, output_with_flags, sink_settings, write_sink
from spark_jobs.parquet.checkpoint import is_up_to_date, positions_in, refuse_claimed
from spark_jobs.parquet.decode import Decode, check_decode
from spark_jobs.parquet.incremental import STREAM_SETTINGS, append_new, read_stream
from spark_jobs.parquet.rows import ORDER_BY, PARTITION_BY, Headers, counts_of, shaped, written
from spark_jobs.parquet.summary import print_nothing_new, print_summary, rows_text, summary_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Config", "Output", "main"]


# The reader's default of maxPartitionBytes.
_MAX_PARTITION_BYTES = 128 << 20


@dataclass(frozen=True)
class Output(JobOutput):
    """Where and how rows are written: the table ``[output]``."""

    headers: Headers = "array"
    time_zone: str = "UTC"


@dataclass(frozen=True)
class Run:
    """Whether to read everything or what is new: the table ``[run]``."""

    mode: Literal["batch", "incremental"] = "batch"
    checkpoint: str = ""


@dataclass(frozen=True)
class Show:
    """What to print before the summary: the table ``[show]``."""

    rows: int = 5


@dataclass(frozen=True)
class Config:
    """The whole config file; conf/log_to_parquet.toml explains every key."""

    input: JobInput = field(default_factory=JobInput)
    run: Run = field(default_factory=Run)
    decode: Decode = field(default_factory=Decode)
    output: Output = field(default_factory=Output)
    show: Show = field(default_factory=Show)
    spark: dict[str, str] = field(default_factory=dict)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code. The arguments default to those of the process; see `run_job`."""
    return run_job(_parser(), _job, arguments)


def _job(flags: argparse.Namespace) -> None:
    config = _config(flags)
    plan = _plan(config)
    if flags.dry_run:
        outcome = f"Nothing was written; the {config.output.format.capitalize()} would go to {config.output.place}"
        print_plan(config.input.paths, plan, outcome, as_json=flags.json)
        return
    if _nothing_is_new(config, plan):
        print_nothing_new(config.input, config.output, plan, as_json=flags.json)
        return
    _run(config, plan, as_json=flags.json)


def _nothing_is_new(config: Config, plan: ReadPlan) -> bool:
    """Return whether a run would find nothing, which can be known without Spark."""
    if config.run.mode == "batch" or plan.splits:
        return False
    return is_up_to_date(config.run.checkpoint, config.output, _shape(config))


def _shape(config: Config) -> dict[str, str]:
    """Return what must not change between incremental runs, because it determines the columns."""
    return {"headers": config.output.headers, "decode.format": config.decode.format}


def _plan(config: Config) -> ReadPlan:
    """Plan the whole input, or with a checkpoint what is new since it was written."""
    if config.run.mode == "batch":
        return config.input.plan()
    # Only Spark can read a checkpoint that is not on a local path; the plan is then that of a first run.
    start = None if "://" in config.run.checkpoint else positions_in(config.run.checkpoint)
    return plan_since(config.input.paths, config.input.options, start)


def _parser() -> argparse.ArgumentParser:
    parser = job_parser("log_to_parquet", "Copy Kafka's log directories into Parquet, partitioned by topic and date.")
    add_range_flags(parser)
    parser.add_argument("--mode", choices=("batch", "incremental"), help="read everything, or only what is new")
    parser.add_argument(
        "--checkpoint", metavar="DIR", help="directory in which incremental runs record what was written"
    )
    add_output_flags(parser)
    parser.add_argument("--headers", choices=get_args(Headers), help="type of the column headers")
    parser.add_argument("--time-zone", metavar="ZONE", help="time zone of the column date")
    parser.add_argument("--show", type=int, metavar="N", help="print this many rows before the summary; 0 prints none")
    return parser


def _config(flags: argparse.Namespace) -> Config:
    """Merge the config file and the flags, which take precedence, and check the result."""
    config = config_file(Config, flags)
    source = input_with_flags(config.input, flags)
    output = with_given(config.output, time_zone=flags.time_zone, headers=flags.headers)
    output = output_with_flags(output, flags, source.paths)
    run = with_given(config.run, mode=flags.mode, checkpoint=flags.checkpoint)
    show = with_given(config.show, rows=flags.show)
    if show.rows < 0:
        raise ConfigError("rows must not be negative")
    _check_run(run, source, output)
    check_decode(config.decode)
    return Config(source, run, config.decode, output, show, config.spark)


def _check_run(run: Run, source: JobInput, output: Output) -> None:
    if run.mode == "batch":
        if run.checkpoint:
            raise ConfigError('run.checkpoint needs run.mode = "incremental"')
        return
    if not run.checkpoint:
        raise ConfigError('run.mode = "incremental" needs --checkpoint, or run.checkpoint in the config file')
    if output.when_exists != "replace-partitions":
        raise ConfigError(f"incremental runs append, so when_exists = {output.when_exists!r} is not possible")
    refuse_output_over_input(source.paths, run.checkpoint)
    if output.path and overlap(run.checkpoint, output.path):
        raise ConfigError(
            f"checkpoint {run.checkpoint} and output {output.path} overlap; choose a checkpoint elsewhere"
        )


def _run(config: Config, plan: ReadPlan, *, as_json: bool) -> None:
    settings = {
        "spark.sql.session.timeZone": config.output.time_zone,
        # Of several headers with the same name, a map keeps the last.
        "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
        **({} if config.run.mode == "batch" else STREAM_SETTINGS),
    }
    at_start = {**sink_settings(config.output), **config.spark}
    rows = ""
    with job_session("log_to_parquet", settings, at_start=at_start, plan=plan, verb="Copying") as spark:
        check_sink(spark, config.output)
        started = time.monotonic()
        outcome = (_batch if config.run.mode == "batch" else _incremental)(spark, config, plan)
        outcome["seconds"] = round(time.monotonic() - started, 3)
        if config.show.rows and outcome["records"] and not as_json:
            rows = rows_text(spark, plan, config.output, config.show.rows)
    # After the session, and with it the line of progress, has ended.
    if rows:
        print(rows, end="\n\n")
    print_summary(plan, summary_of(config.input, config.output, plan, outcome), as_json=as_json)


def _batch(spark: SparkSession, config: Config, plan: ReadPlan) -> dict[str, Any]:
    """Write the whole input; records are counted on the way, so that it is read only once."""
    from pyspark.sql import Observation

    refuse_claimed(spark, config.output)
    rows = shaped(_pieces(config).frame(spark), config.output.headers, config.decode)
    observed = Observation("log_to_parquet")
    counted = rows.observe(observed, *counts_of(rows, plan.topics_counted_apart))
    with left_out_before_errors(spark, config.input, "log_to_parquet"):
        write_sink(written(counted, config.decode), config.output, PARTITION_BY, ORDER_BY)
    counts = {name: int(count or 0) for name, count in observed.get.items()}
    return {**counts, "mode": "batch", "damage": damaged_regions(spark, config.input)}


def _incremental(spark: SparkSession, config: Config, plan: ReadPlan) -> dict[str, Any]:
    """Append what is new."""
    rows = shaped(read_stream(spark, _pieces(config)), config.output.headers, config.decode)
    appended = append_new(
        rows,
        counts_of(rows, plan.topics_counted_apart),
        lambda counted: written(counted, config.decode),
        config.output,
        config.run.checkpoint,
        _shape(config),
    )
    # What was left out was logged as warnings; counting it would mean reading the whole log again.
    return {**appended.totals(), "mode": "incremental", "micro_batches": appended.micro_batches}


def _pieces(config: Config) -> JobInput:
    """Read splits no larger than the target size of a file: the output of one task is not divided further."""
    target = config.output.target_file_bytes
    if not 0 < target < _MAX_PARTITION_BYTES or config.input.option("maxPartitionBytes", ""):
        return config.input
    return config.input.with_options({"maxPartitionBytes": str(target)})


if __name__ == "__main__":
    sys.exit(main())
