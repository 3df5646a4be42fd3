"""A log directory that grows: batches are appended, indexed as a broker would, and segments rolled."""

from __future__ import annotations

import random
import struct
import threading
from dataclasses import dataclass, field
from pathlib import Path

from tests.builders import Batch, Record, partition_dir

_INDEX_INTERVAL = 4096
_CODECS = ("none", "lz4", "zstd", "gzip", "snappy")


@dataclass
class GrowingPartition:
    """One partition that is written to; the value of a record says where it is."""

    root: Path
    topic: str
    partition: int
    chance: random.Random
    segment_bytes: int = 40_000
    next_offset: int = 0
    _base: int = 0
    _size: int = 0
    _indexed: int = 0

    def append(self, count: int) -> None:
        """Write one batch, half of it first, and roll the segment when it is full."""
        directory = partition_dir(self.root, self.topic, self.partition)
        if self._size >= self.segment_bytes:
            self._base, self._size, self._indexed = self.next_offset, 0, 0
        first = self.next_offset
        records = [Record(value=self.value(first + i)) for i in range(count)]
        data = Batch(records, first, codec=self.chance.choice(_CODECS)).encode()
        with (directory / f"{self._base:020d}.log").open("ab", buffering=0) as file:
            half = self.chance.randrange(len(data))
            file.write(data[:half])
            file.write(data[half:])
        if self._size - self._indexed > _INDEX_INTERVAL:
            with (directory / f"{self._base:020d}.index").open("ab") as index:
                index.write(struct.pack(">ii", first + count - 1 - self._base, self._size))
            self._indexed = self._size
        self._size += len(data)
        self.next_offset += count

    def value(self, offset: int) -> bytes:
        """What the record at `offset` holds."""
        return f"{self.topic}-{self.partition}-{offset}".encode().ljust(60, b".")


@dataclass
class Growing:
    """A context in which a thread writes to some partitions; a new one comes now and then."""

    root: Path
    seed: int
    pause_seconds: float = 0.01
    most_partitions: int = 5
    partitions: list[GrowingPartition] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._add()

    def __enter__(self) -> Growing:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def ends(self) -> dict[int, int]:
        """The offset after the last one of each partition."""
        return {each.partition: each.next_offset for each in self.partitions}

    def _add(self) -> None:
        number = len(self.partitions)
        self.partitions.append(GrowingPartition(self.root, "grows", number, random.Random(self.seed + number)))
        self.partitions[-1].append(1)

    def _run(self) -> None:
        while not self._is_over.wait(self.pause_seconds):
            if len(self.partitions) < self.most_partitions and self._chance.random() < 0.001:
                self._add()
            self._chance.choice(self.partitions).append(self._chance.randint(1, 30))
