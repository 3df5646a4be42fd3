"""A scan in words, for a prompt or a notebook: what lies in its paths, without reading records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError, counted, printable, size_text
from kafkalog_source.logdir import list_logs
from kafkalog_source.partition.offsets import PartitionOffsets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions

__all__ = ["summary_of"]

_MOST_SHOWN = 10
"""Most partitions that are shown, since the end of each is read from its last segment."""
_HEADS = ("topic", "partition", "segments", "size", "offsets")


def summary_of(options: ReadOptions, columns: Sequence[str]) -> str:
    """Describe a read: its view, topics, partitions with offsets and sizes, and columns. An error is a line of it.

    Lists the directories, and reads a few KiB of the last segments of the partitions that it shows.
    """
    try:
        lines = list(_lines(options))
    except KafkaLogError as error:
        lines = [f"cannot be read: {error}"]
    paths = ", ".join(map(printable, options.paths))
    return "\n".join([f"kafkalog scan of {paths}, view={options.view}", *lines, f"columns: {', '.join(columns)}"])


def _lines(options: ReadOptions) -> Iterator[str]:
    listing = list_logs(options.paths, wanted=options.wants, follow_symlinks=options.follow_symlinks)
    logs = listing.partitions
    topics = counted(len({log.topic for log in logs}), "topic")
    segments = counted(sum(len(log.segments) for log in logs), "segment")
    yield f"{topics}, {counted(len(logs), 'partition')}, {segments}, {size_text(sum(map(_size, logs)))}"
    rows = [_HEADS, *(_cells(log, options) for log in logs[:_MOST_SHOWN])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    for topic, *others in rows if logs else ():
        cells = [topic.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        yield "  " + "  ".join(cells)
    if len(logs) > _MOST_SHOWN:
        yield f"  … and {counted(len(logs) - _MOST_SHOWN, 'more partition')}"


def _cells(log: PartitionLog, options: ReadOptions) -> tuple[str, ...]:
    name = ("-", "-") if log.topic is None else (printable(log.topic), str(log.partition))
    return (*name, str(len(log.segments)), size_text(_size(log)), _offsets(log, options))


def _offsets(log: PartitionLog, options: ReadOptions) -> str:
    """The range of offsets on disk, in the form of a place; its end is exclusive."""
    if not log.segments:
        return "-"
    offsets = PartitionOffsets(log, options.include_deleted)
    try:
        return f"{offsets.earliest}..{offsets.latest}"
    except KafkaLogError:
        return f"{offsets.earliest}..?"


def _size(log: PartitionLog) -> int:
    return sum(segment.size for segment in log.segments)
