"""Audit Kafka's log directories: report what is on a disk.

For each topic and partition: bytes, records, batches, codecs and compression ratios,
sizes and number of keys and values, times, missing offsets, throughput by hour,
headers, producers, damage. As tables on the terminal, as JSON, as one self-contained
HTML page with plots, and as Parquet.

One Spark job reads everything. Its tasks read splits into Arrow, without passing a record to Spark, and return
tables that can be merged: the headers of batches, and once more their records, without the values;
``--depth headers`` reads only headers. Values that cannot be determined are shown as unknown, and are null in JSON
and Parquet. Of the content of records, only the names of headers are reported, and these can be left out.

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
from typing import Any, Literal, get_args

from kafkalog_source import Scan, scan
from kafkalog_source.errors import counted
from spark_jobs.audit.output import write_tables
from spark_jobs.audit.page.html import html_report
from spark_jobs.audit.page.plots import can_plot
from spark_jobs.audit.result import Profile, collected
from spark_jobs.audit.tables import profile_tables
from spark_jobs.audit.tasks.batches import BATCH_COLUMNS
from spark_jobs.audit.tasks.distinct import can_count_keys
from spark_jobs.audit.tasks.job import tally_in_tasks
from spark_jobs.audit.tasks.records import record_columns
from spark_jobs.audit.tasks.split import DAMAGE, Reads
from spark_jobs.audit.tasks.times import is_zone
from spark_jobs.audit.text import print_profile
from spark_jobs.common.config import ConfigError, refuse_output_over_input
from spark_jobs.common.input import JobInput, add_range_flags, input_with_flags
from spark_jobs.common.plan import ReadPlan, print_plan
from spark_jobs.common.reading import left_out_before_errors
from spark_jobs.common.run import config_file, job_parser, run_job, with_given
from spark_jobs.common.session import job_session
from spark_jobs.common.summary import print_json

__all__ = ["Config", "main"]

Depth = Literal["records", "headers"]

_NO_PLOTS = "matplotlib is not installed, so the report has no plots; install it with pip install 'kafkalog[report]'"
_UNCOUNTED = "{} of formats 0 and 1 whose records were not read: headers do not hold their number, so it is unknown"
_NO_KEYS = (
    "datasketches is not installed, so distinct keys are not counted; install it with pip install 'kafkalog[report]'"
)
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
    add_range_flags(parser)
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
    if not is_zone(settings.time_zone):
        raise ConfigError(f"time zone {settings.time_zone!r} does not exist; give a name such as Europe/Berlin, or UTC")
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
    started = time.monotonic()
    _fill(profile, config, plan)
    profile.seconds = round(time.monotonic() - started, 3)
    uncounted = profile.total("uncounted_batches")
    if uncounted:
        profile.warnings.append(_UNCOUNTED.format(counted(uncounted, "compressed message")))
    return profile


def _fill(profile: Profile, config: Config, plan: ReadPlan) -> None:
    """Read the input, write the tables as Parquet if configured, and put their rows into the profile."""
    largest = sorted(plan.topics, key=lambda topic: -topic.bytes)[: config.profile.plots]
    reads = _reads(config, tuple(topic.topic for topic in largest))
    with_records = reads.records is not None
    if with_records and config.profile.distinct_keys and not reads.distinct_keys:
        profile.warnings.append(_NO_KEYS)
    with (
        job_session("topic_profile", at_start=config.spark, plan=plan, verb="Auditing") as spark,
        left_out_before_errors(spark, config.input, "topic_profile"),
    ):
        tally = tally_in_tasks(spark, reads.batches.splits(), reads)
    tables = profile_tables(tally, zone=reads.zone, with_records=with_records, header_names=reads.header_names)
    if config.output.parquet:
        write_tables(tables, config.output.parquet, config.output.compression)
    timeline = tally.table("timeline")
    tables |= {} if timeline is None else {"timeline": timeline}
    collected(profile, tables, plotted=reads.plotted, most_rows=config.profile.most_rows)


def _reads(config: Config, plotted: tuple[str | None, ...]) -> Reads:
    settings, source = config.profile, config.input
    with_records = settings.depth == "records"
    with_keys = with_records and settings.distinct_keys and can_count_keys()
    # Only with depth=headers are headers used without verifying their checksums.
    verify = source.option("verifyChecksums", str(with_records).lower())
    # With other modes, rows do not show damage.
    needs_view = with_records and source.option("mode", "").upper() not in ("PERMISSIVE", "FAILFAST")
    return Reads(
        batches=_scan(source.with_options({"view": "batches", "verifyChecksums": verify}), BATCH_COLUMNS),
        records=_scan(source, record_columns(keys=with_keys)) if with_records else None,
        damage=_scan(source.with_options({"view": "damage"}), DAMAGE.names) if needs_view else None,
        zone=settings.time_zone,
        header_names=settings.header_names,
        distinct_keys=with_keys,
        plotted=plotted,
    )


def _scan(source: JobInput, columns: Sequence[str]) -> Scan:
    options: dict[str, Any] = dict(source.options)
    return scan(list(source.paths), columns=columns, **options)


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
