"""`count` and `stat` say of real logs what decoding all of their records says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from kafkalog_source import scan
from kafkalog_source.cli import statistics
from tests.builders import (
    Batch,
    Message,
    Record,
    Wrapper,
    encode,
    end_marker,
    partition_dir,
    write_segment,
)
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]
CASES = (
    "v2-4.4",
    "v1-2.8",
    "v0-2.8",
    "mixed-magic-2.8",
    "txn-4.4",
    "compact-2.8",
    "compact-4.4",
    "log-0.7",
    "logstart-4.4",
)


def _log(case: Path) -> Path:
    return next(
        (path for path in (case / "log", case / "data", case) if path.is_dir() and any(path.glob("*-*/"))), case
    )


def _counts(run: Run) -> dict[tuple[str, int], int]:
    return {(each["topic"], each["partition"]): each["records"] for each in json.loads(run.out)["partitions"]}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("flags", [[], ["--include-control-records"]])
def test_count_equals_decoding(
    kafkalog: Kafkalog, fixture_case: Callable[[str], Path], case: str, flags: list[str]
) -> None:
    log = _log(fixture_case(case))
    rows = scan(log, columns=("topic", "partition"), includeControlRecords=bool(flags)).to_table()
    run = kafkalog("count", log, "--json", *flags)
    assert (run.status, run.err) == (0, "")
    expected = Counter(zip(rows["topic"].to_pylist(), rows["partition"].to_pylist(), strict=True))
    assert expected
    assert {place: count for place, count in _counts(run).items() if count} == expected
    assert json.loads(run.out)["records"] == rows.num_rows


@pytest.mark.parametrize(("low", "high"), [(0, 9), (1, 9), (2, 7), (3, 6), (4, 5), (8, 9), (5, 8)])
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_count_of_a_range_that_begins_and_ends_inside_a_batch(
    kafkalog: Kafkalog, tmp_path: Path, codec: str, low: int, high: int
) -> None:
    directory = partition_dir(tmp_path, "orders", 0)
    wrapper = Wrapper([Message(offset=at, magic=1) for at in range(3)], codec="gzip")
    write_segment(directory, [wrapper, Batch([Record()] * 3, base_offset=3, codec=codec)])
    write_segment(directory, [Batch([Record()] * 3, base_offset=6, codec=codec)], base_offset=6)
    offsets = ["--starting-offsets", f'{{"orders":{{"0":{low}}}}}', "--ending-offsets", f'{{"orders":{{"0":{high}}}}}']
    run = kafkalog("count", tmp_path, "--json", *offsets)
    assert (run.err, _counts(run)) == ("", {("orders", 0): high - low})


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    directory = partition_dir(tmp_path, "orders", 0)
    batches = [
        Batch([Record(b"k", b"v" * 50, timestamp_delta=5)] * 4, base_timestamp=1000, codec="gzip", producer_id=7),
        Batch([Record()], base_offset=4, base_timestamp=9000, producer_id=7, transactional=True),
        Batch(
            [end_marker(commit=True)],
            base_offset=5,
            base_timestamp=9500,
            producer_id=7,
            transactional=True,
            control=True,
        ),
        Batch([Record()] * 2, base_offset=6, base_timestamp=500, producer_id=8),
    ]
    write_segment(directory, batches)
    write_segment(partition_dir(tmp_path, "orders", 1), [Batch([Record()], base_timestamp=2000)])
    write_segment(partition_dir(tmp_path, "empty", 0), b"")
    messages = [Message(offset=at, magic=1, timestamp=3000) for at in range(3)]
    write_segment(partition_dir(tmp_path, "old", 0), [Wrapper(messages, codec="gzip")])
    return tmp_path


def test_stat_as_json(kafkalog: Kafkalog, mixed: Path) -> None:
    run = kafkalog("stat", mixed, "--json")
    assert (run.status, run.err) == (0, "")
    found = {each["topic"]: each for each in json.loads(run.out)["topics"]}
    table = scan(mixed, view="batches", columns=("batchSize",), subscribe="orders").to_table()
    sizes = sorted(table["batchSize"].to_pylist())
    orders = found["orders"]
    middle = orders["batchBytes"].pop("p50")
    assert abs(middle - sizes[2]) <= 0.05 * sizes[2]
    assert orders == {
        "topic": "orders",
        "partitions": 2,
        "segments": 2,
        "batches": 5,
        "records": 8,
        "uncountedBatches": 0,
        "bytes": sum(sizes),
        "firstTime": "1970-01-01T00:00:00.500Z",
        "lastTime": "1970-01-01T00:00:09.500Z",
        "codecs": {"gzip": 1, "none": 4},
        "formats": {"2": 5},
        "transactionalBatches": 1,
        "controlBatches": 1,
        "producers": 2,
        "batchBytes": {"p90": orders["batchBytes"]["p90"], "p99": orders["batchBytes"]["p99"], "max": sizes[-1]},
    }
    old = found["old"]
    assert (old["records"], old["uncountedBatches"], old["firstTime"]) == (None, 1, None)
    assert old["lastTime"] == "1970-01-01T00:00:03.000Z"


def test_stat_as_tables(kafkalog: Kafkalog, mixed: Path) -> None:
    run = kafkalog("stat", mixed)
    assert run.err.startswith("kafkalog: warning: the headers of 1 compressed batch of format 0 or 1 do not hold")
    lines = [line.split() for line in run.out.splitlines()]
    assert lines[1][:5] == ["old", "1", "1", "1", "?"]
    assert lines[2][:5] == ["orders", "2", "2", "5", "8"]
    assert lines[2][-1] == "gzip,none"
    assert lines[6][:2] == ["orders", "1.6"]
    assert lines[-1][:6] == ["2", "topics,", "3", "partitions,", "6", "batches,"]
    assert "SIZE" in kafkalog("stat", mixed, "-h").out


@pytest.mark.parametrize("command", ["count", "stat"])
def test_damage_is_left_out_and_reported(kafkalog: Kafkalog, tmp_path: Path, command: str) -> None:
    first = Batch([Record()] * 2).encode()
    content = bytearray(first + encode([Batch(base_offset=2), Batch([Record()] * 2, base_offset=3)]))
    content[len(first) + 16] = 9  # the format version of the second batch
    write_segment(partition_dir(tmp_path, "orders", 0), bytes(content))
    run = kafkalog(command, tmp_path, "--json")
    assert run.status == 1
    assert " bytes damaged, " in run.err
    found = json.loads(run.out)
    assert (found if command == "count" else found["topics"][0])["records"] == 4


@pytest.mark.parametrize("option", ["mode=PERMISSIVE", "view=records", "isolationLevel=read_committed"])
def test_options_that_headers_cannot_serve(kafkalog: Kafkalog, mixed: Path, option: str) -> None:
    for command in ("count", "stat"):
        run = kafkalog(command, mixed, "-o", option)
        assert (run.status, run.out, len(run.err.splitlines())) == (2, "", 1)


def test_statistics_are_the_same_from_any_parts(fixture_case: Callable[[str], Path]) -> None:
    rows = scan(_log(fixture_case("txn-4.4")), view="batches", columns=statistics.COLUMNS).to_table().combine_chunks()
    places = [(topic, 0, topic) for topic in sorted(set(rows["topic"].to_pylist()))]
    (batch,) = rows.to_batches()
    whole, parts = statistics.Statistics(places), statistics.Statistics(places)
    whole.add(batch)
    for start in range(0, batch.num_rows, 2):
        parts.add(batch.slice(start, 2))
    parts.add(pa.RecordBatch.from_pylist([], schema=batch.schema))
    assert whole.topics() == parts.topics()
    assert statistics.Statistics([("t", 0, "f")]).topics()[0].batch_bytes == {"p50": 0, "p90": 0, "p99": 0, "max": 0}
