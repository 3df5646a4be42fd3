"""Each length and count field at its extremes, the CRC mended: the right rows, or an error, or reported damage."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from crc32c import crc32c

import kafkalog_source
from kafkalog_source.errors import KafkaLogError
from kafkalog_source.verifying import verify
from tests.builders import Batch, Record, partition_dir, write_segment
from tests.builders.v2 import SOME_TIME
from tests.hostile.fields import NUMBERS, RECORDS, around, cases_07, cases_legacy, cases_v2, int32
from tests.hostile.measured import measure

COLUMNS = ["offset", "key", "value"]
MOST_MIB = 32
SUFFIX = ".log"


def rows(path: Path, **options: Any) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(scanned(path, **options).to_pylist())


def scanned(path: Path, **options: Any) -> pa.Table:
    return kafkalog_source.scan(path, columns=COLUMNS, threads=1, **options).to_table()


def check(path: Path) -> None:
    """What is read around a lie must be true, and the lie told of where rows are missing."""
    dropped = kafkalog_source.scan(path, columns=COLUMNS, threads=1, mode="DROPMALFORMED")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dropped.to_table().to_pylist()
    told = list(dropped.report()["damage"])
    try:
        assert rows(path) == found
        assert all(each["kind"] == "torn" for each in told), told
    except KafkaLogError:
        assert told
    assert {str(row["value"]) for row in found} <= KNOWN, found
    offsets = [row["offset"] for row in found]
    assert offsets == sorted(set(offsets))
    assert offsets[0] == 0
    assert bool(told) == any(str(each.severity) != "" for each in verify([str(path)], threads=1).all_findings)


KNOWN = {str(value) for value in (b"v0", b"v1", b"value", b"good", b"bad", None, b"")}
"""Values that were written, and those that a negative length stands for."""
ALL = [*cases_v2(), *cases_legacy()]


@pytest.mark.parametrize("part", range(8))
def test_a_field_that_lies(tmp_path: Path, part: int) -> None:
    for number, (name, content) in enumerate(ALL[part::8]):
        try:
            check(write_segment(partition_dir(tmp_path, f"t{number}"), content))
        except Exception as error:
            raise AssertionError(name) from error


def test_a_field_of_kafka_07_that_lies(tmp_path: Path) -> None:
    for number, (name, content) in enumerate(cases_07()):
        path = partition_dir(tmp_path, f"t{number}") / f"{0:020d}.kafka"
        path.write_bytes(content)
        try:
            check(path)
        except Exception as error:
            raise AssertionError(name) from error


def test_no_lie_takes_memory(tmp_path: Path) -> None:
    paths = [
        write_segment(partition_dir(tmp_path, f"t{number}"), content) for number, (_, content) in enumerate(ALL[::3])
    ]
    for each in measure([{"path": path, "mode": "DROPMALFORMED"} for path in paths]):
        assert each.error is None
        assert each.peak_mib <= MOST_MIB, each


def index_files() -> Iterator[tuple[str, str, bytes]]:
    """Name, suffix and content of files beside a segment, with a field at its extremes."""
    for number in NUMBERS:
        fixed = int32(number)
        for offset, position in ((fixed, 0), (1, fixed), (fixed, fixed)):
            content = struct.pack(">iiii", 1, 0, offset, position)
            yield f"index {offset} {position}", ".index", content
            yield f"index first {offset} {position}", ".index", content[8:] + content[:8]
        yield f"timeindex {number}", ".timeindex", struct.pack(">qi", SOME_TIME, fixed)
        for wide in (number, 2**63 - 1, -(2**63)):
            yield f"timeindex {wide} {number}", ".timeindex", struct.pack(">qi", wide, fixed)
            for place in range(4):
                fields = [1, 0, 5, 6]
                fields[place] = wide
                yield f"txnindex {place} {wide}", ".txnindex", struct.pack(">hqqqq", 0, *fields)
        yield f"snapshot count {number}", ".snapshot", snapshot(fixed, [1, 0, 5, 6, 1, SOME_TIME, 0, -1])
        for place in range(8):
            entry = [1, 0, 5, 6, 1, SOME_TIME, 0, -1]
            entry[place] = int16(number) if place == 1 else fixed if place in (2, 4, 6) else number
            yield f"snapshot {place} {number}", ".snapshot", snapshot(1, entry)


def int16(number: int) -> int:
    return (number + 2**15) % 2**16 - 2**15


def snapshot(count: int, entry: list[int]) -> bytes:
    covered = struct.pack(">i", count) + struct.pack(">qhiqiqiq", *entry)
    return struct.pack(">hI", 1, crc32c(covered)) + covered


def test_a_file_beside_the_segment_that_lies(tmp_path: Path) -> None:
    """Offsets, times and transactions are found as without it, or it is an error."""
    batches = [
        Batch(RECORDS, 10 * i, base_timestamp=SOME_TIME + i, transactional=True, producer_id=1, producer_epoch=0)
        for i in range(4)
    ]
    directory = partition_dir(tmp_path)
    log = write_segment(directory, batches)
    ways: list[dict[str, Any]] = [
        {"startingOffsets": {"topic": {"0": 11}}},
        {"startingTimestamp": SOME_TIME + 2},
        {"isolationLevel": "read_committed"},
        {"maxPartitionBytes": 100},
    ]
    wanted = [rows(directory, **way) for way in ways]
    for number, (name, suffix, content) in enumerate(index_files()):
        beside = log.with_suffix(suffix)
        beside.write_bytes(content)
        for way, right in zip(ways, wanted, strict=True):
            try:
                found = rows(directory, **way)
            except KafkaLogError:
                continue
            if suffix == ".txnindex" and "isolationLevel" in way:
                # What a transaction index says of transactions is believed where it can be true.
                assert len(found) <= len(rows(directory)), name
            else:
                assert found == right, (name, way)
        if number % 4 == 0:
            verify([str(directory)], threads=1)
        beside.unlink()


@pytest.mark.parametrize("name", ["log-start-offset-checkpoint", "replication-offset-checkpoint"])
@pytest.mark.parametrize(
    "number", [*map(str, (*NUMBERS, 2**63 - 1, 2**63, -(2**63), 10**30)), pytest.param("9" * 5000, id="long")]
)
@pytest.mark.parametrize("field", ["count", "partition", "offset"])
def test_a_checkpoint_that_lies(tmp_path: Path, name: str, number: str, field: str) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, around(Batch(RECORDS, 10)))
    fields = {"count": "1", "partition": "0", "offset": "0"}
    fields[field] = number
    (tmp_path / name).write_text(f"0\n{fields['count']}\ntopic {fields['partition']} {fields['offset']}\n")
    try:
        assert len(rows(tmp_path, readUpTo="highWatermark")) <= 6
    except KafkaLogError as error:
        assert len(str(error)) < 1000
    verify([str(tmp_path)], threads=1)


def test_records_are_those_that_were_written(tmp_path: Path) -> None:
    """What `check` relies on."""
    path = write_segment(partition_dir(tmp_path), around(Batch([Record(b"k", b"bad")], 10)))
    assert [row["offset"] for row in rows(path)] == [0, 1, 10, 20, 21]
