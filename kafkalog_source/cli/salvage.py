"""``kafkalog salvage``: copy the good batches of a log dir to a new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from kafkalog_source.cli.inspecting import inspecting_options
from kafkalog_source.cli.progress import progress_bar
from kafkalog_source.cli.text import complain, json_line, one_line, table
from kafkalog_source.errors import BAD_DATA, DONE, counted, printable
from kafkalog_source.salvage import SalvageReport, parse_topic_ids, salvage
from kafkalog_source.verifying.progress import Progress

if TYPE_CHECKING:
    from kafkalog_source.salvage import PartitionReport

__all__ = ["run"]

_HEADS = ("TOPIC", "PARTITION", "SEGMENTS", "BYTES", "BATCHES", "RECORDS", "START", "END", "LEFT-OUT")
_RIGHT = frozenset(_HEADS[1:])
_IS = {True: "is", False: "are"}


def run(
    out: TextIO,
    source: str,
    target: str,
    given: Mapping[str, Any],
    *,
    as_json: bool,
    topic_ids: str | None,
    skip_unreadable: bool,
    threads: int | None,
) -> int:
    """Write the new log dir and the report about it, and return the exit status."""
    options = inspecting_options(given, [source], "salvage")
    progress = Progress()
    with progress_bar("salvaging", lambda: (progress.done, progress.total)):
        report = salvage(
            source,
            target,
            topic_ids=None if topic_ids is None else parse_topic_ids(topic_ids),
            wanted=options.inspects,
            follow_symlinks=options.follow_symlinks,
            largest_batch=options.max_decompressed_batch_bytes,
            threads=threads,
            skip_unreadable=skip_unreadable,
            expect=progress.expect,
            progressed=progress.add,
        )
    for warning in report.all_warnings:
        complain(f"warning: {warning}")
    if as_json:
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
    verdict = "all data is good" if report.is_complete else f"{counted(losses, 'loss')}, listed above"
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
