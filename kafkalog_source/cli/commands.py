"""The command line as `click` sees it: commands, their flags and their help.

Importing this module loads nothing that reads a log; each command imports its work when it runs, so
that ``--help`` and completion answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

import kafkalog_source
from kafkalog_source.cli.flags import (
    PATH,
    Commands,
    flag,
    generic_option,
    paths_argument,
    range_flags,
    read_options,
    threads_flag,
    topic_flags,
)

__all__ = ["kafkalog"]

_EPILOG = """\
examples:
  kafkalog ls /backup/broker-1/kafka-logs
  kafkalog dump /backup/broker-1/kafka-logs --subscribe orders --limit 10
  kafkalog verify /backup/broker-1/kafka-logs
  kafkalog salvage /backup/broker-1/kafka-logs /new/kafka-logs
  kafkalog COMMAND --help

exit status:
  0  done
  1  the data is damaged, incomplete or in an unsupported format
  2  could not run: an unknown option, a path that does not exist, holds no
     segment, or cannot be read for lack of permission
"""

_LS_EPILOG = """\
Internal topics are included. FIRST and LAST are the first offset of the first
batch and the last offset of the last one; "-" means that no complete batch was
found, "?" that the batch cannot be read. REMOTE, shown if there is any, is the
range of offsets that a tiered topic keeps only in remote storage; "or missing"
means that their segments may be lost instead. --skipped and --json list what
was skipped, and why.

examples:
  kafkalog ls kafka-logs
  kafkalog ls '/backup/disk*/kafka-logs' --subscribe orders
  kafkalog ls kafka-logs/orders-0 --segments
  kafkalog ls kafka-logs --json | jq '.partitions[] | select(.bytes == 0) | .topic'
"""

_DUMP_EPILOG = """\
As text, a line is TOPIC-PARTITION@OFFSET, the timestamp, and the other columns
as name=value. With --json, a line is a JSON object with a field for each
column. Keys, values and header values that are not text are shown as base64:...
in text and as {"base64": "..."} in JSON. Null is null, empty is "".

examples:
  kafkalog dump kafka-logs/orders-0 --limit 5
  kafkalog dump kafka-logs --subscribe orders,payments --json
  kafkalog dump kafka-logs --assign '{"orders":[0]}' --starting-offsets '{"orders":{"0":100}}'
  kafkalog dump kafka-logs --starting-timestamp 1700000000000 --columns topic,offset,valueSize
  kafkalog dump kafka-logs/orders-0/00000000000000000000.log -o verifyChecksums=false
  kafkalog dump kafka-logs --mode DROPMALFORMED --json
  kafkalog dump kafka-logs --view damage
  kafkalog dump kafka-logs/orders-0 --view transactions
  kafkalog dump kafka-logs --view consumer_offsets --columns group,committedTopic,committedOffset
"""

_VERIFY_EPILOG = """\
Checked are every batch (header, checksum, decompression, records, offsets), the
offset, time and transaction indexes, producer snapshots, checkpoints, and the
snapshots of the metadata log. Each finding names the file and the position, and
is one of

  damage      records cannot be read, or are missing
  misleading  a file beside the segments is damaged, or contradicts them
  unchecked   records that cannot be checked here: they are in remote storage,
              or in segments that have to be unpacked first
  note        nothing is wrong: what a crash or a live log leaves, such as a
              batch cut off at the end of a partition's last segment

exit status:
  0  sound; there may be notes
  1  damage, something misleading, or records that could not be checked
  2  could not run: an unknown option, a path that does not exist, holds no
     segment, or cannot be read for lack of permission. Also if a file below a
     path cannot be read for lack of permission, whatever the others hold

examples:
  kafkalog verify kafka-logs
  kafkalog verify '/backup/disk*/kafka-logs' --subscribe orders
  kafkalog verify kafka-logs/orders-0/00000000000000000000.log
  kafkalog verify kafka-logs --json | jq '.partitions[].findings[] | select(.severity == "damage")'
"""

_SALVAGE_EPILOG = """\
Every good batch is copied byte for byte, into a segment of the same name.
Indexes, producer snapshots and checkpoints are rebuilt from the batches. SRC is
never written to. DST appears under its name only when it is complete.

If SRC holds the metadata of its cluster, a broker of Kafka 4 starts on DST as
it did on SRC. If it does not, or the metadata is damaged: create the topics in
a new cluster, note their ids (kafka-topics --describe), stop its broker,
salvage with --topic-ids, and replace its empty partition directories by those
in DST.

exit status:
  0  all data is in DST
  1  something was left out; the report lists it
  2  could not run, or a segment or directory in SRC cannot be read and
     --skip-unreadable is not given; there is no DST then

examples:
  kafkalog salvage /broken/kafka-logs /new/kafka-logs
  kafkalog salvage /broken/kafka-logs /new/kafka-logs --json > report.json
  kafkalog salvage /broken/kafka-logs /new/partitions --topic-ids orders=0F8ErRbvS3aaKgTFBQzTpA
  kafka-topics --describe ... > ids; kafkalog salvage /broken/kafka-logs /new/partitions --topic-ids ids
"""


@click.group(
    cls=Commands, epilog=_EPILOG, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(kafkalog_source.__version__, message="%(prog)s %(version)s")
def kafkalog() -> None:
    """Inspect Apache Kafka's log directories on disk, without a broker. Nothing is ever written to them.

    A PATH is a broker's log dir, one topic-partition directory, one .log or .kafka segment, or a glob of
    these in quotes.
    """


@kafkalog.command("ls", epilog=_LS_EPILOG, short_help="list topics, partitions and segments")
@paths_argument
@flag("--json", "as_json", "one JSON object")
@flag("--segments", "segments", "a row for each segment")
@flag("--skipped", "skipped", "list what was skipped, and why")
@topic_flags
def _ls(paths: Sequence[str], as_json: bool, segments: bool, skipped: bool, **given: Any) -> int:
    """List the partitions in PATH: segments, bytes, first and last offset."""
    from kafkalog_source.cli.ls import run

    return run(sys.stdout, paths, read_options(given), as_json=as_json, by_segment=segments, list_skipped=skipped)


@kafkalog.command("dump", epilog=_DUMP_EPILOG, short_help="print records, or the rows of a view")
@paths_argument
@flag("--json", "as_json", "one JSON object for each line")
@click.option("--limit", metavar="N", type=click.IntRange(min=0), help="stop after N records")
@click.option("--columns", metavar="NAMES", help="only these columns, separated by commas")
@topic_flags
@range_flags
@generic_option
def _dump(paths: Sequence[str], as_json: bool, limit: int | None, columns: str | None, **given: Any) -> int:
    """Print records, or the rows of a view, one a line, in order within each partition."""
    from kafkalog_source.cli.dump import run

    names = None if columns is None else [name.strip() for name in columns.split(",") if name.strip()]
    return run(sys.stdout, paths, read_options(given), as_json=as_json, limit=limit, columns=names)


@kafkalog.command("verify", epilog=_VERIFY_EPILOG, short_help="check batches, indexes, snapshots and checkpoints")
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
    "salvage", epilog=_SALVAGE_EPILOG, short_help="copy the good batches of a damaged log dir to a new one"
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
