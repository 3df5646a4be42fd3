"""The positions of share groups, which are in ``__share_group_state`` and not among the committed offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafkalog_source.answers.group_records import rows_of
from kafkalog_source.reading.scan import scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["TOPIC", "SharePosition", "read_share_positions"]

TOPIC = "__share_group_state"
_COLUMNS = (
    "timestamp",
    "recordType",
    "isTombstone",
    "decodeError",
    "group",
    "topicId",
    "sharePartition",
    "startOffset",
    "deliveryCompleteCount",
    "writeTimestamp",
)
Place = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class SharePosition:
    """The position of a share group in a partition.

    Attributes
    ----------
    start_offset : int or None
        The first offset that the group is not done with; None if it has not been set yet.
    complete : int or None
        How many of the records from there on the group is done with; None if that was not recorded.
    written_us : int or None
        When it was written, in microseconds.
    """

    start_offset: int | None
    complete: int | None
    written_us: int | None


def read_share_positions(
    paths: Sequence[str], options: Mapping[str, Any], at_ms: int | None
) -> tuple[dict[Place, SharePosition], int]:
    """Read the positions as of the end of the log, or as of a time.

    Parameters
    ----------
    paths : sequence of str
        Partitions of ``__share_group_state``.
    options : mapping
        Further options of the read.
    at_ms : int or None

    Returns
    -------
    dict
        The positions by group, topic id and partition.
    int
        The number of records that could not be decoded, and were left out.
    """
    found: dict[Place, SharePosition] = {}
    undecoded = 0
    for batch in scan(paths, view="share_group_state", columns=_COLUMNS, **options).to_reader():
        for row in rows_of(batch):
            if row["decodeError"] is not None:
                undecoded += 1
            elif at_ms is None or row["timestamp"] is None or row["timestamp"] <= at_ms * 1000:
                _replay(found, row)
    return found, undecoded


def _replay(found: dict[Place, SharePosition], row: Mapping[str, Any]) -> None:
    """Replay a snapshot, or an update, of which nulls leave what was there."""
    place = (row["group"], row["topicId"], row["sharePartition"])
    if row["isTombstone"]:
        found.pop(place, None)
        return
    position = SharePosition(row["startOffset"], row["deliveryCompleteCount"], row["timestamp"])
    before = found.get(place)
    if row["recordType"] == "SHARE_UPDATE" and before is not None:
        start = before.start_offset if position.start_offset is None else position.start_offset
        complete = before.complete if position.complete is None else position.complete
        position = SharePosition(start, complete, position.written_us)
    found[place] = position
