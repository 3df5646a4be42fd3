"""A stream without Spark: what its driver asks, in its order, and the rows of each micro-batch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafkalog_source.options.read_options import parse_options
from kafkalog_source.reading.read import make_reader
from kafkalog_source.streaming.positions import from_json, to_json
from kafkalog_source.streaming.stream import Stream
from tests.builders import Batch, Record, partition_dir

Row = tuple[str, int, int]
"""Topic, partition, offset."""


@dataclass
class Query:
    """A running query; its checkpoint outlives it."""

    path: Path
    options: dict[str, Any] = field(default_factory=dict)
    checkpoint: str | None = None
    available_now: bool = False
    meanwhile: Callable[[], object] = lambda: None
    """Happens between the plan of a micro-batch and its tasks."""

    def __post_init__(self) -> None:
        self.warnings: list[str] = []
        self.read_options = parse_options(self.options, [str(self.path)], streaming=True)
        self.stream = Stream(self.read_options, self.warnings.append)
        if self.available_now:
            self.stream.fix_target()
        if self.checkpoint is None:
            self.checkpoint = json.dumps(to_json(self.stream.initial()))

    @property
    def offsets(self) -> dict[str, dict[str, int]]:
        assert self.checkpoint is not None
        found: dict[str, dict[str, int]] = json.loads(self.checkpoint)
        return found

    def trigger(self, column: str = "offset") -> list[Any] | None:
        """One micro-batch: the rows' offsets by topic and partition, or None if Spark would start none."""
        start = from_json(self.offsets)
        end = json.dumps(to_json(self.stream.latest(start, is_limited=bool(self.read_options.trigger_bounds))))
        if end == self.checkpoint:
            return None
        rows = self.rows(start, from_json(json.loads(end)), column)
        self.checkpoint = end
        return rows

    def rows(self, start: dict[tuple[str, int], int], end: dict[tuple[str, int], int], column: str) -> list[Any]:
        reader = make_reader(self.read_options, ["topic", "partition", column])
        splits = self.stream.plan(start, end).splits
        self.meanwhile()
        found = [tuple(row.values()) for split in splits for rows in reader.read(split) for row in rows.to_pylist()]
        self.warnings += reader.report.warnings
        return found

    def to_end(self, column: str = "offset") -> list[list[Any]]:
        """Micro-batches until there is nothing new."""
        found = []
        while (rows := self.trigger(column)) is not None:
            found.append(rows)
            assert len(found) < 1000
        return found

    def restarted(self, **changes: Any) -> Query:
        """The query begun again from its checkpoint."""
        return Query(self.path, self.options, self.checkpoint, **changes)


def some(base: int, count: int = 1, **fields: Any) -> Batch:
    """A batch of `count` records from offset `base` on."""
    return Batch([Record() for _ in range(count)], base, **fields)


def append(root: Path, *batches: Batch, segment: int = 0, topic: str = "t", partition: int = 0) -> Path:
    """Write batches behind what is in a segment."""
    path = partition_dir(root, topic, partition) / f"{segment:020d}.log"
    with path.open("ab") as file:
        for batch in batches:
            file.write(batch.encode())
    return path
