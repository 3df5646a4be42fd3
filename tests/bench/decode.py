"""Part (a): one thread of ``scan`` against the other readers of the same segment, by turns."""

from __future__ import annotations

import dataclasses
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.cases import Row
from tests.bench.process import RunError, child, run
from tests.bench.segments import Cache
from tests.bench.table import Block, number

OURS = "kafkalog"
PEERS = ("java-file", "java-mmap", "aiokafka", "kafka-python")
NOTES = (
    "Millions of records a second on one thread, best pass; ratio is kafkalog's rate over the other's. "
    "Faults: kafkalog's minor page faults for a million records, median pass.",
    "Records: values of 150 to 450 bytes of JSON, keys of 12 bytes, 2 headers in v2. "
    "Everyone verifies the CRC of every batch; kafkalog alone that of every message inside a v1 wrapper too.",
    "kafkalog builds all eight columns of the default row as Arrow batches, from the file. "
    "The Java reader reaches offset, timestamp, key, value and headers of each record and reads a byte of "
    "each, from the file (java-file, as kafka-dump-log and the broker read) or from the mapped file "
    "(java-mmap). "
    "aiokafka and kafka-python make the same fields Python objects, from bytes that are in memory before the "
    "clock starts.",
)


@dataclasses.dataclass(frozen=True)
class Effort:
    """How long to measure: rounds of all readers by turns, and seconds for each reader in a round."""

    rounds: int
    seconds: float


@dataclasses.dataclass
class Result:
    """What one reader did over all rounds."""

    seconds: float
    faults: float
    sums: dict[str, int]

    @property
    def rate(self) -> float:
        """Millions of records a second."""
        return self.sums["records"] / self.seconds / 1e6


def measure(cache: Cache, rows: Sequence[Row], readers: Sequence[str], effort: Effort) -> Block:
    """The block of part (a).

    Parameters
    ----------
    cache
        Where the segments are.
    rows
        What to read.
    readers
        Who reads: ``kafkalog`` and any of ``PEERS``.
    effort
        How long.
    """
    peers = [peer for peer in PEERS if peer in readers]
    header = ("segment", OURS, "faults", *(text for peer in peers for text in (peer, "ratio")))
    block = Block("Decoding, one thread", header, NOTES)
    for row in rows:
        results = _read_by_turns(cache, row, readers, effort, block.failures)
        block.rows.append((row.label, *_cells(results, peers)))
        print("  ".join(block.rows[-1]), file=sys.stderr, flush=True)
    return block


def _read_by_turns(
    cache: Cache, row: Row, readers: Sequence[str], effort: Effort, failures: list[str]
) -> dict[str, Result]:
    directory = cache.partition(row.segment)
    results: dict[str, Result] = {}
    failed: set[str] = set()
    for _ in range(effort.rounds):
        for reader in (OURS, *PEERS):
            if reader not in readers or reader in failed:
                continue
            try:
                _keep_best(results, reader, _read(cache, reader, directory, effort.seconds))
            except RunError as error:
                failed.add(reader)
                failures.append(f"{row.label}, {reader}: {error}")
    failures += _disagreements(row, results)
    return {reader: result for reader, result in results.items() if reader not in failed}


def _read(cache: Cache, reader: str, directory: Path, seconds: float) -> Result:
    if reader.startswith("java-"):
        mode = reader.removeprefix("java-")
        command = cache.java(
            "Scan", "--dir", str(directory), "--mode", mode, "--seconds", str(seconds), "--passes", "3"
        )
        lines = run(command)
        return Result(min(line["seconds"] for line in lines), 0.0, lines[0]["sums"])
    answer = child("child", "decode", str(directory), "--reader", reader, "--seconds", str(seconds))
    passes: list[dict[str, Any]] = answer["passes"]
    faults = statistics.median(one["faults"] for one in passes)
    return Result(min(one["seconds"] for one in passes), faults, answer["sums"])


def _keep_best(results: dict[str, Result], reader: str, new: Result) -> None:
    old = results.get(reader)
    if old is None or new.seconds < old.seconds:
        results[reader] = new


def _disagreements(row: Row, results: dict[str, Result]) -> list[str]:
    """Readers that did not read what the first of them read: then the rates mean nothing."""
    if not results:
        return []
    first, expected = next(iter(results.items()))
    return [
        f"{row.label}: {reader} read {result.sums}, {first} read {expected.sums}"
        for reader, result in results.items()
        if result.sums != expected.sums
    ]


def _cells(results: dict[str, Result], peers: Sequence[str]) -> list[str]:
    ours = results.get(OURS)
    cells = [number(ours.rate if ours else None)]
    cells.append(f"{ours.faults / ours.sums['records'] * 1e6:,.0f}" if ours else "-")
    for peer in peers:
        rate = results[peer].rate if peer in results else None
        cells += [number(rate), number(ours.rate / rate if ours and rate else None)]
    return cells
