"""What runs in a measured Python process: ``python -m tests.bench.child decode|memory|threads|transactions …``.

Prints one JSON object. What is imported for one reader is imported inside it, so that a process holds only
the reader it measures.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

Pass = Callable[[], object]


class Record(Protocol):
    """What aiokafka's and kafka-python's records have in common."""

    offset: int
    timestamp: int | None
    timestamp_type: int | None
    key: bytes | None
    value: bytes | None
    headers: Iterable[tuple[str, bytes | None]]


def faults() -> int:
    """Minor page faults of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def timed(run_pass: Pass) -> dict[str, float]:
    """Seconds and minor page faults of one pass."""
    before, start = faults(), time.perf_counter()
    run_pass()
    return {"seconds": time.perf_counter() - start, "faults": faults() - before}


def repeat(run_pass: Pass, seconds: float) -> list[dict[str, float]]:
    """Passes for about this long, and at least one."""
    passes: list[dict[str, float]] = []
    end = time.perf_counter() + seconds
    while not passes or time.perf_counter() < end:
        passes.append(timed(run_pass))
    return passes


class KafkalogReader:
    """``kafkalog_source.scan`` on one thread, all eight columns of the default row as Arrow batches."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def arrow_batches(self) -> Iterator[Any]:
        import kafkalog_source

        yield from kafkalog_source.scan(str(self.directory), threads=1).to_reader()

    def run_pass(self) -> int:
        return sum(arrow_batch.num_rows for arrow_batch in self.arrow_batches())

    def sums(self) -> dict[str, int]:
        import pyarrow as pa
        import pyarrow.compute as pc

        def total(array: Any) -> int:
            return pc.sum(pc.binary_length(array)).as_py() or 0

        sums = dict.fromkeys(("records", "key_bytes", "value_bytes", "headers", "header_bytes"), 0)
        for arrow_batch in self.arrow_batches():
            headers: pa.StructArray = pc.list_flatten(arrow_batch.column("headers"))
            sums["records"] += arrow_batch.num_rows
            sums["key_bytes"] += total(arrow_batch.column("key"))
            sums["value_bytes"] += total(arrow_batch.column("value"))
            sums["headers"] += len(headers)
            sums["header_bytes"] += total(headers.field("key")) + total(headers.field("value"))
        return sums


class ParserReader:
    """A Python client's record parser over the bytes of the segments, which it is given ready in memory.

    The CRC of every batch is verified, and every field of every record is made a Python object.
    """

    def __init__(self, directory: Path, memory_records: Callable[[bytes], Any]) -> None:
        self.memory_records = memory_records
        self.segments = [file.read_bytes() for file in sorted(directory.glob("*.log"))]

    def records(self) -> Iterator[Record]:
        for segment in self.segments:
            batches = self.memory_records(segment)
            while batches.has_next():
                batch = batches.next_batch()
                if not batch.validate_crc():
                    raise ValueError("the CRC of a batch is wrong")
                yield from batch

    def run_pass(self) -> None:
        # The generator of records() would add its own cost to each record, so the loops are written out.
        for segment in self.segments:
            batches = self.memory_records(segment)
            while batches.has_next():
                batch = batches.next_batch()
                if not batch.validate_crc():
                    raise ValueError("the CRC of a batch is wrong")
                for record in batch:
                    _ = (
                        record.offset,
                        record.timestamp,
                        record.timestamp_type,
                        record.key,
                        record.value,
                        record.headers,
                    )

    def sums(self) -> dict[str, int]:
        sums = dict.fromkeys(("records", "key_bytes", "value_bytes", "headers", "header_bytes"), 0)
        for record in self.records():
            sums["records"] += 1
            sums["key_bytes"] += len(record.key or b"")
            sums["value_bytes"] += len(record.value or b"")
            for key, value in record.headers:
                sums["headers"] += 1
                sums["header_bytes"] += len(key) + len(value or b"")
        return sums


def aiokafka_reader(directory: Path) -> ParserReader:
    """aiokafka's compiled parser."""
    memory_records = importlib.import_module("aiokafka.record.memory_records")
    if memory_records.MemoryRecords.__module__.endswith("record.memory_records"):
        raise ImportError("aiokafka runs without its compiled parser here")
    return ParserReader(directory, memory_records.MemoryRecords)


def kafka_python_reader(directory: Path) -> ParserReader:
    """kafka-python's parser."""
    return ParserReader(directory, importlib.import_module("kafka.record.memory_records").MemoryRecords)


READERS: Mapping[str, Callable[[Path], KafkalogReader | ParserReader]] = {
    "kafkalog": KafkalogReader,
    "aiokafka": aiokafka_reader,
    "kafka-python": kafka_python_reader,
}


def decode(arguments: argparse.Namespace) -> dict[str, Any]:
    """Passes of one reader over one directory; the first, which adds up what was read, is not timed."""
    reader = READERS[arguments.reader](arguments.directory)
    return {"sums": reader.sums(), "passes": repeat(reader.run_pass, arguments.seconds)}


def resident_kib(field: str) -> int:
    """``VmRSS`` or ``VmHWM`` (its peak) of this process, in KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise OSError(f"/proc/self/status has no {field}: memory is measured on Linux alone")


def memory(arguments: argparse.Namespace) -> dict[str, Any]:
    """Peak memory of one scan on one thread over what the process held before it, the imports done."""
    import pyarrow  # noqa: F401

    import kafkalog_source

    # ru_maxrss would start from the peak of the process that started this one; this peak starts here.
    Path("/proc/self/clear_refs").write_text("5")
    baseline, records = resident_kib("VmRSS"), 0
    for arrow_batch in kafkalog_source.scan(str(arguments.directory), threads=1).to_reader():
        records += arrow_batch.num_rows
    return {"records": records, "baseline_kib": baseline, "peak_kib": resident_kib("VmHWM") - baseline}


def threads(arguments: argparse.Namespace) -> dict[str, Any]:
    """One thread and two by turns over the same partitions of a log dir: the best seconds of each."""
    import kafkalog_source

    assign = {"bench": list(range(arguments.partitions))}
    best: dict[str, float] = {}
    end = time.perf_counter() + arguments.seconds
    for done in range(1000):
        if done >= 3 and time.perf_counter() > end:
            break
        for count in (1, 2):
            start = time.perf_counter()
            for _ in kafkalog_source.scan(str(arguments.directory), threads=count, assign=assign).to_reader():
                pass
            best[str(count)] = min(best.get(str(count), 1e9), time.perf_counter() - start)
    return {"seconds": best}


def transactions(arguments: argparse.Namespace) -> dict[str, Any]:
    """Both isolation levels by turns over the same partition, on one thread: best seconds, rows, and median ratio."""
    import kafkalog_source

    levels = ("read_uncommitted", "read_committed")
    passes: dict[str, list[float]] = {level: [] for level in levels}
    records: dict[str, int] = {}
    end = time.perf_counter() + arguments.seconds
    while len(passes[levels[1]]) < 5 or time.perf_counter() < end:
        for level in levels:
            start, count = time.perf_counter(), 0
            scan = kafkalog_source.scan(str(arguments.directory), threads=1, isolationLevel=level)
            for arrow_batch in scan.to_reader():
                count += arrow_batch.num_rows
            passes[level].append(time.perf_counter() - start)
            records[level] = count
    ratios = [committed / all_rows for all_rows, committed in zip(*passes.values(), strict=True)]
    best = {level: min(seconds) for level, seconds in passes.items()}
    return {"seconds": best, "records": records, "ratio": statistics.median(ratios)}


def main() -> None:
    """Run the part that the command line names and print what it measured."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.child")
    parser.add_argument("part", choices=("decode", "memory", "threads", "transactions"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--reader", choices=tuple(READERS))
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--partitions", type=int, default=1)
    arguments = parser.parse_args()
    parts = {"decode": decode, "memory": memory, "threads": threads, "transactions": transactions}
    print(json.dumps(parts[arguments.part](arguments)))


if __name__ == "__main__":
    main()
