"""The last batch of a preallocated segment, of which only the beginning was written when it was read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source.errors import CorruptBatchError
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading.read import SplitReader
from tests.builders import Batch, Message, Record, encode, partition_dir, write_segment
from tests.builders.disk import Entry

VALUE = bytes(range(1, 200))
WHOLE = encode([Batch([Record(value=VALUE)], base_offset=i) for i in range(3)])
LAST = Batch([Record(value=VALUE)], base_offset=3)
ENTRIES: list[Entry] = [LAST, Message(offset=3, value=VALUE), Message(offset=3, value=VALUE, magic=1)]


def read(path: Path, **options: object) -> tuple[list[int], list[dict[str, object]]]:
    scan = kafkalog_source.scan(path, columns=["offset"], **options)
    offsets = scan.to_table()["offset"].to_pylist()
    return offsets, scan.report()["damage"]


@pytest.mark.parametrize("entry", ENTRIES, ids=["v2", "v0", "v1"])
@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_a_batch_written_in_part_is_torn_wherever_the_zeros_begin(tmp_path: Path, entry: Entry, isolation: str) -> None:
    data = entry.encode()
    directory = partition_dir(tmp_path)
    for written in range(8, len(data) - 16, 13):
        write_segment(directory, WHOLE + data[:written] + bytes(10_000))
        offsets, damage = read(directory, isolationLevel=isolation)
        assert offsets == [0, 1, 2]
        assert [each["kind"] for each in damage] == ["torn"], written


@pytest.mark.parametrize("written", [9, 40, 200])
def test_the_first_batch_may_be_the_one_written_in_part(tmp_path: Path, written: int) -> None:
    write_segment(partition_dir(tmp_path), Batch([Record(value=VALUE)]).encode()[:written] + bytes(5000))
    assert read(tmp_path)[0] == []


def test_a_time_is_not_looked_for_in_a_batch_written_in_part(tmp_path: Path) -> None:
    late = Batch([Record(value=VALUE)], base_offset=3, base_timestamp=3 * 10**12).encode()
    write_segment(partition_dir(tmp_path), WHOLE + late[:100] + bytes(5000))
    options = {"startingTimestamp": 2 * 10**12, "startingOffsetsByTimestampStrategy": "latest"}
    assert read(tmp_path, **options)[0] == []


@pytest.mark.parametrize(
    ("behind", "following"),
    [(b"", False), (bytes(5000) + b"\x01", False), (bytes(5000), True)],
    ids=["nothing behind it", "not all zero behind it", "another segment"],
)
def test_elsewhere_it_is_damage(tmp_path: Path, behind: bytes, following: bool) -> None:
    directory = partition_dir(tmp_path)
    data = LAST.encode()
    write_segment(directory, WHOLE + data[:100] + bytes(len(data) - 100) + behind)
    if following:
        write_segment(directory, [Batch(base_offset=4)], base_offset=4)
    with pytest.raises(CorruptBatchError):
        read(directory)


@pytest.mark.parametrize("flipped", [30, 70, 150])
def test_a_damaged_batch_that_was_written_whole_is_damage(tmp_path: Path, flipped: int) -> None:
    data = bytearray(LAST.encode())
    data[flipped] ^= 4
    write_segment(partition_dir(tmp_path), WHOLE + data + bytes(5000))
    with pytest.raises(CorruptBatchError):
        read(tmp_path)


@pytest.mark.parametrize("written", [0, 10, 150])
def test_a_batch_that_is_finished_while_it_is_read_is_no_damage(
    tmp_path: Path, written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_segment(partition_dir(tmp_path), WHOLE + LAST.encode()[:written] + bytes(5000))
    options = parse_options({}, [str(tmp_path)])
    (split,) = plan_read(options).splits
    preadv = os.preadv

    def read_and_write_on(descriptor: int, *rest: object) -> int:
        got = preadv(descriptor, *rest)  # type: ignore[arg-type]
        with log.open("r+b") as file:
            file.seek(len(WHOLE))
            file.write(encode([LAST, Batch([Record(value=VALUE)], base_offset=4)]))
        return got

    monkeypatch.setattr(os, "preadv", read_and_write_on)
    reader = SplitReader(options, ["offset"])
    offsets = [offset for rows in reader.read(split) for offset in rows.column(0).to_pylist()]
    assert offsets in ([0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4])
    assert [each.kind.value for each in reader.report.damage] in ([], ["torn"])
