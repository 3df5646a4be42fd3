"""`scan`: lazy, repeatable, closed early without harm, and taken as it is by other libraries."""

from __future__ import annotations

import contextlib
import functools
import gc
import pickle
import threading
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kafkalog_source
from kafkalog_source.errors import CorruptBatchError, LogDirError, OptionError
from tests.builders import Batch, Header, Record, encode, partition_dir, write_segment


@functools.cache
def content() -> bytes:
    records = [Record(b"k%d" % i, bytes(20_000), [Header(b"h", b"v")]) for i in range(100)]
    return encode([Batch(records, base_offset=100 * i) for i in range(6)])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three partitions of 600 records and 12 MB each."""
    for partition in range(3):
        write_segment(partition_dir(tmp_path, partition=partition), content())
    return tmp_path


@pytest.fixture
def damaged(log: Path) -> Path:
    file = log / "topic-1" / f"{0:020d}.log"
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)
    return log


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "work" in thread.name]


def test_nothing_is_read_before_rows_are_asked_for(tmp_path: Path) -> None:
    scan = kafkalog_source.scan(tmp_path / "nowhere")
    assert scan.schema.names[:3] == ["key", "value", "topic"]
    with pytest.raises(LogDirError):
        scan.to_reader()


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_rows_keep_their_order_with_any_number_of_threads(log: Path, threads: int | None) -> None:
    table = kafkalog_source.scan(log, columns=["partition", "offset"], threads=threads).to_table()
    rows = list(zip(table["partition"].to_pylist(), table["offset"].to_pylist(), strict=True))
    assert rows == [(partition, offset) for partition in range(3) for offset in range(600)]


def test_a_scan_can_be_read_several_times(log: Path) -> None:
    scan = kafkalog_source.scan(log)
    assert scan.to_table().equals(scan.to_table())


def test_two_readers_of_one_scan_do_not_disturb_each_other(log: Path) -> None:
    scan = kafkalog_source.scan(log, columns=["offset"])
    one, other = scan.to_reader(), scan.to_reader()
    rows = [0, 0]
    for batches in zip(one, other, strict=True):
        rows = [count + batch.num_rows for count, batch in zip(rows, batches, strict=True)]
    assert rows == [1800, 1800]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_reaches_the_reader_after_the_rows_before_it(damaged: Path, threads: int) -> None:
    reader = kafkalog_source.scan(damaged, columns=["partition", "value"], threads=threads).to_reader()
    partitions: list[int] = []
    with pytest.raises(CorruptBatchError, match="topic-1"):  # noqa: PT012 - iterating raises
        for batch in reader:
            partitions += batch["partition"].to_pylist()
    assert partitions.count(0) == 600
    assert 2 not in partitions
    assert not workers()


def test_a_reader_that_is_dropped_ends_its_threads(log: Path) -> None:
    reader = kafkalog_source.scan(log, threads=3).to_reader()
    reader.read_next_batch()
    del reader
    gc.collect()
    assert not workers()


def test_a_reader_that_is_closed_ends_its_threads(log: Path) -> None:
    reader = kafkalog_source.scan(log, threads=3).to_reader()
    with contextlib.closing(reader):
        reader.read_next_batch()
    del reader
    gc.collect()
    assert not workers()


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_have_to_be_one_at_least(log: Path, threads: int) -> None:
    with pytest.raises(OptionError, match="threads"):
        kafkalog_source.scan(log, threads=threads)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([], "no column"),
        (["ofset"], "'ofset' does not exist"),
        (["offset", "offset"], "twice"),
    ],
)
def test_columns_that_cannot_be_given_are_refused_at_once(log: Path, columns: list[str], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        kafkalog_source.scan(log, columns=columns)


def test_columns_come_in_the_order_asked_for(log: Path) -> None:
    scan = kafkalog_source.scan(log, columns=["valueSize", "topic", "offset"])
    assert scan.to_table().column_names == scan.schema.names == ["valueSize", "topic", "offset"]


def test_headers_can_be_left_out(log: Path) -> None:
    assert "headers" not in kafkalog_source.scan(log, includeHeaders=False).schema.names


def test_paths_may_be_several_and_of_any_kind(log: Path) -> None:
    paths = [log / "topic-0", str(log / "topic-2")]
    found = kafkalog_source.scan(paths, columns=["partition"]).to_table()["partition"].unique().to_pylist()
    assert found == [0, 2]


def test_duckdb_polars_pandas_and_pyarrow_take_a_scan_as_it_is(log: Path) -> None:
    scan = kafkalog_source.scan(log)
    counted = duckdb.sql("select count(*), sum(octet_length(value)), max(headers[1].key) from scan").fetchall()
    assert counted == [(1800, 1800 * 20_000, "h")]
    frame = pl.DataFrame(kafkalog_source.scan(log, columns=["partition", "offset", "timestamp"]))
    assert frame.height == 1800
    assert frame["offset"].sum() == 3 * sum(range(600))
    table = pa.table(scan)
    assert table.schema.equals(scan.schema)
    pandas = pa.RecordBatchReader.from_stream(kafkalog_source.scan(log, columns=["topic", "offset"])).read_pandas()
    assert isinstance(pandas, pd.DataFrame)
    assert len(pandas) == 1800


def test_a_stream_can_be_asked_for_in_another_schema(log: Path) -> None:
    scan = kafkalog_source.scan(log, columns=["topic", "offset"])
    wanted = pa.schema([("topic", pa.large_string()), ("offset", pa.int64())])
    reader = pa.RecordBatchReader.from_stream(scan, schema=wanted)
    assert reader.schema == wanted
    assert reader.read_all().num_rows == 1800


def test_what_goes_wrong_in_another_library_still_says_where(damaged: Path) -> None:
    scan = kafkalog_source.scan(damaged)
    with pytest.raises(Exception, match=r"topic-1.*00000\.log"):
        duckdb.sql("select sum(octet_length(value)) from scan").fetchall()
    with pytest.raises(Exception, match=r"topic-1.*00000\.log"):
        pl.DataFrame(scan)
    assert not workers()


def test_nothing_is_written_below_the_path(log: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in log.rglob("*")}
    kafkalog_source.scan(log).to_table()
    assert {path: path.stat().st_mtime_ns for path in log.rglob("*")} == before


def test_splits_are_read_one_by_one_as_a_whole_and_after_pickling(log: Path) -> None:
    planned = kafkalog_source.scan(log, columns=["offset", "value"], minPartitions=3)
    splits = planned.splits()
    assert len(splits) >= 3
    elsewhere, sent = pickle.loads(pickle.dumps((planned, splits)))
    found = [batch for split in sent for batch in elsewhere.read_split(split)]
    assert pa.Table.from_batches(found, planned.schema) == planned.to_table()


def test_a_split_gives_the_batches_that_its_records_are_in(log: Path) -> None:
    splits = kafkalog_source.scan(log, minPartitions=3).splits()
    records, batches = (
        kafkalog_source.scan(log, view=view, columns=["batchPosition"]) for view in ("records", "batches")
    )
    for split in splits:
        positions = [
            {position for rows in read.read_split(split) for position in rows["batchPosition"].to_pylist()}
            for read in (records, batches)
        ]
        assert positions[0] == positions[1] != set()


def test_damage_of_a_split_is_raised_as_in_the_whole(damaged: Path) -> None:
    whole = kafkalog_source.scan(damaged)
    (split,) = (each for each in whole.splits() if any(part.partition == 1 for part in each.ranges))
    with pytest.raises(CorruptBatchError):
        list(whole.read_split(split))
