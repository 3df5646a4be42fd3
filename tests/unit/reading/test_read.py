"""Rows of batches that are larger than an Arrow batch, whole or damaged, and columns across the borders."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import kafkalog_source
from kafkalog_source.errors import CorruptBatchError, KafkaLogError
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading.read import SplitReader
from tests.builders import Batch, Header, Message, Record, Wrapper, control_record, encode, partition_dir, write_segment
from tests.builders.disk import Entry
from tests.comparing import COLUMNS, assert_same_rows, reference_rows, scan_rows
from tests.reference import decode_segment

MIB = 1 << 20
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def both(root: Path, content: Sequence[Entry], columns: Sequence[str] = COLUMNS, **options: Any) -> None:
    """Read with kafkalog and with the reference: they must agree."""
    log = write_segment(partition_dir(root), content)
    wanted = reference_rows(decode_segment(log.read_bytes()), log, topic="topic", partition=0, columns=columns)
    assert_same_rows(scan_rows(log, columns, **options), wanted, columns)


def large_records(count: int, size: int) -> list[Record]:
    """Records that differ, with nulls and headers here and there."""
    return [
        Record(
            key=None if i % 3 == 0 else b"key %d" % i,
            value=None if i % 7 == 0 else bytes([i % 256]) * (size + i % 5),
            headers=[Header(b"n\xff%d" % i, None if i % 2 else b"v")] * (i % 4),
            timestamp_delta=i,
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_of_several_arrow_batches_is_read_whole(tmp_path: Path, codec: str) -> None:
    middle = Batch(
        large_records(3000, 1500), base_offset=5, codec=codec, producer_id=7, producer_epoch=1, base_sequence=2**31 - 50
    )
    both(tmp_path, [Batch([Record()] * 5), middle, Batch(base_offset=3005, leader_epoch=9)])


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrapper_of_several_arrow_batches_is_read_whole(tmp_path: Path, magic: int, codec: str) -> None:
    messages = [
        Message(None if i % 3 else b"k%d" % i, bytes(1500 + i % 3), offset=i + 1, magic=magic) for i in range(2500)
    ]
    content: list[Entry] = [Message(offset=0, magic=magic)]
    content += messages if codec == "none" else [Wrapper(messages, codec, magic)]
    both(tmp_path, [*content, Batch(base_offset=5000)])


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_value_of_10_mib_is_read(tmp_path: Path, magic: int, codec: str) -> None:
    value = bytes(range(256)) * (10 * MIB // 256)
    if magic == 2:
        entry: Entry = Batch([Record(), Record(value=value), Record()], base_offset=1, codec=codec)
    elif codec == "zstd":
        return
    else:
        message = Message(value=value, offset=1, magic=magic)
        entry = message if codec == "none" else Wrapper([message], codec, magic)
    both(
        tmp_path,
        [Message(offset=0, magic=magic % 2), entry, Batch(base_offset=9)],
        ["offset", "key", "value", "valueSize"],
    )


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_very_many_tiny_records_in_one_batch_are_read(tmp_path: Path, codec: str) -> None:
    count = 200_000
    batch = Batch([Record(key=None, value=None)] * count, codec=codec, base_offset=3)
    write_segment(partition_dir(tmp_path), [batch])
    reader = kafkalog_source.scan(tmp_path, columns=["offset", "key", "value", "headers"]).to_reader()
    rows = 0
    for arrow_batch in reader:
        assert arrow_batch.num_rows <= 1 << 17
        assert arrow_batch["offset"][0].as_py() == 3 + rows
        assert arrow_batch["key"].null_count == arrow_batch["headers"].null_count == arrow_batch.num_rows
        rows += arrow_batch.num_rows
    assert rows == count


def offsets_before_the_error(path: Path, **options: Any) -> tuple[list[int], KafkaLogError]:
    reader = kafkalog_source.scan(path, columns=["offset", "value"], threads=1, **options).to_reader()
    found: list[int] = []
    with pytest.raises(CorruptBatchError) as caught:  # noqa: PT012 - iterating raises
        for batch in reader:
            found += batch["offset"].to_pylist()
    return found, caught.value


@pytest.mark.parametrize("codec", ["none", "zstd"])
@pytest.mark.parametrize("bad", [0, 1500, 2999])
@pytest.mark.parametrize("what", ["key_length", "length", "offset_delta", "header_count"])
def test_no_row_of_a_large_damaged_batch_comes_out(tmp_path: Path, codec: str, bad: int, what: str) -> None:
    """Its checksum is right: the damage is found inside, behind records that fill Arrow batches."""
    lies = {"key_length": 10**6, "length": 3, "offset_delta": 0, "header_count": -1}
    records = [Record(value=bytes(1500)) for _ in range(3000)]
    records[bad] = Record(value=bytes(1500), **{what: lies[what]})  # type: ignore[arg-type]
    if (what, bad) == ("offset_delta", 0):
        return
    first = [Batch([Record(value=bytes(700_000))], base_offset=i) for i in range(4)]
    log = write_segment(partition_dir(tmp_path), [*first, Batch(records, base_offset=4, codec=codec)])
    found, error = offsets_before_the_error(log)
    assert set(found) <= {0, 1, 2, 3}
    assert (error.position, error.base_offset) == (len(encode(first)), 4)


@pytest.mark.parametrize("count", [2999, 3001, 0, -1, 2**31 - 1])
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_no_row_comes_out_of_a_large_batch_whose_count_lies(tmp_path: Path, codec: str, count: int) -> None:
    records = [Record(value=bytes(1500)) for _ in range(3000)]
    log = write_segment(partition_dir(tmp_path), [Batch(records, codec=codec, count=count)])
    assert offsets_before_the_error(log)[0] == []


@pytest.mark.parametrize("codec", ["gzip", "lz4"])
@pytest.mark.parametrize("bad", [0, 1000, 1999])
def test_no_row_of_a_large_damaged_wrapper_comes_out(tmp_path: Path, codec: str, bad: int) -> None:
    for lie in ({"crc": 1}, {"value_length": 10**6}, {"size": 20}, {"attributes": 1}):
        messages = [Message(value=bytes(1500), offset=i) for i in range(2000)]
        messages[bad] = Message(value=bytes(1500), offset=bad, **lie)  # type: ignore[arg-type]
        log = write_segment(partition_dir(tmp_path), [Wrapper(messages, codec)])
        assert offsets_before_the_error(log)[0] == []


def test_no_row_of_a_large_control_batch_with_a_bad_key_comes_out(tmp_path: Path) -> None:
    records = [control_record(0, value=bytes(1500)) for _ in range(2000)]
    records[1990] = control_record(0, key=b"x", value=bytes(1500))
    log = write_segment(partition_dir(tmp_path), [Batch(records, control=True)])
    reader = kafkalog_source.scan(
        log, columns=["offset", "value", "controlType"], includeControlRecords=True, threads=1
    ).to_reader()
    found = 0
    with pytest.raises(CorruptBatchError):  # noqa: PT012 - iterating raises
        for batch in reader:
            found += batch.num_rows
    assert found == 0


def test_columns_of_a_batch_are_right_on_both_sides_of_every_border(tmp_path: Path) -> None:
    """Batches of every kind, large ones among them, so that Arrow batches end inside, at and between them."""
    content: list[Entry] = []
    at = 0
    for i, count in enumerate((1, 700, 3, 1200, 1, 1, 900, 40)):
        kind = i % 4
        if kind == 3:
            content.append(Wrapper([Message(value=bytes(2000), offset=at + j) for j in range(count)], "lz4"))
        else:
            content.append(
                Batch(
                    [Record(value=bytes(2000), headers=[Header()] * (j % 2)) for j in range(count)],
                    base_offset=at,
                    codec=("none", "zstd", "snappy")[kind],
                    leader_epoch=i - 1,
                    producer_id=-1 if i % 2 else i,
                    producer_epoch=-1 if i % 2 else i,
                    base_sequence=-1 if i % 2 else 10 * i,
                    transactional=bool(i % 2),
                    log_append_time=bool(i % 3),
                )
            )
        at += count
    both(tmp_path, content)


@pytest.mark.parametrize("columns", [COLUMNS, ("offset",), ("value",), ("headers", "file"), ("topic",)])
def test_every_arrow_batch_has_the_exact_schema(tmp_path: Path, columns: tuple[str, ...]) -> None:
    for partition, magic in ((0, 2), (1, 1), (2, 0)):
        directory = partition_dir(tmp_path, partition=partition)
        entries: list[Entry] = [
            Batch(large_records(20, 9000), base_offset=20 * i)
            if magic == 2
            else Message(None, None, offset=i, magic=magic)
            for i in range(40)
        ]
        write_segment(directory, entries)
    options = parse_options({"maxPartitionBytes": 100_000}, [str(tmp_path)])
    scan = kafkalog_source.scan(tmp_path, columns=columns)
    reader = SplitReader(options, columns)
    rows = 0
    for split in plan_read(options).splits:
        for batch in reader.read(split):
            assert batch.schema.equals(scan.schema, check_metadata=True)
            batch.validate(full=True)
            rows += batch.num_rows
    assert rows == 20 * 40 + 80


def test_arrow_batches_stay_as_they_are_while_reading_goes_on(tmp_path: Path) -> None:
    """Their memory goes back to the pool only when they are gone."""
    records = [[Record(value=bytes([i % 251]) * 3000) for _ in range(50)] for i in range(60)]
    write_segment(partition_dir(tmp_path), [Batch(each, base_offset=50 * i) for i, each in enumerate(records)])
    kept = list(kafkalog_source.scan(tmp_path, threads=2).to_reader())
    assert len(kept) > 5
    values = pa.Table.from_batches(kept)["value"].to_pylist()
    assert values == [bytes([i % 251]) * 3000 for i in range(60) for _ in range(50)]


@pytest.mark.parametrize(
    ("base", "delta", "null"),
    [
        (2**63 - 1, 0, True),
        (2**63 - 1, 1, True),
        (-(2**63), 0, True),
        (2**62, 2**62, True),
        ((2**63 - 1) // 1000, 0, False),
        ((2**63 - 1) // 1000, 1, True),
        (-((2**63 - 1) // 1000), 0, False),
        (-((2**63 - 1) // 1000), -1, True),
        (-62_135_596_800_000, 0, False),
        (-2, 0, False),
        (0, 0, False),
    ],
)
def test_times_that_microseconds_cannot_hold_are_null_and_counted(
    tmp_path: Path, base: int, delta: int, null: bool
) -> None:
    write_segment(partition_dir(tmp_path), [Batch([Record(timestamp_delta=delta)], base_timestamp=base)])
    scan = kafkalog_source.scan(tmp_path, columns=["timestamp"])
    (found,) = scan.to_table()["timestamp"].cast("int64").to_pylist()
    assert found == (None if null else (base + delta) * 1000)
    assert scan.report()["times_out_of_range"] == null


def test_a_time_of_minus_one_is_null_and_not_counted(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path), [Batch(base_timestamp=-1), Message(offset=1, timestamp=-1)])
    scan = kafkalog_source.scan(tmp_path, columns=["timestamp", "timestampType"])
    assert scan.to_table().to_pylist() == [{"timestamp": None, "timestampType": 0}] * 2
    assert scan.report()["times_out_of_range"] == 0


def test_headers_count_for_the_size_of_an_arrow_batch(tmp_path: Path) -> None:
    """Millions of them without a byte take memory all the same."""
    record = Record(key=None, value=None, header_count=150_000, extra=b"\0\1" * 150_000)
    path = write_segment(partition_dir(tmp_path), [Batch([record], offset, "zstd") for offset in range(4)])
    found = [batch.num_rows for batch in kafkalog_source.scan(path, threads=1).to_reader()]
    assert found == [1, 1, 1, 1]


@pytest.mark.parametrize("options", [{}, {"isolationLevel": "read_committed"}, {"mode": "PERMISSIVE"}])
def test_what_was_read_with_is_let_go_of_at_once(tmp_path: Path, options: dict[str, str]) -> None:
    """Python's collector of cycles may wait until a worker of Spark has no memory for its next task."""
    entries = [Batch(transactional=True, producer_id=1), Batch(base_offset=1, crc=1), Batch(base_offset=2)]
    path = str(write_segment(partition_dir(tmp_path), entries[:: 1 if "mode" in options else 2]))
    parsed = parse_options(options, path)
    splits = plan_read(parsed).splits
    reader = SplitReader(parsed, ["offset", "transactionState", "_corrupt_record"])
    gc.collect()
    gc.disable()
    try:
        for split in splits:
            list(reader.read(split))
        kept = weakref.ref(reader)
        del reader
        assert kept() is None
    finally:
        gc.enable()
