"""A log directory for the jobs: one topic, to which more can be written."""

from __future__ import annotations

import random
from pathlib import Path

from tests.builders import Batch, Record, partition_dir, write_segment

DAY_MS = 86_400_000
START_MS = 1_767_225_600_000
"""Midnight of the first of January 2026, UTC."""


class GrowingLog:
    """Records whose value says where they are, in batches of `batch` records over several days."""

    def __init__(self, root: Path, partitions: int = 2, batch: int = 10, value_size: int = 20) -> None:
        self.root = root
        self.batch = batch
        self.value_size = value_size
        self.ends = dict.fromkeys(range(partitions), 0)
        self._random = random.Random(1)

    def append(self, batches: int, days: int = 2) -> None:
        """Write a segment of so many batches to each partition."""
        for partition, end in self.ends.items():
            content = [
                self._batch(partition, end + number * self.batch, START_MS + (number % days) * DAY_MS)
                for number in range(batches)
            ]
            write_segment(partition_dir(self.root, "orders", partition), content, base_offset=end)
            self.ends[partition] += batches * self.batch

    def _batch(self, partition: int, first: int, timestamp_ms: int) -> Batch:
        records = [Record(key=None, value=self._value(partition, first + i)) for i in range(self.batch)]
        return Batch(records, first, base_timestamp=timestamp_ms)

    def _value(self, partition: int, offset: int) -> bytes:
        # Noise keeps codecs from making all files small.
        return f"{partition}-{offset} ".encode() + self._random.randbytes(self.value_size)

    @property
    def places(self) -> list[tuple[int, int]]:
        """Every record's partition and offset, in order."""
        return [(partition, offset) for partition, end in self.ends.items() for offset in range(end)]


def forget_last_commit(checkpoint: Path) -> None:
    """Put a checkpoint into the state after a crash between a write and Spark's note of it."""
    commits = checkpoint / "commits"
    last = max(int(path.name) for path in commits.iterdir() if path.name.isdigit())
    for name in (str(last), f".{last}.crc"):
        (commits / name).unlink()
