"""The result of a listing: partitions, their segments, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalog_source.format import MAX_OFFSET

__all__ = ["Listing", "PackedSegments", "PartitionLog", "SegmentFile", "Skipped"]


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """One segment as it was on disk when it was listed.

    Attributes
    ----------
    path : str
        Absolute path.
    base_offset : int
        The offset in its name.
    size, mtime_ns, inode : int
        From a single ``stat``: enough to notice later that the file was replaced.
    offset_index, time_index, txn_index, snapshot : str or None
        Paths of the side files with the same base offset that exist as regular files. None has been opened.
    is_07 : bool
        Whether its name is that of a Kafka 0.7 segment; all segments of such a partition are.
    """

    path: str
    base_offset: int
    size: int
    mtime_ns: int
    inode: int
    offset_index: str | None = None
    time_index: str | None = None
    txn_index: str | None = None
    snapshot: str | None = None
    is_07: bool = False


@dataclass(frozen=True, slots=True)
class PackedSegments:
    """Segments of a partition that exist only in compressed form and are therefore not read.

    Attributes
    ----------
    first : str
        The path of the first one, or of an archive if the directory has no segment at all.
    count : int
    unpacker : str
        The command that unpacks the first one.
    """

    first: str
    count: int
    unpacker: str


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """A partition and the segments that a broker would keep on startup.

    Attributes
    ----------
    topic : str or None
        None for a single segment outside any ``topic-partition`` directory.
    partition : int or None
        As for `topic`.
    path : str
        The directory, or the segment's own path for a single segment.
    segments : tuple of SegmentFile
        By base offset.
    is_single_file : bool
        Whether it is a single segment given by its own path, read without its neighbours.
    log_start_offset : int or None
        From the log dir's ``log-start-offset-checkpoint``; None if it has no entry.
    high_watermark : int or None
        From ``replication-offset-checkpoint``, which lags by some seconds; None if it has no entry.
    cleaned : bool
        Listed in the log dir's ``cleaner-offset-checkpoint``: gaps in offsets are to be expected.
    is_cut : bool
        Whether the log was truncated for this read: the last segment's file may be larger than its `size`, and more
        segments may follow on disk.
    inode : int
        Of `path` when it was listed.
    has_log_starts : bool
        Whether the log dir's ``log-start-offset-checkpoint`` could be read. A broker leaves out of it only partitions
        whose log start offset is the base offset of their first segment.
    packed : PackedSegments or None
        Segments that exist only in compressed form.
    """

    topic: str | None
    partition: int | None
    path: str
    segments: tuple[SegmentFile, ...]
    is_single_file: bool = False
    log_start_offset: int | None = None
    high_watermark: int | None = None
    cleaned: bool = False
    is_cut: bool = False
    inode: int = 0
    has_log_starts: bool = True
    packed: PackedSegments | None = None

    @property
    def bounds(self) -> list[int]:
        """For each segment, the offset that all of its own lie below: the next segment's base offset."""
        return [*(each.base_offset for each in self.segments[1:]), MAX_OFFSET]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or directory that is not read, and why.

    Attributes
    ----------
    path, reason : str
    is_foreign : bool
        Whether it is not one of Kafka's files.
    """

    path: str
    reason: str
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Everything that `list_logs` found.

    Attributes
    ----------
    partitions : tuple of PartitionLog
        By topic and partition; segments without a topic come last.
    skipped : tuple of Skipped
        In the order in which they were found.
    warnings : tuple of str
        Damaged checkpoints and interrupted compactions, and how each was handled.
    others : frozenset of str
        The topics that were found and not wanted, to suggest them for misspelt ones.
    """

    partitions: tuple[PartitionLog, ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...]
    others: frozenset[str] = frozenset()
