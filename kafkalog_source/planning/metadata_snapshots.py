"""Snapshots of the metadata log, which hold batches as a segment does (``Snapshots``, ``BootstrapDirectory``, 4.4)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkalog_source.format import MAX_OFFSET, METADATA_BOOTSTRAP, METADATA_SNAPSHOT
from kafkalog_source.logdir.access import files
from kafkalog_source.partition.splits import SplitRange
from kafkalog_source.segment.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["snapshot_ranges"]

_TOPIC, _PARTITION = "__cluster_metadata", 0


def snapshot_ranges(log_dirs: Iterable[str], partitions: Iterable[str]) -> list[SplitRange]:
    """The whole of every snapshot, by file name.

    Parameters
    ----------
    log_dirs, partitions : iterable of str
        Log dirs, where ``bootstrap.checkpoint`` lies, and directories of the metadata log's partition.
    """
    found = [entry for log_dir in log_dirs for entry in files(log_dir) if entry.name == METADATA_BOOTSTRAP]
    found += [entry for path in partitions for entry in files(path) if METADATA_SNAPSHOT.fullmatch(entry.name)]
    return [_range(entry) for entry in found]


def _range(entry: os.DirEntry[str]) -> SplitRange:
    status = entry.stat()
    # Offsets in a snapshot are its own and begin with 0, whatever offset it was taken at.
    span = Span(0, status.st_size, 0, MAX_OFFSET, MAX_OFFSET, to_file_end=True, torn_is_benign=False)
    return SplitRange(entry.path, _TOPIC, _PARTITION, span, 0, MAX_OFFSET, status.st_size, status.st_ino)
