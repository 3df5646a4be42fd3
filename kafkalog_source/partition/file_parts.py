"""What a task reads for a view of files: plain data that travels to a worker."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalog_source.logdir.model import PartitionLog, SegmentFile


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file beside the segments of a partition.

    Attributes
    ----------
    topic : str or None
    partition : int or None
    path : str
    kind : str
        Its suffix: ``index``, ``timeindex``, ``txnindex`` or ``snapshot``.
    base_offset : int
        The offset in its name.
    size : int
        Bytes when it was listed.
    """

    topic: str | None
    partition: int | None
    path: str
    kind: str
    base_offset: int
    size: int


@dataclass(frozen=True, slots=True)
class SegmentPart:
    """A segment of a partition.

    Attributes
    ----------
    topic : str or None
    partition : int or None
    segment : SegmentFile
    bound : int
        Its offsets lie below this one: the next segment's base offset.
    is_active : bool or None
        Whether it is the partition's last segment; None if it was given by its own path.
    """

    topic: str | None
    partition: int | None
    segment: SegmentFile
    bound: int
    is_active: bool | None

    @property
    def path(self) -> str:
        """The segment's path."""
        return self.segment.path

    @property
    def size(self) -> int:
        """Bytes when it was listed."""
        return self.segment.size


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """A checkpoint or properties file of a log dir or of a partition.

    Attributes
    ----------
    topic : str or None
        The partition's whose directory holds the file; None for a file of the log dir.
    partition : int or None
        As for `topic`.
    path : str
    size : int
    """

    topic: str | None
    partition: int | None
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class LogPart:
    """All segments of a partition, which one task reads in order.

    Attributes
    ----------
    log : PartitionLog
    """

    log: PartitionLog

    @property
    def topic(self) -> str | None:
        """The partition's topic."""
        return self.log.topic

    @property
    def partition(self) -> int | None:
        """Its number."""
        return self.log.partition

    @property
    def path(self) -> str:
        """The first segment, or the partition's directory if there is none."""
        return self.log.segments[0].path if self.log.segments else self.log.path

    @property
    def size(self) -> int:
        """Bytes of all segments when they were listed."""
        return sum(each.size for each in self.log.segments)


Part = SideFile | SegmentPart | CheckpointFile | LogPart
