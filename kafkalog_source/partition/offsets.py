"""The offsets that a partition holds on disk, from names, checkpoints and headers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.logdir.absent import RemotePart, remote_part
from kafkalog_source.partition.moved_files import check_inode
from kafkalog_source.partition.splits import Origin
from kafkalog_source.segment.opening import open_seeker
from kafkalog_source.segment.seek import SegmentPlace

if TYPE_CHECKING:
    from kafkalog_source.logdir import PartitionLog


@dataclass(slots=True)
class PartitionOffsets:
    """The offsets of one partition, looked up when they are first asked for.

    Attributes
    ----------
    log : PartitionLog
    include_deleted : bool
        Whether records below the log start offset, which are deleted and still on disk, count.
    bytes_read : int
        Bytes that the looking up read.
    """

    log: PartitionLog
    include_deleted: bool = False
    bytes_read: int = 0
    _end: int | None = field(default=None, init=False)
    _remote: list[RemotePart | None] = field(default_factory=list, init=False)

    @property
    def earliest(self) -> int:
        """The first offset that may be on disk and counts."""
        first = self.log.segments[0].base_offset
        return first if self.include_deleted else max(first, self.log.log_start_offset or 0)

    @property
    def remote(self) -> RemotePart | None:
        """The offsets below the first segment that are in remote storage; None if there are none."""
        if not self._remote:
            self._remote.append(remote_part(self.log))
        return self._remote[0]

    @property
    def latest(self) -> int:
        """The offset after the last one on disk, and never below the earliest."""
        return max(self.earliest, self.end)

    @property
    def end(self) -> int:
        """The offset after the last one on disk, whatever of the log is deleted."""
        if self._end is None:
            self._end = self._look_up_end()
        return self._end

    def places(self) -> list[SegmentPlace]:
        """The segments with the range of offsets that each may hold."""
        segments = self.log.segments
        bounds = [each.base_offset for each in segments[1:]] + [MAX_OFFSET]
        ends = [None] * (len(segments) - 1) + [segments[-1].size if self.log.is_cut else None]
        return [
            SegmentPlace(each.path, each.base_offset, bound, each.offset_index, each.time_index, each.is_07, end)
            for each, bound, end in zip(segments, bounds, ends, strict=True)
        ]

    def origin(self, high: int) -> Origin:
        """What tells later whether the log still is the one that offsets below `high` were wanted of.

        Where `high` is no end of its own, the log's is looked up by the last segment's index. Without one that would
        take a walk over all its headers, for a file that will most often be what it is now.
        """
        last = self.log.segments[-1]
        if high < MAX_OFFSET or last.is_07 or last.offset_index is None or self.log.is_cut:
            return Origin(self.log.path, self.log.inode)
        if self._end is not None:
            return Origin(self.log.path, self.log.inode, self._end)
        with open_seeker(self.places()[-1]) as seeker:
            check_inode(seeker.source, last.inode)
            end = seeker.end_near_index()
            self.bytes_read += seeker.bytes_read
        return Origin(self.log.path, self.log.inode, end)

    def reaches(self, offset: int) -> bool:
        """Whether `offset` is at most the end of the log, or the earliest one if all before that is deleted."""
        return offset <= self.earliest or self.is_within_end(offset)

    def is_within_end(self, offset: int) -> bool:
        """Whether `offset` is at most the end of what is on disk, which may lie behind damage."""
        return offset <= self.end or offset <= self.end_behind_damage()

    def end_behind_damage(self) -> int:
        """The offset after the last one that is sound, also where it lies behind damage."""
        self._end = self._look_up_end(behind_damage=True)
        return self._end

    def _look_up_end(self, *, behind_damage: bool = False) -> int:
        # The last segment's base offset is an end of the log too: its batches may not be written yet.
        last = self.places()[-1]
        with open_seeker(last) as seeker:
            header = seeker.last_header(behind_damage=behind_damage)
            self.bytes_read += seeker.bytes_read
        return last.least if header is None else header.next_offset
