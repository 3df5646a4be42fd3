"""Audit Kafka's log directories: report what is on a disk.

For each topic and partition: bytes, records, batches, codecs and compression ratios,
sizes and number of keys and values, times, missing offsets, throughput by hour,
headers, producers, damage. As tables on the terminal, as JSON, as one self-contained
HTML page with plots, and as Parquet.

Batches are read once for their headers, and once more for their records, without
the values; ``--depth headers`` reads only headers. Topics with compressed messages of
formats 0 and 1 are decoded once more, because the headers of these do not describe
their content. Values that cannot be determined are shown as unknown, and are null in
JSON and Parquet. Of the content of records, only the names of headers are reported,
and these can be left out.

Run it with ``python -m spark_jobs.topic_profile`` or with ``spark-submit``;
``conf/topic_profile.toml`` explains the settings.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from kafkalog_source.errors import counted
from spark_jobs.audit.batches import BATCH_SCHEMA, WRAPPER_SCHEMA, BatchTables, with_wrappers, without_counts
from spark_jobs.audit.html import html_report
from spark_jobs.audit.plots import can_plot
from spark_jobs.audit.records import RecordTables, record_schema
from spark_jobs.audit.result import Profile, collected
from spark_jobs.audit.session_settings import settings_by_size
from spark_jobs.audit.tables import profile_tables
from spark_jobs.audit.text import print_profile
from spark_jobs.common.config import ConfigError, refuse_output_over_input
from spark_jobs.common.input import JobInput, input_with_flags
from spark_jobs.common.plan import ReadPlan, print_plan
from spark_jobs.common.reading import left_out_before_errors
from spark_jobs.common.run import config_file, job_parser, run_job, with_given
from spark_jobs.common.session import job_session, set_for_now
from spark_jobs.common.summary import print_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Config", "main"]

Depth = Literal["records", "headers"]

_NO_PLOTS = "matplotlib is not installed, so the report has no plots; install it with pip install 'kafkalog[report]'"
_UNCOUNTED = "{} of formats 0 and 1 whose records were not read: headers do not hold their number, so it is unknown"
_CHOOSING = ("subscribe", "assign", "places", "offsets")
"""Parts of the names of options that select topics, or refer to them."""
# An audit reports what ends other reads, and continues.
_DEFAULT_OPTIONS = {"mode": "PERMISSIVE", "failOnDataLoss": "false"}


@dataclass(frozen=True)
class Output:
    """What is written besides the terminal: the table ``[output]``."""

    html: str = ""
    parquet: str = ""
    compression: Literal["zstd", "snappy", "lz4", "gzip", "none"] = "zstd"


@dataclass(frozen=True)
class Settings:
    """What is examined: the table ``[profile]``."""

    depth: Depth = "records"
    distinct_keys: bool = True
    header_names: bool = True
    time_zone: str = "UTC"
    plots: int = 12
    most_rows: int = 1000


@dataclass(frozen=True)
class Config:
    """The whole config file; conf/topic_profile.toml explains every key."""

    input: JobInput = field(default_factory=JobInput)
    output: Output = field(default_factory=Output)
    profile: Settings = field(default_factory=Settings)
    spark: dict[str, str] = field(default_factory=dict)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the job and return its exit code. The arguments default to those of the process; see `run_job`."""
    return run_job(_parser(), _job, arguments)


def _parser() -> argparse.ArgumentParser:
    parser = job_parser("topic_profile", "Audit Kafka's log directories: report what is on a disk.")
    add = parser.add_argument
    add("--html", metavar="FILE", help="write the report to this file")
    add("--parquet", metavar="DIR", help="write the tables as Parquet to this directory")
    add("--depth", choices=get_args(Depth), help="read records, or only batch headers")
    add("--no-header-names", action="store_true", help="omit the names of headers, the only content in the report")
    add("--plots", type=int, metavar="N", help="plot the N largest topics; 0 plots none")
    add("--time-zone", metavar="ZONE", help="time zone of all times")
    return parser


def _job(flags: argparse.Namespace) -> None:
    config = _config(flags)
    plan = config.input.plan()
    if flags.dry_run:
        print_plan(config.input.paths, plan, _outcome(config), as_json=flags.json)
        return
    profile = _run(config, plan)
    if config.output.html:
        _write_html(profile, config)
    if flags.json:
        print_json(profile.as_dict())
        return
    print_profile(profile)
    written = ", ".join(place for place in (config.output.html, config.output.parquet) if place)
    print(f"Written: {written or 'nothing'}; in {profile.seconds:.1f} s")


def _config(flags: argparse.Namespace) -> Config:
    """Merge the config file and the flags, which take precedence, and check the result."""
    config = config_file(Config, flags)
    source = input_with_flags(config.input, flags)
    source = source.with_options({name: source.option(name, value) for name, value in _DEFAULT_OPTIONS.items()})
    output = with_given(config.output, html=flags.html, parquet=flags.parquet)
    names = False if flags.no_header_names else None
    settings = with_given(
        config.profile, depth=flags.depth, header_names=names, plots=flags.plots, time_zone=flags.time_zone
    )
    if settings.plots < 0 or settings.most_rows < 1:
        raise ConfigError("plots must not be negative, and most_rows must be at least 1")
    if source.option("view", "records") != "records":
        raise ConfigError("the audit sets the option view itself; remove it")
    for place in filter(None, (output.html, output.parquet)):
        refuse_output_over_input(source.paths, place)
    return Config(source, output, settings, config.spark)


def _outcome(config: Config) -> str:
    places = [place for place in (config.output.html, config.output.parquet) if place]
    return f"Nothing was written; the audit would go to {' and '.join(['the terminal', *places])}"


def _run(config: Config, plan: ReadPlan) -> Profile:
    profile = Profile(
        list(config.input.paths),
        config.profile.depth,
        config.profile.time_zone,
        segments=plan.segments,
        splits=plan.splits,
        warnings=list(plan.warnings),
        skipped=list(plan.skipped),
    )
    settings = {"spark.sql.session.timeZone": config.profile.time_zone}
    started = time.monotonic()
    with job_session("topic_profile", settings, at_start=config.spark) as spark:
        kept: list[DataFrame] = []
        try:
            with (
                set_for_now(spark, _by_size(spark, config, plan)),
                left_out_before_errors(spark, config.input, "topic_profile"),
            ):
                _fill(profile, spark, config, kept)
        finally:
            for frame in kept:
                frame.unpersist()
    profile.seconds = round(time.monotonic() - started, 3)
    uncounted = profile.total("uncounted_batches")
    if uncounted:
        profile.warnings.append(_UNCOUNTED.format(counted(uncounted, "compressed message")))
    return profile


def _by_size(spark: SparkSession, config: Config, plan: ReadPlan) -> dict[str, str]:
    """Settings for an input of this size; what the config file sets itself stays as it is."""
    most = int(spark.conf.get("spark.sql.shuffle.partitions", "200") or 200)
    settings = settings_by_size(plan.bytes, most)
    return {name: value for name, value in settings.items() if name not in config.spark}


def _fill(profile: Profile, spark: SparkSession, config: Config, kept: list[DataFrame]) -> None:
    """Make the tables, write them as Parquet if configured, and put their rows into the profile."""
    tables = {name: table.persist() for name, table in _tables(spark, config, kept).items()}
    kept.extend(tables.values())
    for name, table in tables.items():
        if config.output.parquet:
            writer = table.write.mode("overwrite").option("compression", config.output.compression)
            writer.parquet(os.path.join(config.output.parquet, name))
    collected(profile, tables, plots=config.profile.plots, most_rows=config.profile.most_rows)


def _tables(spark: SparkSession, config: Config, kept: list[DataFrame]) -> dict[str, DataFrame]:
    """Return all tables; frames that are read several times are persisted, and added to `kept`."""
    source = config.input
    # Only with depth=headers are headers used without verifying their checksums.
    verify = str(config.profile.depth == "records").lower()
    view = {"view": "batches", "verifyChecksums": source.option("verifyChecksums", verify)}
    headers = source.with_options(view).frame(spark, BATCH_SCHEMA).persist()
    kept.append(headers)
    if config.profile.depth == "headers":
        batches = BatchTables(headers)
        return profile_tables(batches, None, batches.damage())
    batches = BatchTables(_completed(spark, source, headers, kept))
    read = source.frame(spark, record_schema(keys=config.profile.distinct_keys))
    records = RecordTables(read, header_names=config.profile.header_names)
    kept.append(records.all)
    tables = profile_tables(batches, records, _damage(spark, source, batches, records))
    if not config.profile.header_names:
        del tables["headers"]
    return tables


def _completed(spark: SparkSession, source: JobInput, headers: DataFrame, kept: list[DataFrame]) -> DataFrame:
    """Complete headers that do not describe their content from the records; without any, no record is read."""
    topics = [row["topic"] for row in without_counts(headers).select("topic").distinct().collect()]
    if not topics:
        return headers
    chooses = any(word in name.lower() for name in source.options for word in _CHOOSING)
    if not chooses and None not in topics:
        source = source.with_options({"subscribe": ",".join(topics)})
    completed = with_wrappers(headers, source.frame(spark, WRAPPER_SCHEMA)).persist()
    kept.append(completed)
    return completed


def _damage(spark: SparkSession, source: JobInput, batches: BatchTables, records: RecordTables) -> DataFrame:
    """Return the damaged regions. Only if there are any, all bytes are read once more to locate them."""
    from pyspark.sql import functions as F

    columns = batches.damage().columns
    (found,) = records.table("topics").agg(F.sum("damaged_regions")).collect()
    # With other modes, the records do not show damage.
    if not found[0] and source.option("mode", "").upper() in ("PERMISSIVE", "FAILFAST"):
        return batches.damage().limit(0)
    view = source.with_options({"view": "damage"}).frame(spark)
    return view.where("kind <> 'torn'").select(*columns)


def _write_html(profile: Profile, config: Config) -> None:
    """Write the page atomically."""
    plots = config.profile.plots > 0
    if plots and not can_plot():
        print(f"topic_profile: {_NO_PLOTS}", file=sys.stderr)
        profile = replace(profile, warnings=[*profile.warnings, _NO_PLOTS])
        plots = False
    target = Path(config.output.html)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        scratch.write_text(html_report(profile, plots=plots), encoding="utf-8")
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
