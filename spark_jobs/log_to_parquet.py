"""Copy Kafka's log directories into Parquet, partitioned by topic and date.

    python -m spark_jobs.log_to_parquet --config conf/log_to_parquet.toml
    spark-submit spark_jobs/log_to_parquet.py --output /lake/kafka /backup/broker-1/kafka-logs

Prints a few rows of the Parquet, what was read and where it went. Running it twice
gives the same result as running it once. Exits with 0, with 1 when the read or
the write failed, and with 2 when the config or a flag makes no sense.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from kafkalog_source.cli.cells import text_value
from kafkalog_source.cli.text import table
from kafkalog_source.errors import KafkaLogError, OptionError, printable
from spark_jobs.job_config import ConfigError, build, load, option_strings, refuse_output_over_input
from spark_jobs.job_errors import one_line
from spark_jobs.job_plan import ReadPlan, plan_of
from spark_jobs.job_summary import size_text, table_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Config", "main"]

WhenExists = Literal["replace-partitions", "replace-all", "fail"]
Compression = Literal["zstd", "snappy", "lz4", "gzip", "none"]

# More topics than this are counted together: every topic's own count is one more aggregate.
_TOPICS_COUNTED_APART = 100

# A key or a value is cut to this many characters where rows are shown.
_CELL_WIDTH = 40

_CORRUPT_RECORD = "_corrupt_record"
_COPIED = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers", _CORRUPT_RECORD)


@dataclass(frozen=True)
class Input:
    """What is read: the table ``[input]``."""

    paths: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Output:
    """Where the Parquet goes and how: the table ``[output]``."""

    path: str = ""
    when_exists: WhenExists = "replace-partitions"
    compression: Compression = "zstd"
    max_records_per_file: int = 0
    time_zone: str = "UTC"


@dataclass(frozen=True)
class Show:
    """What is printed beside the summary: the table ``[show]``."""

    rows: int = 5


@dataclass(frozen=True)
class Config:
    """The whole config file; conf/log_to_parquet.toml explains every key."""

    input: Input = field(default_factory=Input)
    output: Output = field(default_factory=Output)
    show: Show = field(default_factory=Show)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line without the program's name; ``sys.argv`` by default.

    Returns
    -------
    int
        The exit code.
    """
    flags = _parser().parse_args(arguments)
    try:
        config = _config(flags)
        plan = plan_of(config.input.paths, config.input.options)
        if flags.dry_run:
            _print_plan(config, plan, as_json=flags.json)
            return 0
        return _run(config, plan, as_json=flags.json)
    except (ConfigError, OptionError) as error:
        return _fail(error, 2)
    except (KafkaLogError, OSError) as error:
        return _fail(error, 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="log_to_parquet",
        description="Copy Kafka's log directories into Parquet, partitioned by topic and date.",
        epilog="Flags win over the config file; conf/log_to_parquet.toml explains every key.",
    )
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="log directories, globs, partition directories or segments")
    add("--config", type=Path, metavar="FILE", help="config file (TOML)")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="option of the reader")
    add("--output", metavar="DIR", help="where the Parquet goes")
    add("--when-exists", choices=get_args(WhenExists), help="what to do with Parquet that is already there")
    add("--compression", choices=get_args(Compression), help="codec of the Parquet files")
    add("--max-records-per-file", type=int, metavar="N", help="bound of one Parquet file; 0 sets none")
    add("--time-zone", metavar="ZONE", help="zone whose midnight ends a date")
    add("--show", type=int, metavar="N", help="print this many rows before the summary; 0 prints none")
    add("--dry-run", action="store_true", help="print what would be read and write nothing")
    add("--json", action="store_true", help="print the summary (or the plan) as JSON and nothing else")
    return parser


def _config(flags: argparse.Namespace) -> Config:
    """Put together the config file and the flags, which win, and check the whole."""
    config = build(Config, load(flags.config), str(flags.config)) if flags.config else Config()
    options = {**config.input.options, **_option_flags(flags.option)}
    source = replace(config.input, paths=tuple(flags.paths) or config.input.paths, options=options)
    given = {
        "path": flags.output,
        "when_exists": flags.when_exists,
        "compression": flags.compression,
        "max_records_per_file": flags.max_records_per_file,
        "time_zone": flags.time_zone,
    }
    output = replace(config.output, **{key: value for key, value in given.items() if value is not None})
    show = config.show if flags.show is None else Show(flags.show)
    return _checked(Config(source, output, show))


def _option_flags(pairs: Sequence[str]) -> dict[str, str]:
    for pair in pairs:
        if "=" not in pair:
            raise ConfigError(f"--option {pair!r} must be NAME=VALUE")
    return option_strings(dict(pair.split("=", 1) for pair in pairs), "--option")


def _checked(config: Config) -> Config:
    if not config.input.paths:
        raise ConfigError("no input: name a PATH, or input.paths in the config file")
    if not config.output.path:
        raise ConfigError("no output: give --output, or output.path in the config file")
    if config.output.max_records_per_file < 0 or config.show.rows < 0:
        raise ConfigError("max_records_per_file and rows must not be negative")
    refuse_output_over_input(config.input.paths, config.output.path)
    return config


def _print_plan(config: Config, plan: ReadPlan, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"input": list(config.input.paths), "plan": plan.as_dict()}, indent=2))
        return
    rows = [
        (printable(topic.topic or "(no topic)"), topic.partitions, topic.segments, size_text(topic.bytes))
        for topic in plan.topics
    ]
    total = ("total", plan.partitions, plan.segments, size_text(plan.bytes))
    print(table_text(("topic", "partitions", "segments", "size"), [*rows, total]))
    _print_notes(plan)
    print(f"Splits: {plan.splits} (tasks of Spark)")
    print(f"Nothing was written; the Parquet would go to {config.output.path}")


def _run(config: Config, plan: ReadPlan, *, as_json: bool) -> int:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    own = SparkSession.getActiveSession() is None
    spark = _session(config)
    try:
        started = time.monotonic()
        frame = spark.read.format("kafkalog").options(**config.input.options).load(list(config.input.paths))
        frame = frame.select(*(name for name in _COPIED if name in frame.columns))
        counts = _write(frame, plan, config.output)
        damage = _damaged_regions(spark, config)
        summary = _summary(config, plan, counts, damage, time.monotonic() - started)
        if config.show.rows and counts["records"] and not as_json:
            _print_rows(spark, plan, config)
        _print_summary(plan, summary, as_json=as_json)
        return 0
    except (PySparkException, Py4JError) as error:
        return _fail(error, 1)
    finally:
        if own:
            spark.stop()


def _session(config: Config) -> SparkSession:
    from pyspark.sql import SparkSession

    if "SPARK_ENV_LOADED" not in os.environ:
        # Not started by spark-submit: workers are this Python, where kafkalog is, unless another is named.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("log_to_parquet")
    # Spark draws its bar of finished tasks by itself, and only a terminal can show it.
    builder = builder.config("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
    spark = builder.getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", config.output.time_zone)
    return spark


def _print_rows(spark: SparkSession, plan: ReadPlan, config: Config) -> None:
    """Show some of the rows as they now stand in the Parquet, which opens one file of it."""
    from pyspark.sql import functions as F

    topics = [topic.topic for topic in plan.topics]
    # Other runs may have left other topics there. A segment outside any topic has null for one.
    ours = F.col("topic").isin(topics) | (F.col("topic").isNull() & F.lit(None in topics))
    frame = spark.read.parquet(config.output.path).where(ours)
    shown = frame.select(
        "topic", "partition", "offset", F.col("timestamp").cast("string").alias("timestamp"), "key", "value"
    )
    rows = shown.limit(config.show.rows).collect()
    cells = [[_cell(value) for value in row] for row in rows]
    print("\n".join(table(shown.columns, cells, frozenset({"partition", "offset"}))), end="\n\n")


def _cell(value: object) -> str:
    """Make a value fit a column, as the command kafkalog writes it."""
    text = text_value(bytes(value) if isinstance(value, bytearray) else value)
    return text if len(text) <= _CELL_WIDTH else f"{text[: _CELL_WIDTH - 1]}…"


def _write(frame: DataFrame, plan: ReadPlan, output: Output) -> dict[str, int]:
    """Write the Parquet; the records are counted on their way, so the data is read once."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    observed = Observation("log_to_parquet")
    apart = plan.topics if len(plan.topics) <= _TOPICS_COUNTED_APART else ()
    is_record = F.col(_CORRUPT_RECORD).isNull() if _CORRUPT_RECORD in frame.columns else F.lit(True)
    counts = [F.count_if(is_record).alias("records")]
    counts += [
        F.count_if(is_record & F.col("topic").eqNullSafe(F.lit(topic.topic))).alias(f"topic_{index}")
        for index, topic in enumerate(apart)
    ]
    dated = frame.observe(observed, *counts).withColumn("date", F.to_date("timestamp"))
    writer = dated.write.partitionBy("topic", "date").option("compression", output.compression)
    if output.max_records_per_file:
        writer = writer.option("maxRecordsPerFile", output.max_records_per_file)
    # The option of one write wins over the session's configuration.
    overwrite = "dynamic" if output.when_exists == "replace-partitions" else "static"
    writer = writer.option("partitionOverwriteMode", overwrite)
    writer.mode("error" if output.when_exists == "fail" else "overwrite").parquet(output.path)
    return {name: int(value) for name, value in observed.get.items()}


def _damaged_regions(spark: SparkSession, config: Config) -> int:
    """Count what was left out. With mode=FAILFAST damage ends the job; other modes cost one more reading."""
    modes = [value.upper() for name, value in config.input.options.items() if name.lower() == "mode"]
    if modes in ([], ["FAILFAST"]):
        return 0
    options = {**config.input.options, "view": "damage"}
    view = spark.read.format("kafkalog").options(**options).load(list(config.input.paths))
    return view.where("kind <> 'torn'").count()


def _summary(config: Config, plan: ReadPlan, counts: dict[str, int], damage: int, seconds: float) -> dict[str, Any]:
    topics = [asdict(topic) | {"records": counts.get(f"topic_{index}")} for index, topic in enumerate(plan.topics)]
    return {
        "input": list(config.input.paths),
        "output": config.output.path,
        "topics": topics,
        "partitions": plan.partitions,
        "segments": plan.segments,
        "splits": plan.splits,
        "bytes": plan.bytes,
        "records": counts["records"],
        "damage": damage,
        "warnings": list(plan.warnings),
        "skipped": list(plan.skipped),
        "seconds": round(seconds, 3),
    }


def _print_notes(plan: ReadPlan) -> None:
    for warning in plan.warnings:
        print(f"Note: {printable(warning)}")
    for path in plan.skipped:
        print(f"Left out: {printable(path)}")


def _print_summary(plan: ReadPlan, summary: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(summary, indent=2))
        return
    heads = ("topic", "partitions", "segments", "records", "size")
    rows = [_summary_row(topic["topic"] or "(no topic)", topic) for topic in summary["topics"]]
    print(table_text(heads, [*rows, _summary_row("total", summary)]))
    _print_notes(plan)
    print(f"Damage: {summary['damage'] or 'none'}")
    print(f"Parquet: {summary['output']} (topic=…/date=…), in {summary['seconds']:.1f} s")


def _summary_row(name: str, counts: dict[str, Any]) -> tuple[object, ...]:
    records = "" if counts["records"] is None else counts["records"]
    return printable(name), counts["partitions"], counts["segments"], records, size_text(counts["bytes"])


def _fail(error: Exception, code: int) -> int:
    print(f"log_to_parquet: {one_line(error)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
