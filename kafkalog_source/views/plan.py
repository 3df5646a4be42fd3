"""From options to the files of a view, packed into splits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkalog_source.logdir.access import files
from kafkalog_source.logdir.given_log_dirs import given_log_dirs
from kafkalog_source.logdir.names import parse_log_file
from kafkalog_source.partition.file_parts import CheckpointFile, LogPart, SegmentPart, SideFile
from kafkalog_source.partition.splits import pack_files
from kafkalog_source.segment.side_files.index_entries import INDEX_LAYOUTS
from kafkalog_source.views.checkpoints import LOG_DIR_FILES, PARTITION_FILES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from kafkalog_source.logdir import Listing, PartitionLog
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.file_parts import Part
    from kafkalog_source.partition.splits import Split

__all__ = ["plan_files"]


def plan_files(options: ReadOptions, listing: Listing) -> list[Split]:
    """The files of a view.

    Parameters
    ----------
    options : ReadOptions
        With a view of files.
    listing : Listing
        Of the options' paths.
    """
    parts = list(_PARTS[options.view](options, listing.partitions))
    return pack_files(parts, options.max_partition_bytes, options.open_cost_in_bytes)


def _segments(_: ReadOptions, logs: Iterable[PartitionLog]) -> Iterator[Part]:
    for log in logs:
        for segment, bound in zip(log.segments, log.bounds, strict=True):
            is_active = None if log.is_single_file else segment is log.segments[-1]
            yield SegmentPart(log.topic, log.partition, segment, bound, is_active)


def _logs(_: ReadOptions, logs: Iterable[PartitionLog]) -> Iterator[Part]:
    yield from (LogPart(log) for log in logs if log.segments)


def _indexes(_: ReadOptions, logs: Iterable[PartitionLog]) -> Iterator[Part]:
    for log in logs:
        yield from _side_files(log, INDEX_LAYOUTS)


def _snapshots(_: ReadOptions, logs: Iterable[PartitionLog]) -> Iterator[Part]:
    for log in logs:
        yield from _side_files(log, ("snapshot",))


def _side_files(log: PartitionLog, kinds: Collection[str]) -> Iterator[SideFile]:
    """The files of some kinds in a partition's directory, or beside a segment that was given by its own path."""
    directory = os.path.dirname(log.path) if log.is_single_file else log.path
    only = log.segments[0].base_offset if log.is_single_file else None
    for entry in files(directory):
        name = parse_log_file(entry.name)
        if name is None or name.state is not None or name.kind not in kinds:
            continue
        if only in (None, name.base_offset):
            yield SideFile(log.topic, log.partition, entry.path, name.kind, name.base_offset, entry.stat().st_size)


def _checkpoints(options: ReadOptions, logs: Sequence[PartitionLog]) -> Iterator[Part]:
    for log_dir in given_log_dirs(options.paths, options.follow_symlinks):
        yield from _files(log_dir, LOG_DIR_FILES, None, None)
    for log in logs:
        if not log.is_single_file:
            yield from _files(log.path, PARTITION_FILES, log.topic, log.partition)


def _files(
    directory: str, names: Collection[str], topic: str | None, partition: int | None
) -> Iterator[CheckpointFile]:
    for entry in files(directory):
        if entry.name in names:
            yield CheckpointFile(topic, partition, entry.path, entry.stat().st_size)


_PARTS = {
    "segments": _segments,
    "transactions": _logs,
    "indexes": _indexes,
    "producer_state": _snapshots,
    "checkpoints": _checkpoints,
}
