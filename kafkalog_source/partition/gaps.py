"""Gaps between segments: offsets after the end of one segment and before the start of the next.

Compaction leaves such gaps, and so does a lost segment. The last offset of a segment
is known once it has been read, so that the check costs nothing in the usual case. Only
if there is a gap and the log dir's checkpoint does not list the partition as compacted,
all its headers are walked: only compaction leaves gaps inside segments as well.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, KafkaLogError, printable
from kafkalog_source.logdir import list_partition_again
from kafkalog_source.partition.moved_files import has_changed, until_files_stay
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.partition.one_batch import rows_of_batch
from kafkalog_source.partition.splits import Continuation
from kafkalog_source.segment.entries import walk_headers
from kafkalog_source.segment.source import LocalFile

if TYPE_CHECKING:
    from kafkalog_source.logdir import PartitionLog
    from kafkalog_source.options.read_options import ReadOptions
    from kafkalog_source.partition.splits import SplitRange
    from kafkalog_source.segment.entries import EntryHeader
    from kafkalog_source.segment.seek import SegmentPlace


def continuation_of(log: PartitionLog, number: int, high: int) -> Continuation | None:
    """The segment after segment `number`, for a read of offsets below `high`; None for the last segment.

    Also None for Kafka 0.7, where missing segments are found by names and sizes before anything is read.
    """
    if number + 1 == len(log.segments) or log.segments[number].is_07:
        return None
    following = log.segments[number + 1]
    return Continuation(following.path, following.base_offset, min(following.base_offset, high), log.cleaned)


class GapChecks:
    """Decides whether missing offsets are data loss; each reading thread has its own.

    Attributes
    ----------
    bytes_read : int
        Bytes read for these checks.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._compacted: dict[str, bool] = {}
        self.bytes_read = 0

    def check(self, each: SplitRange, next_offset: int) -> str | None:
        """Compare the offset after the last one of a segment with the base offset of the next segment.

        Returns
        -------
        str or None
            A warning, None if no wanted offset is missing.

        Raises
        ------
        DataLossError
            If wanted offsets are missing from a log that was never compacted, and failOnDataLoss=true.
        """
        follows = each.continuation
        if follows is None or next_offset >= follows.wanted_below:
            return None
        gap = f"{next_offset} to {follows.base_offset - 1}"
        if follows.cleaned or self.is_compacted(os.path.dirname(each.path)):
            return (
                f"{printable(each.path)}: offsets {gap} are neither in this segment nor in the next one, "
                f"{printable(follows.path)}: as the partition was compacted, the log cleaner may have removed them, "
                "or a segment is missing"
            )
        error = DataLossError(
            f"offsets {gap} are not on disk: a segment is missing after this one",
            file=each.path,
            found=f"{printable(follows.path)} as the next segment",
            expected=f"one that begins at offset {next_offset}",
            remedy="Restore the missing segment, or set failOnDataLoss=false to read what is on disk",
        )
        if self._options.fail_on_data_loss:
            raise error
        return str(error)

    def is_compacted(self, directory: str) -> bool:
        """Whether offsets are missing inside segments, which only compaction causes."""
        if directory not in self._compacted:
            self._compacted[directory] = until_files_stay(lambda: self._has_gaps(directory), ())
        return self._compacted[directory]

    def _has_gaps(self, directory: str) -> bool:
        return any(self._has_gap(place) for place in PartitionOffsets(list_partition_again(directory)).places())

    def _has_gap(self, place: SegmentPlace) -> bool:
        """Whether offsets are missing inside a segment; damage is ignored, since reading the segment reports it."""
        try:
            with LocalFile(place.path) as source:
                try:
                    return self._leaves_out(source, place)
                finally:
                    self.bytes_read += source.bytes_read
        except KafkaLogError as error:
            if has_changed(error):
                raise
            return False

    def _leaves_out(self, source: LocalFile, place: SegmentPlace) -> bool:
        expected = place.least
        for header in walk_headers(source, 0, place.least, place.bound):
            first, count = header.first_offset, header.record_count
            if count is None:
                first, count = self._inside(source, header, place)
            if first > expected or count <= header.last_offset - first:
                return True
            expected = header.next_offset
        return False

    def _inside(self, source: LocalFile, header: EntryHeader, place: SegmentPlace) -> tuple[int, int]:
        """The first offset in a v0 or v1 wrapper and the number of offsets, neither of which is in its header."""
        first, count = header.last_offset, 0
        for rows in rows_of_batch(source, header, place, ["offset"], place.least, self._options):
            first = min(first, rows.column("offset")[0].as_py())
            count += rows.num_rows
        return first, count
