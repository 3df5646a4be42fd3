"""The copies of the metadata log in some paths, and where each can be read from.

Every node of a cluster keeps a copy: controllers in their metadata log dir, brokers in one of their log dirs.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafkalog_source.format import METADATA_BOOTSTRAP
from kafkalog_source.logdir import list_logs
from kafkalog_source.logdir.access import entries
from kafkalog_source.logdir.given_log_dirs import given_log_dirs
from kafkalog_source.logdir.globs import expand
from kafkalog_source.logdir.names import parse_partition
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.partition.splits import Split, SplitRange
from kafkalog_source.planning.metadata_snapshots import snapshot_ranges
from kafkalog_source.planning.plan import plan_ranges
from kafkalog_source.planning.ranges import Ranges
from kafkalog_source.reading.read import make_reader
from kafkalog_source.reporting.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions

__all__ = ["Copy", "Snapshot", "find_copies", "last_time_ms", "read_bootstrap"]

TOPIC = "__cluster_metadata"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of the metadata log.

    Attributes
    ----------
    end_offset : int
        It holds what the records below this offset made.
    epoch : int
        The leader epoch of the last of these records.
    range : SplitRange
    """

    end_offset: int
    epoch: int
    range: SplitRange

    @property
    def path(self) -> str:
        """The file."""
        return self.range.path


@dataclass(slots=True)
class Copy:
    """One node's copy of the metadata log.

    Attributes
    ----------
    log : PartitionLog
    snapshots : tuple of Snapshot
        By offset.
    options : ReadOptions
    offsets : PartitionOffsets or None
        Those of the segments; None if there are none.
    """

    log: PartitionLog
    snapshots: tuple[Snapshot, ...]
    options: ReadOptions
    offsets: PartitionOffsets | None = field(init=False)

    def __post_init__(self) -> None:
        """Look up the offsets, when they are asked for, once."""
        self.offsets = PartitionOffsets(self.log) if self.log.segments else None

    @property
    def log_dir(self) -> str:
        """The log dir that it lies in."""
        return os.path.dirname(self.directory)

    @property
    def directory(self) -> str:
        """The partition's directory."""
        return os.path.dirname(self.log.path) if self.log.is_single_file else self.log.path

    @property
    def end(self) -> int:
        """The offset after the last one that is known of."""
        in_log = 0 if self.offsets is None else self.offsets.end
        return max([in_log, *(each.end_offset for each in self.snapshots[-1:])])

    def snapshot_time(self, snapshot: Snapshot) -> int | None:
        """The time of the last record that a snapshot stands for, in milliseconds; None if it does not say."""
        for batch in self.read_snapshot(snapshot, ("recordType", "valueJson")):
            for row in batch.slice(0, 1).to_pylist():
                if row["recordType"] == "SNAPSHOT_HEADER" and row["valueJson"] is not None:
                    time: int = json.loads(row["valueJson"])["lastContainedLogTimestamp"]
                    # Of the snapshots that are written when a log dir is formatted.
                    return None if time <= 0 else time
            break
        return None

    def first_time(self) -> int | None:
        """The time of the first record in the log, in milliseconds."""
        for batch in self.read_log(0, 1, ("timestamp",)):
            return last_time_ms(batch.slice(0, 1))
        return None

    def read_log(self, low: int, high: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the records with offsets in [low, high), as rows of the view.

        Raises
        ------
        KafkaLogError
            For damage.
        """
        if self.log.segments:
            splits = plan_ranges(self.options, [self.log], _Between(low, high), Report()).splits
            yield from self._read(splits, columns)

    def read_snapshot(self, snapshot: Snapshot, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the records of a snapshot, its control records among them.

        Raises
        ------
        KafkaLogError
            For damage.
        """
        return self._read([Split((snapshot.range,))], columns)

    def _read(self, splits: Sequence[Split], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        reader = make_reader(self.options, columns)
        for split in splits:
            yield from reader.read(split)


def last_time_ms(batch: pa.RecordBatch) -> int | None:
    """The timestamp of the last row, in milliseconds."""
    *_, time_us = batch.column("timestamp").cast("int64").slice(len(batch) - 1).to_pylist()
    return None if time_us is None else time_us // 1000


class _Between(Ranges):
    """A range that is known already."""

    def __init__(self, low: int, high: int) -> None:
        self._range = low, high

    def range_of(self, offsets: PartitionOffsets) -> tuple[int, int]:
        return self._range


def find_copies(options: ReadOptions) -> list[Copy]:
    """The copies in the paths of a read, those with the longest history first.

    Parameters
    ----------
    options : ReadOptions
        With the view ``cluster_metadata``.

    Raises
    ------
    LogDirError
        If a path is missing or unreadable.
    """
    found: dict[str, Copy] = {}
    for path in options.paths:
        for given in expand(path, options.follow_symlinks):
            if _is_only_formatted(given.path):
                continue
            # Each on its own: several nodes have the same partition, which is an error for any other.
            listing = list_logs([given.path], wanted=options.wants, follow_symlinks=options.follow_symlinks)
            for log in listing.partitions:
                if log.topic == TOPIC:
                    found[log.path] = _copy(log, options)
    copies = [copy for copy in found.values() if copy.log.segments or copy.snapshots]
    return sorted(copies, key=_length, reverse=True) if len(copies) > 1 else copies


def read_bootstrap(options: ReadOptions, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Read ``bootstrap.checkpoint`` of the log dirs in the paths: the records that they were formatted with."""
    reader = make_reader(options, columns)
    for each in snapshot_ranges(given_log_dirs(options.paths, options.follow_symlinks), [])[:1]:
        yield from reader.read(Split((each,)))


def _is_only_formatted(path: str) -> bool:
    """Whether a log dir holds no partition yet, but what it was formatted with."""
    if not os.path.isfile(os.path.join(path, METADATA_BOOTSTRAP)):
        return False
    return not any(parse_partition(entry.name) for entry in entries(path))


def _copy(log: PartitionLog, options: ReadOptions) -> Copy:
    # In the order of names, and so of offsets.
    ranges = [] if log.is_single_file else snapshot_ranges([], [log.path])
    return Copy(log, tuple(_snapshot(each) for each in ranges), options)


def _snapshot(found: SplitRange) -> Snapshot:
    end_offset, epoch = os.path.basename(found.path).removesuffix(".checkpoint").split("-")
    return Snapshot(int(end_offset), int(epoch), found)


def _length(copy: Copy) -> tuple[int, int]:
    """The epoch and the offset after the last record: of two copies that disagree, the higher epoch is right."""
    lengths = [(each.epoch, each.end_offset) for each in copy.snapshots[-1:]]
    if copy.offsets is not None:
        end = copy.offsets.end
        for batch in copy.read_log(end - 1, end, ("leaderEpoch",)):
            lengths += [(epoch, end) for epoch in batch.column(0).to_pylist()]
    return max(lengths, default=(-1, -1))
