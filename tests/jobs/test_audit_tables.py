"""The tables of an audit beside what Kafka's own classes read, and merged from any splits; without Spark."""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkalog_source import CorruptBatchError, LimitError, scan
from spark_jobs.audit.output import write_tables
from spark_jobs.audit.tables import profile_tables
from spark_jobs.audit.tasks import job
from spark_jobs.audit.tasks.mergeable import Tally
from spark_jobs.audit.tasks.split import tally_of
from spark_jobs.audit.tasks.times import hours, is_zone
from spark_jobs.common.input import JobInput
from spark_jobs.topic_profile import Config, Settings, _reads
from tests.builders import Batch, Message, Record, Wrapper, encode, partition_dir, write_segment
from tests.vectors.oracle import OracleBatch, OracleSegment, oracle_segments
from tests.vectors.test_scan_equals_kafka import PARTITION

FixtureCase = Callable[[str], Path]

CASES = (
    *("broker-0.8.2.2", "broker-0.9.0.1", "broker-0.10.2.2", "broker-0.11.0.3", "v0-2.8", "v1-2.8"),
    *("mixed-magic-2.8", "compact-2.8", "compact-4.4", "txn-4.4"),
)
PERMISSIVE = {"mode": "PERMISSIVE", "failOnDataLoss": "false"}


def audited(*paths: Path, splits: int = 1, zone: str = "UTC", depth: Any = "records", **options: str) -> dict[str, Any]:
    """The tables of an audit by name, merged from those of at least `splits` splits."""
    given = {**PERMISSIVE, "minPartitions": str(splits), **options}
    source = JobInput(tuple(map(str, paths)), given)
    reads = _reads(Config(source, profile=Settings(depth=depth, time_zone=zone)), plotted=(None, "many"))
    planned = reads.batches.splits()
    assert len(planned) >= splits
    tally = Tally(row for split in planned for row in tally_of([split], reads).rows())
    return profile_tables(tally, zone=zone, with_records=depth == "records", header_names=True)


def rows_by(table: pa.Table, *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    rows = table.to_pylist()
    found = {tuple(row[key] for key in keys): row for row in rows}
    assert len(found) == len(rows)
    return found


@dataclass
class Log:
    """What Kafka read of a partition."""

    segments: list[OracleSegment]

    @property
    def batches(self) -> list[OracleBatch]:
        return [batch for segment in self.segments for batch in segment.batches]

    def spans(self) -> Iterator[tuple[str, int, int, int]]:
        """File, first and last offset and number of records of each batch."""
        for segment in self.segments:
            for batch in segment.batches:
                first = batch.base_offset if batch.magic == 2 else min(record.offset for record in batch.records)
                yield segment.name, first, batch.last_offset, len(batch.records)


def logs_of(case: Path) -> dict[tuple[str, int], Log]:
    logs: dict[tuple[str, int], Log] = defaultdict(lambda: Log([]))
    for segment in oracle_segments(case):
        place = PARTITION.fullmatch(segment.log.parent.name)
        if place is not None and not place[1].startswith("__") and segment.batches:
            logs[place[1], int(place[2])].segments.append(segment)
    return logs


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_those_of_kafkas_own_reading(case: str, fixture_case: FixtureCase) -> None:
    folder = fixture_case(case)
    tables, logs = audited(folder / "log"), logs_of(folder)
    assert logs
    partitions = rows_by(tables["partitions"], "topic", "partition")
    assert set(partitions) == set(logs)
    formats: Counter[tuple[str, int]] = Counter()
    for (topic, partition), log in logs.items():
        found, spans = partitions[topic, partition], list(log.spans())
        formats.update((topic, batch.magic) for batch in log.batches if not batch.is_control for _ in batch.records)
        between = [
            (later_first - last - 1, file == later_file)
            for (file, _, last, _), (later_file, later_first, _, _) in pairwise(spans)
        ]
        expected = {
            "segments": len(log.segments),
            "bytes": sum(batch.size for batch in log.batches),
            "batches": len(log.batches),
            "records": sum(len(batch.records) for batch in log.batches if not batch.is_control),
            "uncounted_batches": 0,
            "first_offset": spans[0][1],
            "last_offset": spans[-1][2],
            "missing_inside_batches": sum(last - first + 1 - count for _, first, last, count in spans),
            "missing_between_batches": sum(missing for missing, is_same_file in between if is_same_file),
            "missing_between_segments": sum(missing for missing, is_same_file in between if not is_same_file),
            "gaps": sum(missing > 0 for missing, _ in between),
            "tombstones": sum(
                record.value is None for batch in log.batches if not batch.is_control for record in batch.records
            ),
            "magics": sorted({batch.magic for batch in log.batches}),
            "codecs": sorted({batch.codec for batch in log.batches}),
            "damaged_regions": 0,
        }
        assert {name: found[name] for name in expected} == expected
    counted = rows_by(tables["formats"], "topic", "magic")
    assert {place: row["records"] for place, row in counted.items() if row["records"]} == formats


@pytest.mark.parametrize("case", ["broker-0.10.2.2", "mixed-magic-2.8", "compact-4.4", "corrupt"])
def test_any_splits_give_the_same_tables(case: str, fixture_case: FixtureCase) -> None:
    log_dir = fixture_case(case) / "log"
    for depth in ("records", "headers"):
        assert audited(log_dir, depth=depth) == audited(log_dir, splits=20, depth=depth)


def test_neighbouring_splits_go_to_one_task() -> None:
    whole = scan("spark_jobs/sample/kafka-logs", minPartitions=9).splits()
    for tasks in (1, 2, 4, 100):
        parts = [pickle.loads(part) for part in job._parts(whole, tasks)]
        assert [split for part in parts for split in part] == whole
        assert len(parts) == min(tasks, len(whole))
        assert all(parts)
    assert job._parts([], 4) == []


def test_a_task_without_memory_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError("malloc of size 8 failed")

    monkeypatch.setattr(job, "tally_of", exhausted)
    run = job._task([pickle.dumps([])], reads=None)  # type: ignore[arg-type]
    with pytest.raises(LimitError, match=r"a task ran out of memory.*Raise spark.executor.pyspark.memory"):
        list(run(iter([pa.RecordBatch.from_pydict({"id": [0]})])))


def test_damage_is_the_same_however_it_is_found(fixture_case: FixtureCase) -> None:
    log_dir = fixture_case("corrupt") / "log"
    shown, dropped = (audited(log_dir, mode=mode) for mode in ("PERMISSIVE", "DROPMALFORMED"))
    view = scan([log_dir], view="damage", failOnDataLoss=False).to_table()
    columns = ["topic", "partition", "file", "position", "size", "reason", "first_offset", "last_offset"]
    damaged = view.filter(pa.compute.not_equal(view["kind"], "torn")).select(columns)
    order = [("topic", "ascending"), ("partition", "ascending"), ("file", "ascending"), ("position", "ascending")]
    assert damaged.num_rows > 10
    assert shown["damage"].select(columns).to_pylist() == damaged.sort_by(order).to_pylist()
    for name in ("damage", "topics", "partitions"):
        assert dropped[name].to_pylist() == shown[name].to_pylist()
    with pytest.raises(CorruptBatchError):
        audited(log_dir, mode="FAILFAST")


def test_a_file_of_nothing_but_damage_is_a_topic_without_batches(tmp_path: Path) -> None:
    bad = bytearray(encode([Batch([Record(value=b"x" * 50)])]))
    bad[-1] ^= 1
    write_segment(partition_dir(tmp_path, "lost"), bytes(bad))
    write_segment(partition_dir(tmp_path, "sound"), [Batch()])
    for depth in ("records", "headers"):
        option = {"verifyChecksums": "true"} if depth == "headers" else {}
        tables = audited(tmp_path, depth=depth, **option)
        topics = rows_by(tables["topics"], "topic")
        lost = topics["lost",]
        assert (lost["batches"], lost["records"], lost["damaged_regions"]) == (0, 0, 1)
        assert lost["damaged_bytes"] == len(bad)
        assert (lost["partitions"], lost["segments"], lost["producers"]) == (1, 0, 0)
        assert topics["sound",]["damaged_regions"] == 0
        assert [row["topic"] for row in tables["formats"].to_pylist()] == ["sound"]


def test_headers_do_not_say_what_wrappers_hold(tmp_path: Path) -> None:
    inner = [Message(offset=place, value=b"v", timestamp=5000 + place) for place in range(3)]
    write_segment(partition_dir(tmp_path, "old"), [Wrapper(inner, codec="gzip", offset=12)])
    (shallow,) = audited(tmp_path, depth="headers")["partitions"].to_pylist()
    unknown = ("records", "first_offset", "gaps", "missing_inside_batches", "first_time")
    assert {shallow[name] for name in unknown} == {None}
    assert (shallow["uncounted_batches"], shallow["last_offset"]) == (1, 12)
    (deep,) = audited(tmp_path)["partitions"].to_pylist()
    assert [deep[name] for name in unknown[:-1]] == [3, 10, 0, 0]
    assert deep["first_time"] == datetime(1970, 1, 1, 0, 0, 5, tzinfo=ZoneInfo("UTC"))


def test_codecs_and_formats_are_sorted(tmp_path: Path) -> None:
    old = Wrapper([Message(offset=0, value=b"v", magic=0)], codec="snappy", offset=0, magic=0)
    batches = [Batch(codec=codec, base_offset=place) for place, codec in enumerate(("lz4", "gzip"), 1)]
    write_segment(partition_dir(tmp_path, "t"), [old, *batches])
    for table in ("topics", "partitions"):
        (row,) = audited(tmp_path)[table].to_pylist()
        assert (row["magics"], row["codecs"]) == ([0, 2], ["gzip", "lz4", "snappy"])


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "Europe/Berlin", "+05:45", "-09:30", "America/St_Johns"])
def test_hours_begin_on_the_clocks_of_the_zone(zone: str) -> None:
    assert is_zone(zone)
    start = datetime(1969, 12, 30, tzinfo=UTC)
    times = [start + timedelta(minutes=17 * number, days=step) for step in (0, 20_540) for number in range(300)]
    found = hours(pa.array([*times, None], pa.timestamp("us", "UTC")), zone).to_pylist()
    assert found.pop() is None
    for time, hour in zip(times, found, strict=True):
        expected = time.astimezone(hour.tzinfo).replace(minute=0, second=0, microsecond=0)
        assert hour.replace(tzinfo=None) == expected.replace(tzinfo=None)
        assert timedelta() <= time - hour < timedelta(hours=1)


def test_a_zone_that_does_not_exist_is_none() -> None:
    assert not any(map(is_zone, ("Europe/Nowhere", "+25:00", "")))


def test_tables_are_one_file_each_and_replace_what_was_there(tmp_path: Path) -> None:
    old = tmp_path / "topics" / "part-1.parquet"
    old.parent.mkdir()
    old.write_bytes(b"old")
    tables = {"topics": pa.table({"a": [1]}), "damage": pa.table({"b": pa.array([], pa.string())})}
    for place in (str(tmp_path), tmp_path.as_uri()):
        write_tables(tables, place, "zstd")
        files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.parquet"))
        assert files == ["damage/damage.parquet", "topics/topics.parquet"]
        assert pq.read_table(tmp_path / "topics").to_pylist() == [{"a": 1}]


def test_distinct_keys_are_an_estimate_within_a_few_per_cent(tmp_path: Path) -> None:
    pytest.importorskip("datasketches")
    keys = [b"", *(b"%d" % number for number in range(20_000))]
    for partition in range(2):
        records = [Record(key=key) for key in [*keys[partition * 5000 :], None]]
        write_segment(partition_dir(tmp_path, "many", partition), [Batch(records), Batch(records, base_offset=30_000)])
    tables = audited(tmp_path)
    (topic,) = tables["topics"].to_pylist()
    assert topic["distinct_keys"] == pytest.approx(len(keys), rel=0.05)
    found = [row["distinct_keys"] for row in tables["partitions"].to_pylist()]
    assert found == [pytest.approx(len(keys), rel=0.05), pytest.approx(len(keys) - 5000, rel=0.05)]


def test_the_empty_key_is_a_key(tmp_path: Path) -> None:
    pytest.importorskip("datasketches")
    write_segment(partition_dir(tmp_path, "t"), [Batch([Record(key=b""), Record(key=None)])])
    (topic,) = audited(tmp_path)["topics"].to_pylist()
    assert (topic["distinct_keys"], topic["null_keys"]) == (1, 1)
