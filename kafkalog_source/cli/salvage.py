"""``kafkalog salvage``: a new log dir out of a damaged one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from kafkalog_source.cli.options import add_generic_option, add_threads_flag, add_topic_flags, read_options
from kafkalog_source.cli.progress import Bar
from kafkalog_source.cli.text import complain, json_line, one_line, table
from kafkalog_source.cli.verify import check_allowed, wanted_partitions
from kafkalog_source.errors import BAD_DATA, DONE, counted, printable
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.salvage import SalvageReport, parse_topic_ids, salvage
from kafkalog_source.verifying.progress import Progress

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from kafkalog_source.salvage import PartitionReport

__all__ = ["add_command"]

_EPILOG = """\
Every good batch is copied byte for byte under the name of its segment. Indexes,
producer snapshots and checkpoints are made anew from the batches. SRC is never
written to, and DST is complete when it has its name.

With the metadata of its cluster in SRC, a broker of Kafka 4 starts on DST as it
did on SRC. Without, or if that metadata is damaged: create the topics in a new
cluster, note their ids (kafka-topics --describe), stop its broker, salvage with
--topic-ids, and put the partition directories of DST in place of its empty ones.

exit status:
  0  all data is in DST
  1  something was left out, as the report says
  2  could not run, or a segment or directory in SRC cannot be read and
     --skip-unreadable is not given; DST is not there then

examples:
  kafkalog salvage /broken/kafka-logs /new/kafka-logs
  kafkalog salvage /broken/kafka-logs /new/kafka-logs --json > report.json
  kafkalog salvage /broken/kafka-logs /new/partitions --topic-ids orders=0F8ErRbvS3aaKgTFBQzTpA
  kafka-topics --describe ... > ids; kafkalog salvage /broken/kafka-logs /new/partitions --topic-ids ids
"""
_HEADS = ("TOPIC", "PARTITION", "SEGMENTS", "BYTES", "BATCHES", "RECORDS", "START", "END", "LEFT-OUT")
_RIGHT = frozenset(_HEADS[1:])
_IS = {True: "is", False: "are"}
_ALLOWED = ("subscribe", "subscribepattern", "assign", "followsymlinks", "maxdecompressedbatchbytes")


def add_command(commands: _SubParsersAction[Any]) -> None:
    """Add this command to the command line."""
    parser = commands.add_parser(
        "salvage",
        help="write a new log dir with every good batch of a damaged one",
        description="Write to DST a log dir with every good batch of SRC, on which a broker starts.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("source", metavar="SRC", help="log dir to read")
    parser.add_argument("target", metavar="DST", help="directory to write; new, or empty")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--topic-ids",
        metavar="IDS",
        help="topic=id with commas between them, or a file of them: salvage these topics for another cluster",
    )
    parser.add_argument(
        "--follow-symlinks",
        dest="followSymlinks",
        action="store_const",
        const="true",
        help="follow symbolic links that lead out of SRC",
    )
    parser.add_argument(
        "--skip-unreadable",
        action="store_true",
        help="go on without segments and directories that cannot be read, and say which; otherwise they end it",
    )
    add_threads_flag(parser)
    add_topic_flags(parser)
    add_generic_option(parser)
    parser.set_defaults(run=_run)


def _run(chosen: argparse.Namespace, out: TextIO) -> int:
    given = read_options(chosen)
    check_allowed(given, _ALLOWED, "salvage")
    options = parse_options(given, [chosen.source])
    progress = Progress()
    with Bar("salvaging", lambda: (progress.done, progress.total)):
        report = salvage(
            chosen.source,
            chosen.target,
            topic_ids=None if chosen.topic_ids is None else parse_topic_ids(chosen.topic_ids),
            wanted=wanted_partitions(options),
            follow_symlinks=options.follow_symlinks,
            largest_batch=options.max_decompressed_batch_bytes,
            threads=chosen.threads,
            skip_unreadable=chosen.skip_unreadable,
            expect=progress.expect,
            progressed=progress.add,
        )
    for warning in report.all_warnings:
        complain(f"warning: {warning}")
    if chosen.json:
        out.write(json_line(report.to_dict()) + "\n")
    else:
        out.writelines(line + "\n" for line in _lines(report))
    return DONE if report.is_complete else BAD_DATA


def _lines(report: SalvageReport) -> Iterator[str]:
    yield from table(_HEADS, [_cells(each) for each in report.partitions], _RIGHT)
    yield from (one_line(str(each)) for each in report.all_left_out)
    batches = sum(each.batches for each in report.partitions)
    size = sum(each.size for each in report.partitions)
    losses = sum(each.is_loss for each in report.all_left_out)
    verdict = "all data was good" if report.is_complete else f"{counted(losses, 'loss')}, as told above"
    unreadable = sum(each.is_unreadable for each in report.all_left_out)
    if unreadable:
        verdict += f"; of these {counted(unreadable, 'path')} could not be read and {_IS[unreadable == 1]} not in DST"
    totals = (counted(len(report.partitions), "partition"), counted(batches, "batch"), counted(size, "byte"))
    yield f"{printable(report.path)}: {', '.join(totals)}; {verdict}"


def _cells(each: PartitionReport) -> tuple[object, ...]:
    return (
        each.topic,
        each.partition,
        each.segments,
        each.size,
        each.batches,
        each.records,
        each.start_offset,
        each.end_offset,
        sum(left_out.is_loss for left_out in each.left_out),
    )
