"""The command line as `click` sees it: commands, their flags and their help.

Importing this module loads nothing that reads a log; each command imports its work when it runs, so
that ``--help`` and completion answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import kafkalog_source
from kafkalog_source.cli import epilogs
from kafkalog_source.cli.flags import (
    PATH,
    Commands,
    flag,
    generic_option,
    long_generic_option,
    names_in,
    offset_flags,
    one_of,
    paths_argument,
    print_flags,
    range_flags,
    read_options,
    threads_flag,
    topic_flags,
)
from kafkalog_source.cli.job import Jobs, init

__all__ = ["kafkalog"]


@click.group(
    cls=Commands,
    epilog=epilogs.KAFKALOG,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(kafkalog_source.__version__, message="%(prog)s %(version)s")
def kafkalog() -> None:
    """Inspect Apache Kafka's log directories on disk, without a broker. Nothing is ever written to them.

    A PATH is a broker's log dir, one topic-partition directory, one .log or .kafka segment, or a glob of
    these in quotes.
    """


@kafkalog.command(
    "ls",
    epilog=epilogs.LS,
    short_help="list topics, partitions and segments",
    # As for the ls of a shell, -h is about sizes.
    context_settings={"help_option_names": ["--help"]},
)
@paths_argument
@flag("--json", "as_json", "one JSON object")
@flag("--segments", "segments", "a row for each segment")
@flag("--skipped", "skipped", "list what was skipped, and why")
@click.option("-h", "--human-readable", "human", is_flag=True, help="sizes such as 1.5 MiB")
@click.option(
    "--sort",
    type=click.Choice(["name", "size", "segments", "time"]),
    default="name",
    help="order of the rows: by name, or the largest or the newest last time first",
)
@topic_flags
def _ls(
    paths: Sequence[str], as_json: bool, segments: bool, skipped: bool, human: bool, sort: str, **given: Any
) -> int:
    """List the partitions in PATH: segments, bytes, first and last offset and their times."""
    from kafkalog_source.cli.ls import Shown, run

    shown = Shown(sort, human, skipped)
    return run(sys.stdout, paths, read_options(given), as_json=as_json, by_segment=segments, shown=shown)


@kafkalog.command(
    "stat",
    epilog=epilogs.STAT,
    short_help="sizes, codecs, times and producers of topics, from headers",
    # As for ls, -h is about sizes.
    context_settings={"help_option_names": ["--help"]},
)
@paths_argument
@flag("--json", "as_json", "one JSON object")
@click.option("-h", "--human-readable", "human", is_flag=True, help="sizes such as 1.5 MiB")
@topic_flags
@generic_option
def _stat(paths: Sequence[str], as_json: bool, human: bool, **given: Any) -> int:
    """Describe the topics in PATH by the headers of their batches, without reading payloads."""
    from kafkalog_source.cli.stat import run

    return run(sys.stdout, paths, read_options(given), as_json=as_json, sizes_for_people=human)


@kafkalog.command("count", epilog=epilogs.COUNT, short_help="count records, from the headers of batches")
@paths_argument
@flag("--json", "as_json", "one JSON object")
@flag("--include-control-records", "includeControlRecords", "count control records too, such as transaction markers")
@topic_flags
@offset_flags
@generic_option
def _count(paths: Sequence[str], as_json: bool, **given: Any) -> int:
    """Count the records of each partition in PATH. Payloads are read only where headers do not suffice."""
    from kafkalog_source.cli.count import run

    return run(sys.stdout, paths, read_options(given), as_json=as_json)


@kafkalog.command("dump", epilog=epilogs.DUMP, short_help="print records, or the rows of a view")
@paths_argument
@print_flags("-f", "--format")
@click.option("--limit", metavar="N", type=click.IntRange(min=0), help="stop after N records")
@topic_flags
@range_flags
@generic_option
def _dump(paths: Sequence[str], limit: int | None, **given: Any) -> int:
    """Print records, or the rows of a view, one a line, in order within each partition."""
    from kafkalog_source.cli.dump import run
    from kafkalog_source.cli.printing import take_printed

    printed = take_printed(given)
    return run(sys.stdout, paths, read_options(given), printed, limit=limit)


@kafkalog.command("tail", epilog=epilogs.TAIL, short_help="print the last records, and those that are added")
@paths_argument
@click.option(
    "-n",
    "--lines",
    "count",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="the last N records of each partition",
)
@click.option("-f", "--follow", is_flag=True, help="go on, and print records as a broker writes them; Ctrl-C ends it")
@print_flags("--format")
@topic_flags
@generic_option
def _tail(paths: Sequence[str], count: int, follow: bool, **given: Any) -> int:
    """Print the last records of each partition in PATH, in the order of their offsets."""
    from kafkalog_source.cli.printing import take_printed
    from kafkalog_source.cli.tail import run

    printed = take_printed(given)
    return run(sys.stdout, paths, read_options(given), printed, count=count, follow=follow)


@kafkalog.command("export", epilog=epilogs.EXPORT, short_help="write records to Parquet, CSV, JSON lines or Arrow")
@paths_argument
@click.option("-o", "--out", "to", metavar="OUT", required=True, help="the file, DIR/ or - to write to")
@click.option(
    "--format",
    "kind",
    metavar="FORMAT",
    help="parquet, csv, jsonl or arrow; by default that of OUT's name, parquet for DIR/, jsonl for -",
    shell_complete=one_of("parquet", "csv", "jsonl", "arrow"),
)
@click.option("--columns", metavar="NAMES", help="only these columns, separated by commas")
@click.option(
    "--sql", metavar="SELECT", help="write the result of a query, which DuckDB runs; the table is named records"
)
@flag("--rescue", "rescue", "read whatever can be read, and report what is lost")
@flag("--json", "as_json", "the summary as one JSON object")
@threads_flag
@topic_flags
@range_flags
@long_generic_option
def _export(
    paths: Sequence[str],
    to: str,
    kind: str | None,
    columns: str | None,
    sql: str | None,
    rescue: bool,
    as_json: bool,
    threads: int | None,
    **given: Any,
) -> int:
    """Write records, or the rows of a view, to a file that other programs read."""
    from kafkalog_source.cli.export import run

    return run(
        sys.stdout,
        paths,
        read_options(given),
        to=to,
        kind=kind,
        columns=names_in(columns),
        sql=sql,
        rescue=rescue,
        as_json=as_json,
        threads=threads,
    )


@kafkalog.command("verify", epilog=epilogs.VERIFY, short_help="check batches, indexes, snapshots and checkpoints")
@paths_argument
@flag("--json", "as_json", "one JSON object")
@threads_flag
@topic_flags
@generic_option
def _verify(paths: Sequence[str], as_json: bool, threads: int | None, **given: Any) -> int:
    """Check everything in PATH that a broker or a reader relies on. Nothing is written."""
    from kafkalog_source.cli.verify import run

    return run(sys.stdout, paths, read_options(given), as_json=as_json, threads=threads)


@kafkalog.command(
    "salvage", epilog=epilogs.SALVAGE, short_help="copy the good batches of a damaged log dir to a new one"
)
@click.argument("source", metavar="SRC", type=PATH)
@click.argument("target", metavar="DST", type=PATH)
@flag("--json", "as_json", "one JSON object")
@click.option(
    "--topic-ids",
    metavar="IDS",
    help="topic=id, separated by commas, or a file of them: salvage these topics for another cluster",
)
@flag("--follow-symlinks", "followSymlinks", "follow symbolic links that lead out of SRC")
@flag("--skip-unreadable", "skip_unreadable", "leave out and report what cannot be read, instead of failing")
@threads_flag
@topic_flags
@generic_option
def _salvage(
    source: str,
    target: str,
    as_json: bool,
    topic_ids: str | None,
    skip_unreadable: bool,
    threads: int | None,
    **given: Any,
) -> int:
    """Copy every good batch of the log dir SRC to DST (new, or empty), on which a broker starts."""
    from kafkalog_source.cli.salvage import run

    return run(
        sys.stdout,
        source,
        target,
        read_options(given),
        as_json=as_json,
        topic_ids=topic_ids,
        skip_unreadable=skip_unreadable,
        threads=threads,
    )


@kafkalog.command("groups", epilog=epilogs.GROUPS, short_help="list consumer groups: members, committed offsets, lag")
@paths_argument
@flag("--json", "as_json", "one JSON object")
@click.option(
    "--at",
    metavar="TIME",
    help="the groups of that time: 2026-11-20, 2026-11-20T14:30+01:00, yesterday, -2h, or milliseconds; in UTC "
    "without a zone",
)
@click.option("--time-zone", "zone", metavar="ZONE", default="UTC", help="the zone of a TIME without one")
@click.option("--group", "names", metavar="NAME", multiple=True, help="only this group; may be repeated")
@generic_option
def _groups(paths: Sequence[str], as_json: bool, at: str | None, zone: str, names: Sequence[str], **given: Any) -> int:
    """Show the groups in PATH: their members, committed offsets and lag, now or at a time."""
    from kafkalog_source.cli.groups import run

    at_ms = None if at is None else kafkalog_source.milliseconds(at, zone=zone)
    return run(sys.stdout, paths, read_options(given), as_json=as_json, at_ms=at_ms, names=names)


@kafkalog.command("cluster", epilog=epilogs.CLUSTER, short_help="show the state of a cluster at a point in time")
@paths_argument
@flag("--json", "as_json", "one JSON object")
@click.option(
    "--at",
    metavar="TIME",
    help="the state at this time: 2026-11-20, 2026-11-20T14:30+01:00, yesterday, -2h, or milliseconds; in UTC "
    "without a zone",
)
@click.option("--at-offset", metavar="N", type=click.IntRange(min=0), help="the state after the record at this offset")
@flag("--include-secrets", "includeSecrets", "show passwords and keys; --json has those of users")
def _cluster(paths: Sequence[str], as_json: bool, at: str | None, at_offset: int | None, **given: Any) -> int:
    """Show topics, partitions, brokers, configs, ACLs, quotas and users as the metadata log in PATH has them."""
    from kafkalog_source.cli.cluster import run

    return run(sys.stdout, paths, read_options(given), as_json=as_json, at=at, at_offset=at_offset)


@kafkalog.command("transactions", epilog=epilogs.TRANSACTIONS, short_help="list transactions, and find hanging ones")
@paths_argument
@flag("--open", "only_open", "only open ones: which hang, since when, and what they hold back")
@flag("--json", "as_json", "one JSON object")
@topic_flags
@generic_option
def _transactions(paths: Sequence[str], only_open: bool, as_json: bool, **given: Any) -> int:
    """List the transactions of the partitions in PATH by first offset."""
    from kafkalog_source.cli.transactions import run

    return run(sys.stdout, paths, read_options(given), as_json=as_json, only_open=only_open)


@kafkalog.group(
    "job", cls=Jobs, epilog=epilogs.JOB, no_args_is_help=False, short_help="run a job on Spark: log dirs to tables"
)
def _jobs() -> None:
    """Run one of the jobs, which use Spark. All arguments after its name are for the job."""


@_jobs.command("init", epilog=epilogs.JOB_INIT, short_help="write an example config and schedule")
@click.argument("directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--job", metavar="NAME", default="log_to_parquet", show_default=True, help="the job to write them for")
def _init(directory: Path, job: str) -> int:
    """Write a config that explains every key, a crontab line and units of systemd into DIR."""
    return init(directory, job)


@kafkalog.command("man", epilog=epilogs.MAN, short_help="print the manual page")
@click.pass_context
def _man(context: click.Context) -> int:
    """Print the manual page of all commands, in the format of man(7)."""
    from kafkalog_source.cli.man import run

    parent = context.parent or context
    return run(sys.stdout, kafkalog, parent)
