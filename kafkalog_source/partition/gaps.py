"""Gaps between segments: offsets after the end of one segment and before the start of the next.

Compaction leaves such gaps, and so does a lost segment. The last offset of a segment
is known once it has been read, so that the check costs nothing in the usual case. Only
if there is a gap and the log dir's checkpoint does not list the partition as compacted,
all its headers are walked: only compaction leaves gaps inside segments as well.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, KafkaLogError, printable
from kafkalog_source.logdir import list_partition_again
from kafkalog_source.partition.moved_files import has_changed, until_files_stay
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.partition.one_batch import rows_of_batch
from kafkalog_source.partition.splits import Continuation
from kafkalog_source.segment.damage.description import Damage, Kind
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


def missing_region(file: str, size: int, first_offset: int, following: str, base_offset: int) -> Damage:
    """The offsets that are in no segment, as a region of no bytes at the end of the segment before them.

    Parameters
    ----------
    file : str
        The segment before the gap.
    size : int
        Its size in bytes.
    first_offset : int
        The first missing offset.
    following : str
        The segment after the gap.
    base_offset : int
        Its base offset.
    """
    return Damage(
        file,
        size,
        0,
        Kind.MISSING,
        "a segment is missing after this one",
        expected=f"a segment that begins at offset {first_offset}",
        first_offset=first_offset,
        last_offset=base_offset - 1,
        found=f"{printable(os.path.basename(following))} as the next segment",
    )


@dataclass(frozen=True, slots=True)
class Gap:
    """Offsets that are in no segment, some of them wanted.

    Attributes
    ----------
    region : Damage
        Of kind `MISSING`, at the end of the segment before the gap.
    error : DataLossError or None
        That a segment is missing; None if the log cleaner may have removed the offsets.
    warning : str
    """

    region: Damage
    error: DataLossError | None
    warning: str


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

    def find(self, each: SplitRange, next_offset: int) -> Gap | None:
        """Compare the offset after the last one of a segment with the base offset of the next segment.

        Returns
        -------
        Gap or None
            None if no wanted offset is missing.
        """
        follows = each.continuation
        if follows is None or next_offset >= follows.wanted_below:
            return None
        region = missing_region(each.path, each.file_size, next_offset, follows.path, follows.base_offset)
        gap = f"{next_offset} to {follows.base_offset - 1}"
        if follows.cleaned or self.is_compacted(os.path.dirname(each.path)):
            text = (
                f"{printable(each.path)}: offsets {gap} are neither in this segment nor in the next one, "
                f"{printable(follows.path)}: as the partition was compacted, the log cleaner may have removed them, "
                "or a segment is missing"
            )
            return Gap(region, None, text)
        error = DataLossError(
            f"offsets {gap} are not on disk: a segment is missing after this one",
            file=each.path,
            found=f"{printable(follows.path)} as the next segment",
            expected=f"one that begins at offset {next_offset}",
            remedy="Restore the missing segment, or set failOnDataLoss=false to read what is on disk",
        )
        return Gap(region, error, error.without_remedy())

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
