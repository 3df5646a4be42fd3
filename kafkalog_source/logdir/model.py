"""What a listing tells: partitions, their segments, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Listing", "PackedSegments", "PartitionLog", "SegmentFile", "Skipped"]


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """One segment as it lay on disk when it was listed.

    Attributes
    ----------
    path : str
        Absolute path.
    base_offset : int
        The offset in its name.
    size, mtime_ns, inode : int
        Of that one ``stat``: enough to notice later that the file is another one.
    offset_index, time_index, txn_index, snapshot : str or None
        Side files of the same base offset that are there as regular files. None has been opened.
    is_07 : bool
        Whether it is a segment of Kafka 0.7, by its name; such a partition has no others.
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
    """Segments of a partition that are there only compressed, so that nothing of them is read.

    Attributes
    ----------
    first : str
        The path of the first one; of an archive where there is no segment at all.
    count : int
    unpacker : str
        The command that unpacks the first one.
    """

    first: str
    count: int
    unpacker: str


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """A partition and its segments, as a broker's start would leave them.

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
        A single segment given by its own path: shown as it is, without its neighbours.
    log_start_offset : int or None
        From the log dir's ``log-start-offset-checkpoint``; None if it says nothing.
    high_watermark : int or None
        From ``replication-offset-checkpoint``, which lags behind by some seconds; None if it says nothing.
    cleaned : bool
        Listed in the log dir's ``cleaner-offset-checkpoint``: gaps in offsets are to be expected.
    is_cut : bool
        Whether more is on disk than counts: the last segment's file may be larger, and more segments may follow.
    inode : int
        Of `path` when it was listed.
    has_log_starts : bool
        Whether the log dir's ``log-start-offset-checkpoint`` could be read. A broker leaves out of it only what
        begins with its first segment.
    packed : PackedSegments or None
        Segments that are there only compressed.
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


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was seen and does not belong to what is read, and why.

    Attributes
    ----------
    path, reason : str
    is_foreign : bool
        Whether it is no file of Kafka's at all.
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
        In the order they were seen.
    warnings : tuple of str
        Damaged checkpoints and interrupted compactions, with what was done about them.
    """

    partitions: tuple[PartitionLog, ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...]
