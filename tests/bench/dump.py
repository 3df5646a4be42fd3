"""Part (f): ``kafkalog dump`` and kafka-dump-log on the same segment, whole processes by turns."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench.cases import Row
from tests.bench.process import ROOT, RunError
from tests.bench.segments import Cache
from tests.bench.table import Block, number

NOTES = (
    "Seconds of the whole process and of its processor time, best run; ratio is the time over kafka-dump-log's. "
    "Every line is read through a pipe and counted.",
    "kafka-dump-log prints offsets, times, sizes, keys and values, and the names of headers; kafkalog dump also the "
    "values of headers, and escapes what is not printable.",
)
DUMPER = "org.apache.kafka.tools.DumpLogSegments"
_CHUNK = 1 << 20


@dataclasses.dataclass(frozen=True, order=True)
class Run:
    """One run; runs are compared by their time."""

    seconds: float
    cpu_seconds: float
    lines: int


def measure(cache: Cache, rows: Sequence[Row], rounds: int) -> Block:
    """The block of part (f); each row is a segment."""
    header = ("segment", "records", "kafka-dump-log", "CPU", "dump", "CPU", "ratio", "dump --json", "CPU", "ratio")
    block = Block("Dumping a segment", header, NOTES)
    for row in rows:
        try:
            block.rows.append((row.label, *_cells(cache, row, rounds)))
            print("  ".join(block.rows[-1]), file=sys.stderr, flush=True)
        except RunError as error:
            block.failures.append(f"{row.label}: {error}")
    return block


def _cells(cache: Cache, row: Row, rounds: int) -> list[str]:
    (segment,) = cache.partition(row.segment).glob("*.log")
    ours = [sys.executable, "-m", "kafkalog_source.cli", "dump", str(segment)]
    commands = (cache.dumper(DUMPER, "--print-data-log", "--files", str(segment)), ours, [*ours, "--json"])
    kafka, text, json = (min(runs) for runs in zip(*(map(_timed, commands) for _ in range(rounds)), strict=True))
    if not kafka.lines > text.lines == json.lines == row.segment.records:
        raise RunError(f"lines of {row.segment.records} records: {kafka.lines}, {text.lines} and {json.lines}")
    cells = [f"{text.lines:,}", number(kafka.seconds), number(kafka.cpu_seconds)]
    for run in (text, json):
        cells += [number(run.seconds), number(run.cpu_seconds), number(run.seconds / kafka.seconds)]
    return cells


def _timed(command: Sequence[str]) -> Run:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
        assert process.stdout is not None
        lines = sum(part.count(b"\n") for part in iter(lambda: process.stdout.read1(_CHUNK), b""))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise RunError(f"{Path(command[0]).name} ended with status {process.returncode}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, lines)
