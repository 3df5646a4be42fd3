"""A log dir read over and over while a broker appends to it, rolls, compacts and deletes.

Each read has to be a valid prefix of the log: no row twice, none out of order, none
that was not produced, and none missing but what the broker itself removed.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source import KafkaLogError
from kafkalog_source.errors import DataLossError
from tests.broker.broker import NO_LOG, Broker

pytestmark = [pytest.mark.broker, pytest.mark.slow]

SECONDS = 45
COLUMNS = ["offset", "key", "value"]
COMPACTED = ("compacted", "compacted-at-once", "both")
COMPLETE = ("appended", "compacted", "compacted-at-once", "transactions")
"""Topics of which retention deletes nothing."""
TOPICS = (*COMPLETE, "deleted", "deleted-at-once", "both", "preallocated")

Row = tuple[bytes, bytes]


@dataclass
class Reading:
    """One read of one topic: its rows, and what else it told."""

    topic: str
    committed_only: bool
    rows: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    error: KafkaLogError | None = None
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def lost(self) -> list[str]:
        """Segments that went away before they were read, with failOnDataLoss=false."""
        return [each for each in self.report.get("warnings", ()) if "read again" in each]


@dataclass
class Ledger:
    """What was produced to a topic, by offset, and the offsets of aborted transactions."""

    rows: dict[int, Row]
    aborted: set[int]


@contextmanager
def churning(broker: Broker, jars: str, ledgers: Path) -> Iterator[subprocess.Popen[str]]:
    command = ["java", "-Xmx300m", NO_LOG, "-cp", jars, str(Path(__file__).with_name("Churn.java")), broker.bootstrap]
    process = subprocess.Popen([*command, str(ledgers), str(SECONDS)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "created\n"
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for_directories(log_dir: Path) -> None:
    """A topic is created for its clients a moment before it has a directory."""
    deadline = time.monotonic() + 10
    while not all(list(log_dir.glob(f"{topic}-[0-9]*")) for topic in TOPICS):
        assert time.monotonic() < deadline, sorted(log_dir.iterdir())
        time.sleep(0.05)


def read_ledger(path: Path) -> Ledger:
    ledger = Ledger({}, set())
    for line in path.read_text().splitlines():
        offset, key, value, committed = line.split(" ")
        ledger.rows[int(offset)] = bytes.fromhex(key), bytes.fromhex(value.removesuffix("."))
        if committed == "false":
            ledger.aborted.add(int(offset))
    return ledger


def read_once(log_dir: Path, rng: random.Random) -> Reading:
    """Plan, perhaps wait, and read one topic."""
    reading = Reading(rng.choice(TOPICS), rng.random() < 0.4)
    options: dict[str, Any] = {
        "maxPartitionBytes": rng.choice([1000, 20_000, 10**6, 10**8]),
        "threads": rng.choice([1, 2]),
        "isolationLevel": "read_committed" if reading.committed_only else "read_uncommitted",
        "failOnDataLoss": rng.random() < 0.8,
    }
    if rng.random() < 0.2:
        options["maxRecordsPerPartition"] = rng.choice([50, 1000])
    scan = kafkalog_source.scan(log_dir, columns=COLUMNS, subscribe=reading.topic, **options)
    try:
        reader = scan.to_reader()
        time.sleep(rng.choice([0, 0, 0.05, 0.5]))
        for arrow_batch in reader:
            columns = [arrow_batch.column(name).to_pylist() for name in COLUMNS]
            reading.rows += zip(*columns, strict=True)
    except KafkaLogError as error:
        reading.error = error
    reading.report = scan.report() if reading.error is None else {}
    return reading


def check(reading: Reading, ledger: Ledger) -> None:
    """Compare what was read with what was produced."""
    topic, offsets = reading.topic, [offset for offset, _, _ in reading.rows]
    assert all(one < next_one for one, next_one in pairwise(offsets)), topic
    for offset, key, value in reading.rows:
        assert ledger.rows[offset] == (key, value), (topic, offset)
    if reading.error is not None or reading.lost or not offsets:
        return
    wanted = expected_offsets(reading, ledger, offsets[0], offsets[-1])
    if topic in COMPACTED:
        assert wanted <= set(offsets), (topic, sorted(wanted - set(offsets))[:5])
    else:
        assert wanted == set(offsets), (topic, sorted(wanted ^ set(offsets))[:5])


def expected_offsets(reading: Reading, ledger: Ledger, first: int, last: int) -> set[int]:
    """The offsets that cannot be missing from a read that ends with `last`."""
    low = min(ledger.rows) if reading.topic in COMPLETE and reading.topic not in COMPACTED else first
    hidden = ledger.aborted if reading.committed_only else set()
    there = {offset for offset in ledger.rows if low <= offset <= last and offset not in hidden}
    if reading.topic in COMPACTED:
        return set({ledger.rows[offset][0]: offset for offset in sorted(there)}.values())
    return there


def test_every_read_of_a_live_log_is_a_valid_prefix(
    start_broker: Callable[..., Broker], jars: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    broker = start_broker(
        log_retention_check_interval_ms=300,
        log_initial_task_delay_ms=500,
        log_cleaner_backoff_ms=200,
        log_flush_offset_checkpoint_interval_ms=1000,
        log_flush_start_offset_checkpoint_interval_ms=1000,
        auto_create_topics_enable="false",
    )
    ledgers = tmp_path / "ledgers"
    ledgers.mkdir()
    rng = random.Random(1)
    readings: list[Reading] = []
    with churning(broker, jars, ledgers) as producers:
        wait_for_directories(broker.log_dir)
        while producers.poll() is None:
            readings.append(read_once(broker.log_dir, rng))
        assert producers.returncode == 0
    found = {topic: read_ledger(ledgers / f"{topic}.txt") for topic in TOPICS}
    for reading in readings:
        check(reading, found[reading.topic])
    check_what_was_told(readings)
    for name, value in summary(readings, broker).items():
        record_property(name, value)
        print(f"{name}: {value}")


def check_what_was_told(readings: list[Reading]) -> None:
    """No damage but a torn end, no warning of loss, no error but that a file went away before it was read."""
    for reading in readings:
        assert {each["kind"] for each in reading.report.get("damage", ())} <= {"torn"}, reading.report["damage"]
        if reading.error is not None:
            assert isinstance(reading.error, DataLossError), reading.error
            assert "read again" in str(reading.error)
        warnings = reading.report.get("warnings", ())
        assert not [each for each in warnings if "not on disk" in each], warnings
    assert sum(reading.error is None for reading in readings) > len(readings) / 2
    assert {reading.topic for reading in readings if reading.rows} == set(TOPICS)


def summary(readings: list[Reading], broker: Broker) -> dict[str, object]:
    return {
        "reads": len(readings),
        "rows": sum(len(reading.rows) for reading in readings),
        "errors": Counter((r.topic, r.error.problem) for r in readings if r.error is not None).most_common(),
        "segments gone": Counter(r.topic for r in readings for _ in r.lost).most_common(),
        "torn": Counter(r.topic for r in readings if r.report.get("damage")).most_common(),
        "warnings": Counter(
            (r.topic, each.split(": ", 1)[-1][:60]) for r in readings for each in r.report.get("warnings", ())
        ).most_common(8),
        "segments at the end": len(list(broker.log_dir.glob("*/*.log"))),
    }
