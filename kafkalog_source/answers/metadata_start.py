"""Where to begin to read the metadata log for the image at a point of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.errors import DataLossError, KafkaLogError, OptionError
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.options.times import iso_text
from kafkalog_source.partition.time_offsets import offset_at_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafkalog_source.answers.metadata_copies import Copy, Snapshot

__all__ = ["Point", "Start", "find_start"]


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the metadata log; its end if neither is given.

    Attributes
    ----------
    offset : int or None
        The last offset that counts.
    time_ms : int or None
        Records count up to the first one with a later timestamp.
    """

    offset: int | None = None
    time_ms: int | None = None

    @property
    def is_end(self) -> bool:
        """Whether all records count."""
        return self.offset is None and self.time_ms is None


@dataclass(frozen=True, slots=True)
class Start:
    """What to read: the snapshot, or nothing if the log begins with offset 0; then [low, high) of the log.

    Attributes
    ----------
    copy : Copy
    snapshot : Snapshot or None
    low, high : int
    """

    copy: Copy
    snapshot: Snapshot | None
    low: int
    high: int


def find_start(copies: Sequence[Copy], point: Point) -> Start:
    """Choose the first copy that reaches back to the point.

    Raises
    ------
    OptionError, DataLossError
        None of them does; the error is that of the first copy.
    """
    problem: KafkaLogError | None = None
    for copy in copies:
        try:
            return _start(copy, point)
        except (OptionError, DataLossError) as error:
            problem = problem or error
    raise problem or OptionError("there is no metadata log")


def _start(copy: Copy, point: Point) -> Start:
    bound = _bound(copy, point)
    first = None if copy.offsets is None else copy.offsets.earliest
    for snapshot in reversed(copy.snapshots):
        if snapshot.end_offset <= bound and _is_in_time(copy, snapshot, point):
            needed = min(bound, copy.end)
            if snapshot.end_offset < needed and (first is None or first > snapshot.end_offset):
                raise _gap(snapshot, first, needed)
            return Start(copy, snapshot, snapshot.end_offset, bound)
    if first == 0 and bound > 0:
        return Start(copy, None, 0, bound)
    raise _too_early(copy, point)


def _gap(snapshot: Snapshot, first: int | None, needed: int) -> DataLossError:
    return DataLossError(
        "the records of the metadata log after the nearest snapshot are missing",
        file=snapshot.path,
        found="no log" if first is None else f"a log that begins at offset {first}",
        expected=f"the offsets {snapshot.end_offset} to {needed - 1}",
        remedy=f"Ask for offset {snapshot.end_offset - 1} with --at-offset",
    )


def _bound(copy: Copy, point: Point) -> int:
    """The offset that the point lies before; `MAX_OFFSET` for all."""
    if point.offset is not None:
        if point.offset >= copy.end:
            raise OptionError(
                "--at-offset is after the end of the metadata log",
                found=point.offset,
                expected=f"{copy.end - 1} or less",
                remedy="Leave it out for the last state",
            )
        return point.offset + 1
    if point.time_ms is None or copy.offsets is None:
        return MAX_OFFSET
    found = offset_at_time(copy.offsets, point.time_ms + 1, copy.options)
    return MAX_OFFSET if found is None else found


def _is_in_time(copy: Copy, snapshot: Snapshot, point: Point) -> bool:
    """Whether all that a snapshot stands for is old enough; the records before it may be gone from the log."""
    if point.time_ms is None:
        return True
    time = copy.snapshot_time(snapshot)
    return time is None or time <= point.time_ms


def _too_early(copy: Copy, point: Point) -> KafkaLogError:
    oldest = copy.snapshots[0] if copy.snapshots else None
    begins_at_zero = copy.offsets is not None and copy.offsets.earliest == 0
    if oldest is None and not begins_at_zero:
        return DataLossError(
            "the metadata log begins after offset 0, and there is no snapshot",
            file=copy.log.path,
            found="no file of the form OFFSET-EPOCH.checkpoint",
            remedy="Give the whole directory, or another node's log dir too",
        )
    in_log = oldest is None or (begins_at_zero and oldest.end_offset > 0)
    if point.time_ms is None:
        name, found = "--at-offset", str(point.offset)
        first = str(0 if in_log or oldest is None else max(0, oldest.end_offset - 1))
    else:
        name, found = "--at", iso_text(point.time_ms)
        time = copy.first_time() if in_log or oldest is None else copy.snapshot_time(oldest)
        first = "a later time" if time is None else iso_text(time)
    return OptionError(
        f"{name} is before the metadata that is on disk",
        file=copy.log.path,
        found=found,
        expected=f"{first} or later",
        remedy="Older records are deleted once a snapshot holds what they made",
    )
