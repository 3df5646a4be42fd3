"""A partition directory with indexes, snapshots and checkpoints, as after a clean shutdown."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from tests.builders.disk import Entry, offset_index, partition_dir, time_index, write_segment

TOPIC_ID = "0F8ErRbvS3aaKgTFBQzTpA"


def positions(entries: Sequence[Entry]) -> list[int]:
    """Return the position of each entry."""
    found, position = [], 0
    for entry in entries:
        found.append(position)
        position += len(entry.encode())
    return found


def write_indexed(
    directory: Path, entries: Sequence[Entry], *, base_offset: int = 0, times: Sequence[int] = (), interval: int = 300
) -> Path:
    """Write a segment with the indexes that a broker builds for it.

    `times` are the largest timestamps of the entries; without them the time index is empty.
    """
    points: list[tuple[int, int]] = []
    timed: list[tuple[int, int]] = []
    last = 0
    largest = (-1, base_offset)
    for number, (entry, position) in enumerate(zip(entries, positions(entries), strict=True)):
        if times and times[number] > largest[0]:
            largest = (times[number], entry.last_offset)
        if position - last > interval:
            points.append((entry.last_offset, position))
            last = position
            if largest[0] > (timed[-1][0] if timed else -1):
                timed.append(largest)
    if largest[0] > (timed[-1][0] if timed else -1):
        timed.append(largest)
    return write_segment(
        directory,
        entries,
        base_offset=base_offset,
        index=offset_index(points, base_offset=base_offset),
        timeindex=time_index(timed, base_offset=base_offset),
    )


def write_partition(root: Path, topic: str = "topic", partition: int = 0, topic_id: str = TOPIC_ID) -> Path:
    """Create a partition directory with its metadata files."""
    directory = partition_dir(root, topic, partition)
    (directory / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}")
    (directory / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    return directory


def write_checkpoint(path: Path, offsets: dict[tuple[str, int], int]) -> None:
    """Write a checkpoint of a log dir."""
    lines = [f"{topic} {partition} {offset}\n" for (topic, partition), offset in offsets.items()]
    path.write_text(f"0\n{len(lines)}\n{''.join(lines)}")


def read_entries(path: Path, layout: str) -> list[tuple[int, ...]]:
    """Return the entries of an index."""
    return list(struct.iter_unpack(layout, path.read_bytes()))
