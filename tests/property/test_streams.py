"""Whatever a broker does between micro-batches, and however these are bounded, a stream gives every record once."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

import kafkalog_source
from kafkalog_source.streaming.positions import from_json
from tests.builders import Batch, Record, end_marker, partition_dir
from tests.unit.streaming.streaming import Query

CODECS = ("none", "lz4", "zstd", "gzip", "snappy")


class Broker:
    """Writes a partition, rolls it, and restarts what reads it."""

    def __init__(self, root: Path, partition: int) -> None:
        self.directory = partition_dir(root, "t", partition)
        self.next_offset = self.base = 0
        self.pending = b""
        self.append(1, "none", 0)

    @property
    def path(self) -> Path:
        return self.directory / f"{self.base:020d}.log"

    def append(self, count: int, codec: str, kept_back: int) -> None:
        """Write a batch, but for its last bytes, which come with the next one."""
        data = Batch([Record() for _ in range(count)], self.next_offset, codec=codec).encode()
        written = len(data) - min(kept_back, len(data) - 1)
        with self.path.open("ab") as file:
            file.write(self.pending + data[:written])
        self.pending = data[written:]
        self.next_offset += count

    def flush(self) -> None:
        with self.path.open("ab") as file:
            file.write(self.pending)
        self.pending = b""

    def roll(self) -> None:
        self.flush()
        self.base = self.next_offset
        self.path.touch()


APPENDS = st.tuples(
    st.just("append"), st.integers(0, 1), st.integers(1, 9), st.sampled_from(CODECS), st.integers(0, 90)
)
OTHERS = st.tuples(st.sampled_from(["roll", "trigger", "restart", "again"]), st.integers(0, 1))
BOUNDS = st.fixed_dictionaries(
    {}, optional={"maxOffsetsPerTrigger": st.integers(1, 12), "maxBytesPerTrigger": st.integers(1, 500)}
)


@settings(deadline=None, max_examples=60)
@given(st.lists(APPENDS | OTHERS, max_size=40), BOUNDS, st.booleans())
def test_every_record_comes_once_and_in_order(
    steps: list[tuple[str, int, int, str, int]], bounds: dict[str, int], committed: bool
) -> None:
    options = bounds | ({"isolationLevel": "read_committed"} if committed else {})
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        brokers = [Broker(root, 0), Broker(root, 1)]
        query = Query(root, options)
        rows: list[tuple[str, int, int]] = []
        for name, partition, *how in steps:
            if name == "append":
                brokers[partition].append(*how)
            elif name == "roll":
                brokers[partition].roll()
            elif name == "trigger":
                rows += query.trigger() or []
            elif name == "again":
                # Killed before it was done: what was planned is planned again, by another process.
                start = from_json(query.offsets)
                lost = query.trigger() or []
                query = query.restarted()
                brokers[partition].append(1, "none", 0)
                assert query.rows(start, from_json(query.offsets), "offset") == lost
                rows += lost
            else:
                query = query.restarted()
        for broker in brokers:
            broker.flush()
        rows += [row for batch in query.to_end() for row in batch]
    for number, broker in enumerate(brokers):
        assert [row[2] for row in rows if row[1] == number] == list(range(broker.next_offset))


WRITES = st.tuples(st.just("write"), st.integers(0, 2), st.integers(1, 5))
ENDS = st.tuples(st.sampled_from(["commit", "abort"]), st.integers(0, 2), st.just(0))
MOVES = st.tuples(st.sampled_from(["plain", "roll", "trigger", "restart"]), st.just(0), st.just(0))


class Producers:
    """Writes transactions of three producers into one partition."""

    def __init__(self, root: Path) -> None:
        self.directory = partition_dir(root, "t")
        self.next_offset = self.base = 0
        self.open: set[int] = set()
        self.append()

    def append(self, *records: Record, **fields: Any) -> None:
        batch = Batch(records or [Record()], self.next_offset, **fields)
        with (self.directory / f"{self.base:020d}.log").open("ab") as file:
            file.write(batch.encode())
        self.next_offset += max(1, len(records))

    def step(self, name: str, producer: int, count: int) -> None:
        fields = {"transactional": True, "producer_id": producer}
        if name == "plain":
            self.append()
        elif name == "write":
            self.open.add(producer)
            self.append(*(Record() for _ in range(count)), **fields)
        elif name in ("commit", "abort") and producer in self.open:
            self.open.discard(producer)
            self.append(end_marker(commit=name == "commit"), control=True, **fields)
        elif name == "roll":
            self.base = self.next_offset


@settings(deadline=None, max_examples=60)
@given(st.lists(WRITES | ENDS | MOVES, max_size=40), BOUNDS)
def test_a_stream_of_committed_records_gives_what_one_read_gives(
    steps: list[tuple[str, int, int]], bounds: dict[str, int]
) -> None:
    committed = {"isolationLevel": "read_committed"}
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        producers = Producers(root)
        query = Query(root, committed | bounds)
        rows: list[tuple[str, int, int]] = []
        for name, producer, count in steps:
            if name == "trigger":
                rows += query.trigger() or []
            elif name == "restart":
                query = query.restarted()
            else:
                producers.step(name, producer, count)
        rows += [row for batch in query.to_end() for row in batch]
        read = kafkalog_source.scan(root, columns=["offset"], **committed).to_table()
    assert [row[2] for row in rows] == read["offset"].to_pylist()
