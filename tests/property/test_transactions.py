"""Transactions of random histories, however the log is cut and whatever lies beside it, equal a simple model."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kafkalog_source
from kafkalog_source.segment import header_walk, reader
from tests.builders import partition_dir
from tests.property.histories import COMMITTED, History, Stored, cleaned, random_history, write_partition

SEEDS = st.integers(0, 2**64)
# Thousands of small files are written, most of whose time would be the disk's.
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
Segments = list[tuple[Path, list[Stored]]]


@contextmanager
def windows(rng: random.Random) -> Iterator[None]:
    """Read by windows of other sizes, so that short logs have the borders that long ones have."""
    sizes = [
        (reader, "FIRST_WINDOW_SIZE", [61, 300, 1 << 16]),
        (reader, "WINDOW_SIZE", [100, 500, 1 << 18]),
        (reader, "AHEAD_WINDOW_SIZE", [100, 1000, 1 << 21]),
        (header_walk, "_FIRST_SIZE", [61, 256, 4096]),
        (header_walk, "_WINDOW_SIZE", [256, 1000, 1 << 18]),
        (header_walk, "_SPARSE", [1, 100, 1 << 14]),
    ]
    with ExitStack() as stack:
        for module, name, choices in sizes:
            stack.enter_context(patch.object(module, name, rng.choice(choices)))
        yield


@contextmanager
def written(rng: random.Random, *, clean: bool = True) -> Iterator[tuple[Path, History, Segments]]:
    """A random history on disk: its directory and what is in its segments."""
    history = random_history(rng)
    stored = cleaned(history) if clean and rng.random() < 0.4 else history.stored
    with tempfile.TemporaryDirectory(dir=MEMORY) as root, windows(rng):
        directory = partition_dir(Path(root))
        yield directory, history, write_partition(directory, history, stored)


def cutting(rng: random.Random) -> dict[str, Any]:
    return {
        "maxPartitionBytes": rng.choice([1, 100, 300, 10**6]),
        "openCostInBytes": rng.choice([0, 10**6]),
        "threads": rng.choice([1, 1, 2]),
        # Offsets are missing at random here, also between segments.
        "failOnDataLoss": False,
    }


def offsets_read(path: Path, rng: random.Random, **options: Any) -> list[int]:
    read = kafkalog_source.scan(path, columns=["offset"], **cutting(rng), **options)
    offsets: list[int] = read.to_table()["offset"].to_pylist()
    return offsets


def committed_offsets(segments: Segments) -> list[int]:
    return [
        offset
        for _, entries in segments
        for each in entries
        if not each.is_control and each.state in (None, COMMITTED)
        for offset in each.offsets
    ]


@settings(max_examples=1000)
@given(SEEDS)
def test_read_committed_equals_the_model(seed: int) -> None:
    rng = random.Random(seed)
    with written(rng) as (directory, history, segments):
        stable = history.last_stable_offset
        wanted = [offset for offset in committed_offsets(segments) if offset < stable]
        assert offsets_read(directory, rng, isolationLevel="read_committed") == wanted


@settings(max_examples=300)
@given(SEEDS)
def test_read_committed_of_an_offset_range_equals_the_model(seed: int) -> None:
    rng = random.Random(seed)
    with written(rng) as (directory, history, segments):
        lowest = int(segments[0][0].stem)
        last = segments[-1][1][-1].entry.last_offset + 1 if segments[-1][1] else int(segments[-1][0].stem)
        start = rng.randint(lowest, max(lowest, last))
        end = rng.randint(start, max(start, last))
        stable = min(end, history.last_stable_offset)
        options = {
            "assign": {"topic": [0]},
            "startingOffsets": {"topic": {"0": start}},
            "endingOffsets": {"topic": {"0": end}},
        }
        if rng.random() < 0.3:
            options["maxRecordsPerPartition"] = rng.randint(1, 10)
        wanted = [offset for offset in committed_offsets(segments) if start <= offset < stable]
        assert offsets_read(directory, rng, isolationLevel="read_committed", **options) == wanted


def states_read(path: Path, rng: random.Random, **options: Any) -> list[tuple[int, str | None]]:
    read = kafkalog_source.scan(
        path, columns=["offset", "transactionState"], includeControlRecords=True, **cutting(rng), **options
    )
    return list(zip(*(column.to_pylist() for column in read.to_table().columns), strict=True))


@settings(max_examples=500)
@given(SEEDS)
def test_states_equal_the_model(seed: int) -> None:
    rng = random.Random(seed)
    with written(rng) as (directory, _, segments):
        wanted = [(offset, each.state) for _, entries in segments for each in entries for offset in each.offsets]
        assert states_read(directory, rng) == wanted


@settings(max_examples=200)
@given(SEEDS)
def test_a_lone_segment_is_judged_by_itself(seed: int) -> None:
    rng = random.Random(seed)
    with written(rng) as (_, _, segments):
        log, entries = rng.choice(segments)
        markers = {id(each.transaction) for each in entries if each.is_marker and each.offsets}
        states = [
            (offset, each.state if each.state is None or id(each.transaction) in markers else "open")
            for each in entries
            for offset in each.offsets
        ]
        assert states_read(log, rng) == states
        first_open = min(
            (
                each.base_offset
                for each in entries
                if each.transaction and not each.is_marker and id(each.transaction) not in markers
            ),
            default=2**63,
        )
        wanted = [offset for offset in committed_offsets([(log, entries)]) if offset < first_open]
        assert offsets_read(log, rng, isolationLevel="read_committed") == wanted


@settings(max_examples=200)
@given(SEEDS)
def test_a_high_watermark_is_the_end_for_transactions_too(seed: int) -> None:
    rng = random.Random(seed)
    with written(rng, clean=False) as (directory, history, segments):
        lowest = int(segments[0][0].stem)
        high_watermark = rng.randint(lowest, history.end)
        checkpoint = directory.parent / "replication-offset-checkpoint"
        checkpoint.write_text(f"0\n1\ntopic 0 {high_watermark}\n", encoding="utf-8")
        stable = history.last_stable_at(high_watermark)
        # Of a transaction that retention has cut only a snapshot could still tell where it began.
        assume(stable >= lowest)
        wanted = [offset for offset in committed_offsets(segments) if offset < stable]
        assert offsets_read(directory, rng, isolationLevel="read_committed", readUpTo="highWatermark") == wanted
