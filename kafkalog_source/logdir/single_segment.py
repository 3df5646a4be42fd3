"""A single segment given by its own path, read without its neighbours."""

from __future__ import annotations

import os
import stat

from kafkalog_source.logdir.access import status
from kafkalog_source.logdir.model import PartitionLog, SegmentFile
from kafkalog_source.logdir.names import LogFileName, parse_log_file, parse_partition
from kafkalog_source.logdir.partition_dir import regular_status

__all__ = ["single_segment"]


def single_segment(path: str) -> PartitionLog | None:
    """Build a partition that consists of one segment.

    Topic and partition are those of its directory, None if that is not named ``topic-partition``. Side files are
    used only if they have the same suffix as the segment.

    Returns
    -------
    PartitionLog or None
        None if neither the path nor its link target has the name of a segment.
    """
    for candidate in (path, os.path.realpath(path)):
        name = parse_log_file(os.path.basename(candidate))
        if name is not None and name.is_segment:
            return _partition_log(candidate, name)
    return None


def _partition_log(path: str, name: LogFileName) -> PartitionLog:
    found = regular_status(path, status(path))
    place = _place(path)
    segment = SegmentFile(
        path,
        name.base_offset,
        found.st_size,
        found.st_mtime_ns,
        found.st_ino,
        _beside(path, name, "index"),
        _beside(path, name, "timeindex"),
        _beside(path, name, "txnindex"),
        _beside(path, name, "snapshot"),
        name.kind == "kafka",
    )
    topic, partition = place if place is not None else (None, None)
    return PartitionLog(topic, partition, path, (segment,), is_single_file=True, inode=segment.inode)


def _place(path: str) -> tuple[str, int] | None:
    directory = os.path.dirname(path)
    for candidate in (directory, os.path.realpath(directory)):
        name = parse_partition(os.path.basename(candidate))
        if name is not None:
            return name.topic, name.partition
    return None


def _beside(path: str, name: LogFileName, kind: str) -> str | None:
    if name.kind == "kafka":
        return None
    suffix = "" if name.state is None else f".{name.state}"
    side_file = os.path.join(os.path.dirname(path), f"{name.base_offset:020d}.{kind}{suffix}")
    try:
        return side_file if stat.S_ISREG(os.lstat(side_file).st_mode) else None
    except OSError:
        return None
