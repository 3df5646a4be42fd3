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
    """The offsets of one partition, looked up on first access.

    Attributes
    ----------
    log : PartitionLog
    include_deleted : bool
        Whether to include deleted records that are still on disk, below the log start offset.
    bytes_read : int
        Bytes read to look up offsets.
    """

    log: PartitionLog
    include_deleted: bool = False
    bytes_read: int = 0
    _end: int | None = field(default=None, init=False)
    _remote: list[RemotePart | None] = field(default_factory=list, init=False)

    @property
    def earliest(self) -> int:
        """The first offset that may be on disk and is not deleted, or is included nevertheless."""
        first = self.log.segments[0].base_offset
        return first if self.include_deleted else max(first, self.log.log_start_offset or 0)

    @property
    def remote(self) -> RemotePart | None:
        """The offsets below the first segment that are in remote storage or missing; None if there are none."""
        if not self._remote:
            self._remote.append(remote_part(self.log))
        return self._remote[0]

    @property
    def latest(self) -> int:
        """The offset after the last one on disk, but not below `earliest`."""
        return max(self.earliest, self.end)

    @property
    def end(self) -> int:
        """The offset after the last one on disk, even if it is below the log start offset."""
        if self._end is None:
            self._end = self._look_up_end()
        return self._end

    def places(self) -> list[SegmentPlace]:
        """The segments, each with the range of offsets that it may hold."""
        segments = self.log.segments
        ends = [None] * (len(segments) - 1) + [segments[-1].size if self.log.is_cut else None]
        return [
            SegmentPlace(each.path, each.base_offset, bound, each.offset_index, each.time_index, each.is_07, end)
            for each, bound, end in zip(segments, self.log.bounds, ends, strict=True)
        ]

    def origin(self, high: int) -> Origin:
        """The identity of the log, by which a task later finds offsets below `high` again if files have changed.

        If `high` is unbounded, the log's end is looked up by the last segment's index. Without an index this would
        take a walk over all its headers, for files that most often do not change.
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
        """Whether `offset` is at most the end of the log, or at most `earliest` if everything on disk is deleted."""
        return offset <= self.earliest or self.is_within_end(offset)

    def is_within_end(self, offset: int) -> bool:
        """Whether `offset` is at most the end of the log, which is searched for after damage as well."""
        return offset <= self.end or offset <= self.end_behind_damage()

    def end_behind_damage(self) -> int:
        """The offset after the last intact batch, including batches after damage."""
        self._end = self._look_up_end(behind_damage=True)
        return self._end

    def _look_up_end(self, *, behind_damage: bool = False) -> int:
        # If the last segment holds no batch yet, the log ends at its base offset.
        last = self.places()[-1]
        with open_seeker(last) as seeker:
            header = seeker.last_header(behind_damage=behind_damage)
            self.bytes_read += seeker.bytes_read
        return last.least if header is None else header.next_offset
