"""``kafkalog export``: the files equal the scan, appear only when complete, and a rescue reports what is lost."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import kafkalog_source
from kafkalog_source.cli.cells import iso_utc
from kafkalog_source.errors import ReadFailedError
from kafkalog_source.segment.source import LocalFile
from tests.builders import Batch, Header, Record, encode, partition_dir, write_segment
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]

VALUES = [b"text", b"", None, b"base64:text", b"\xff\xfe", b"\x00", b'a,"b"\nc', "ключ".encode()]
AS_CELLS = ["text", "", "", "base64:" + base64.b64encode(b"base64:text").decode(), "base64://4=", "base64:AA=="]
AS_CELLS += ['a,"b"\nc', "ключ"]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two topics; keys and values that are and are not text."""
    root = tmp_path / "logs"
    for topic, partition in (("orders", 0), ("orders", 1), ("payments", 0)):
        headers = [Header(b"h", b"\xff"), Header(b"i", None)]
        records = [Record(value, value, headers if number else ()) for number, value in enumerate(VALUES)]
        write_segment(partition_dir(root, topic, partition), [Batch(records)])
    return root


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A bare directory: offsets 0 to 9 good, 10 to 19 damaged, 20 to 29 missing, 30 to 39 good."""
    directory = partition_dir(tmp_path / "bare", "orders", 0)
    for base in (0, 10, 30):
        data = bytearray(encode([Batch([Record(offset_delta=n) for n in range(10)], base_offset=base)]))
        data[-1] ^= base == 10
        write_segment(directory, bytes(data), base_offset=base)
    return directory


def table(logs: Path, **options: Any) -> pa.Table:
    return kafkalog_source.scan(logs, **options).to_table()


@pytest.mark.parametrize("name", ["a.parquet", "a.PARQUET", "a.arrow"])
def test_binary_formats_equal_the_scan(kafkalog: Kafkalog, logs: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    run = kafkalog("export", logs, "-o", out)
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(f"{out}: 24 rows, {out.stat().st_size} bytes of {name[2:].lower()}, from 3 partitions, ")
    found = pa.ipc.open_file(out).read_all() if name.endswith("arrow") else pq.read_table(out)
    assert found.equals(table(logs))


def test_json_lines_are_those_of_dump(kafkalog: Kafkalog, logs: Path, tmp_path: Path) -> None:
    kafkalog("export", logs, "-o", tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_text() == kafkalog("dump", logs, "--json").out


def test_csv_has_text_where_bytes_are_text(kafkalog: Kafkalog, logs: Path, tmp_path: Path) -> None:
    kafkalog("export", logs / "orders-0", "-o", tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == table(logs).schema.names
    assert [row["value"] for row in rows] == [row["key"] for row in rows] == AS_CELLS
    times = table(logs / "orders-0")["timestamp"].cast(pa.int64()).to_pylist()
    assert [row["timestamp"] for row in rows] == [iso_utc(time).replace("Z", "000Z") for time in times]
    assert json.loads(rows[1]["headers"]) == [{"key": "h", "value": {"base64": "/w=="}}, {"key": "i", "value": None}]


def test_csv_tells_null_from_empty(kafkalog: Kafkalog, logs: Path, tmp_path: Path) -> None:
    kafkalog("export", logs / "orders-0", "-o", tmp_path / "a.csv", "--columns", "offset,value")
    assert (tmp_path / "a.csv").read_text().splitlines()[:4] == ["offset,value", '0,"text"', '1,""', "2,"]


def test_times_far_away_are_written_as_dump_does(kafkalog: Kafkalog, tmp_path: Path) -> None:
    far = 9_000_000_000_000_000
    write_segment(partition_dir(tmp_path), [Batch([Record()], base_timestamp=far, max_timestamp=far)])
    run = kafkalog("export", tmp_path, "-o", "-", "--format", "csv", "--columns", "timestamp")
    assert run.out.splitlines()[1] == f'"{iso_utc(far * 1000)}"'


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "arrow"])
def test_a_directory_has_a_file_for_each_topic(kafkalog: Kafkalog, logs: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "by-topic"
    assert kafkalog("export", logs, "-o", f"{out}/", "--format", kind, "--columns", "topic,offset").status == 0
    assert sorted(each.relative_to(out).as_posix() for each in out.rglob("*.*")) == [
        f"topic=orders/part-0.{kind}",
        f"topic=payments/part-0.{kind}",
    ]
    found = ds.dataset(out, format={"jsonl": "json"}.get(kind, kind), partitioning="hive").to_table()
    order = [("topic", "ascending"), ("offset", "ascending")]
    assert (
        found.select(["topic", "offset"]).sort_by(order).equals(table(logs, columns=["topic", "offset"]).sort_by(order))
    )


def test_topics_that_recur_are_complete(kafkalog: Kafkalog, tmp_path: Path) -> None:
    for topic in range(20):
        write_segment(partition_dir(tmp_path / "logs", f"t{topic}", 0), [Batch([Record(), Record(offset_delta=1)])])
    query = 'SELECT topic, "offset" FROM records ORDER BY "offset", topic'
    assert kafkalog("export", tmp_path / "logs", "-o", f"{tmp_path}/out/", "--sql", query).status == 0
    found = ds.dataset(tmp_path / "out", partitioning="hive").to_table()
    assert sorted(zip(found["topic"].to_pylist(), found["offset"].to_pylist(), strict=True)) == sorted(
        (f"t{topic}", offset) for topic in range(20) for offset in (0, 1)
    )


def test_options_of_the_read_apply(kafkalog: Kafkalog, logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    flags = ["--subscribe", "orders", "--columns", "partition,offset", "--option", "includeHeaders=false"]
    kafkalog("export", logs, "-o", out, *flags)
    assert pq.read_table(out).equals(table(logs, subscribe="orders", columns=["partition", "offset"]))
    kafkalog("export", logs, "-o", out, "--view", "batches")
    assert pq.read_table(out).equals(table(logs, view="batches"))


def test_a_query_sees_all_columns_that_it_names(kafkalog: Kafkalog, logs: Path) -> None:
    query = "SELECT topic, compression, count(*) AS n, sum(valueSize) AS size FROM records GROUP BY ALL ORDER BY topic"
    run = kafkalog("export", logs, "-o", "-", "--sql", query)
    size = sum(len(value or b"") for value in VALUES)
    assert [json.loads(line) for line in run.out.splitlines()] == [
        {"topic": "orders", "compression": "none", "n": 16, "size": 2 * size},
        {"topic": "payments", "compression": "none", "n": 8, "size": size},
    ]
    assert run.err.startswith("standard output: 2 rows, from 3 partitions, ")


def test_a_query_over_a_view_and_of_every_type(kafkalog: Kafkalog, logs: Path) -> None:
    query = (
        "SELECT sum(recordCount) n, DATE '2026-11-22' d, [1.5::DECIMAL(3,2)] l, 'NaN'::DOUBLE x, NULL u FROM batches"
    )
    flags = ["--view", "batches", "--sql", query]
    assert json.loads(kafkalog("export", logs, "-o", "-", *flags).out) == {
        "n": 24,
        "d": "2026-11-22",
        "l": ["1.50"],
        "x": None,
        "u": None,
    }
    out = kafkalog("export", logs, "-o", "-", "--format", "csv", *flags).out
    assert list(csv.reader(io.StringIO(out)))[1] == ["24", "2026-11-22", '["1.50"]', "nan", ""]


def test_a_query_that_duckdb_rejects_is_one_line(kafkalog: Kafkalog, logs: Path) -> None:
    run = kafkalog("export", logs, "-o", "-", "--sql", "SELECT tpic FROM records")
    assert run.status == 2
    assert 'Referenced column "tpic" not found' in run.err
    assert len(run.err.splitlines()) == 1


def test_without_duckdb_a_query_is_one_line(kafkalog: Kafkalog, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    run = kafkalog("export", logs, "-o", "-", "--sql", "SELECT 1")
    assert (run.status, run.err) == (2, "kafkalog: --sql needs DuckDB, which is not installed. pip install duckdb\n")


def test_damage_in_a_query_is_the_error_of_the_read(kafkalog: Kafkalog, broken: Path) -> None:
    run = kafkalog("export", broken, "-o", "-", "--sql", "SELECT count(*) FROM records")
    assert run.status == 1
    assert "the batch's checksum is wrong" in run.err
    assert "DuckDB" not in run.err


def test_damage_leaves_nothing_and_names_the_rescue(kafkalog: Kafkalog, broken: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for out in (tmp_path / "a.parquet", f"{tmp_path}/by-topic/"):
        run = kafkalog("export", broken, "-o", out)
        assert (run.status, run.out) == (1, "")
        assert "--rescue" in run.err.splitlines()[-1]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_failure_keeps_the_file_that_was_there(kafkalog: Kafkalog, broken: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    out.write_text("before")
    kafkalog("export", broken, "-o", out)
    assert out.read_text() == "before"
    kafkalog("export", broken, "-o", out, "--rescue", "--columns", "offset")
    assert out.read_text().startswith("offset\n0\n")


def test_a_rescue_reads_the_rest_and_says_what_is_lost(kafkalog: Kafkalog, broken: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    run = kafkalog("export", broken, "-o", out, "--rescue")
    assert run.status == 1
    assert pq.read_table(out)["offset"].to_pylist() == [*range(10), *range(30, 40)]
    assert run.out.splitlines()[1:] == ["lost: orders-0: at most 20 of 40 offsets (50 %): 10 to 29"]
    summary = json.loads(kafkalog("export", broken, "-o", out, "--rescue", "--json").out)
    assert [(each["lostOffsets"], each["offsets"]) for each in summary["lost"]] == [(20, 40)]


def test_a_rescue_of_what_is_sound_loses_nothing(kafkalog: Kafkalog, logs: Path, tmp_path: Path) -> None:
    run = kafkalog("export", logs, "-o", tmp_path / "a.csv", "--rescue")
    assert (run.status, len(run.out.splitlines())) == (0, 1)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["-o", "out.xlsx"], "ends in .parquet, .csv, .jsonl, .arrow"),
        (["-o", "mode=PERMISSIVE"], "--option NAME=VALUE"),
        (["-o", "a.csv", "--format", "orc"], "expected parquet, csv, jsonl, arrow"),
        (["-o", "/dev/null", "--format", "csv"], "-o is not a file"),
        (["-o", "missing/a.csv"], "cannot be written: No such file"),
        (["-o", "a.csv", "--rescue", "--mode", "PERMISSIVE"], "--rescue sets mode itself"),
        (["-o", "new/", "--columns", "offset"], "no column topic"),
        (["-o", "new/", "--columns", "topic"], "no column besides topic"),
        (["-o", "a.csv", "--columns", "ofset"], "does not exist"),
        (["-o", "logs/a.csv"], "inside of what is read"),
        (["-o", "."], "not empty"),
        ([], "Missing option '-o'"),
    ],
)
def test_what_cannot_be_written(
    kafkalog: Kafkalog, logs: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], words: str
) -> None:
    monkeypatch.chdir(logs.parent)
    run = kafkalog("export", logs, *flags)
    assert run.status == 2
    assert words in run.err
    assert os.listdir() == ["logs"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_nothing(tmp_path: Path, number: int, status: int) -> None:
    code = """
import sys
from kafkalog_source.cli.exporting import writers
from kafkalog_source.cli.main import main
def wait(self, batch):
    print("writing", flush=True)
    import time
    time.sleep(60)
writers._Parquet.write = wait
sys.exit(main(sys.argv[1:]))
"""
    write_segment(partition_dir(tmp_path / "logs"), [Batch()])
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-c", code, "export", str(tmp_path / "logs"), "-o", str(tmp_path / "out" / "a.parquet")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        assert len(list((tmp_path / "out").iterdir())) == 1
        process.send_signal(number)
        assert process.wait(timeout=60) == status
    assert list((tmp_path / "out").iterdir()) == []


def test_an_export_does_without_what_it_does_not_need(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path / "logs"), [Batch()])
    command = ["export", str(tmp_path / "logs"), "-o", str(tmp_path / "a.parquet")]
    code = (
        f"import sys; from kafkalog_source.cli.main import main; main({command}); "
        "print({'pyspark', 'duckdb', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_a_rescue_names_the_way_around_what_cannot_be_read(
    kafkalog: Kafkalog, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: LocalFile, *_: object) -> None:
        raise ReadFailedError("cannot be read: Input/output error", file=self.path)

    monkeypatch.setattr(LocalFile, "read_into", fail)
    run = kafkalog("export", logs, "-o", tmp_path / "a.csv", "--rescue")
    assert run.status == 1
    assert "Input/output error" in run.err.splitlines()[0]
    assert "--skip-unreadable" in run.err.splitlines()[1]
    assert not (tmp_path / "a.csv").exists()
