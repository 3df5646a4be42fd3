"""maxRecordsPerPartition: no split has more records, and each row comes once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source.errors import KafkaLogError
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.reading.read import read_split
from tests.builders import Batch, Message, Record, Wrapper, partition_dir, write_segment
from tests.builders.disk import Entry


def records_of_each_split(directory: Path, **options: object) -> list[list[int]]:
    splits = kafkalog_source.scan(directory, **options).splits()
    typed = parse_options(options, [str(directory)])
    return [
        [offset for batch in read_split(split, typed, ["offset"]) for offset in batch["offset"].to_pylist()]
        for split in splits
    ]


def batch(base: int, count: int, *, gap: int = 1) -> Batch:
    return Batch([Record(offset_delta=i * gap) for i in range(count)], base_offset=base, codec="lz4")


def wrapper(base: int, count: int, magic: int = 1) -> Wrapper:
    return Wrapper([Message(offset=base + i, magic=magic) for i in range(count)], magic=magic)


LOGS: dict[str, Sequence[Entry]] = {
    "one record a batch": [batch(i, 1) for i in range(20)],
    "batches of 7": [batch(7 * i, 7) for i in range(6)],
    "one large batch": [batch(0, 100)],
    "a large batch between small ones": [batch(0, 2), batch(2, 50), batch(52, 2)],
    "gaps between batches": [batch(1000 * i, 4) for i in range(6)],
    "gaps inside batches": [batch(1000 * i, 4, gap=100) for i in range(6)],
    "messages": [Message(offset=3 * i, magic=i % 2) for i in range(20)],
    "wrappers of v1": [wrapper(5 * i, 5) for i in range(6)],
    "wrappers of v0": [wrapper(5 * i, 5, 0) for i in range(6)],
    "a large wrapper": [wrapper(0, 3), wrapper(3, 60), wrapper(63, 2)],
    "all formats": [Message(offset=0, magic=0), wrapper(1, 9, 0), wrapper(10, 9), batch(19, 9), batch(40, 30)],
    "empty batches": [Batch([], base_offset=0, last_offset_delta=30), batch(31, 9), Batch([], base_offset=50)],
}


@pytest.mark.parametrize("most", [1, 2, 5, 10, 33, 1000])
@pytest.mark.parametrize("name", LOGS)
def test_no_split_has_more_records_and_each_row_comes_once(tmp_path: Path, name: str, most: int) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, LOGS[name])
    wanted = kafkalog_source.scan(directory, columns=["offset"]).to_table()["offset"].to_pylist()
    found = records_of_each_split(directory, maxRecordsPerPartition=most)
    assert [offset for split in found for offset in split] == wanted
    assert max(map(len, found)) <= most


@pytest.mark.parametrize("most", [1, 3, 10])
@pytest.mark.parametrize("name", LOGS)
def test_a_range_of_offsets_is_split_alike(tmp_path: Path, name: str, most: int) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, LOGS[name])
    bounds = {"startingOffsets": {"topic": {0: 3}}, "endingOffsets": {"topic": {0: 21}}, "failOnDataLoss": False}
    wanted = kafkalog_source.scan(directory, columns=["offset"], **bounds).to_table()["offset"].to_pylist()
    found = records_of_each_split(directory, maxRecordsPerPartition=most, **bounds)
    assert [offset for split in found for offset in split] == wanted
    assert max(map(len, found), default=0) <= most


def test_several_segments_and_partitions_share_splits(tmp_path: Path) -> None:
    for partition in range(3):
        directory = partition_dir(tmp_path, partition=partition)
        write_segment(directory, [batch(0, 4)])
        write_segment(directory, [batch(4, 4)], base_offset=4)
    found = records_of_each_split(tmp_path, maxRecordsPerPartition=12)
    assert [len(split) for split in found] == [12, 12]


@pytest.mark.parametrize("span", [2**20, 2**31 - 1])
def test_few_records_over_many_offsets_make_few_splits(tmp_path: Path, span: int) -> None:
    """Cut by offsets alone, such a batch once made a range for each offset that it does not have."""
    directory = partition_dir(tmp_path)
    write_segment(directory, [Batch([Record(), Record(offset_delta=span)]), Batch(base_offset=2**40)])
    assert records_of_each_split(directory, maxRecordsPerPartition=2) == [[0, span], [2**40]]


def test_messages_far_apart_make_few_splits(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [Message(offset=10**9 * i) for i in range(4)])
    assert records_of_each_split(directory, maxRecordsPerPartition=1) == [[10**9 * i] for i in range(4)]


def test_a_batch_far_larger_than_its_bytes_is_not_cut_into_more_ranges_than_it_has_bytes(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    log = write_segment(directory, [Batch([Record(offset_delta=i) for i in range(4000)], codec="zstd")])
    splits = kafkalog_source.scan(directory, maxRecordsPerPartition=1).splits()
    assert log.stat().st_size < 4000
    assert 10 < len(splits) <= log.stat().st_size
    found = kafkalog_source.scan(directory, columns=["offset"], maxRecordsPerPartition=1).to_table()
    assert found["offset"].to_pylist() == list(range(4000))


def flipped_bits(directory: Path, parts: Sequence[Entry], number: int, fields: Sequence[range]) -> Iterator[int]:
    """Write the log with each bit of some fields of one of its batches flipped; gives the size of the file."""
    content = [each.encode() for each in parts]
    for byte in (byte for field in fields for byte in field):
        for bit in range(8):
            lying = bytearray(content[number])
            lying[byte] ^= 1 << bit
            whole = b"".join([*content[:number], lying, *content[number + 1 :]])
            write_segment(directory, whole)
            yield len(whole)


OFFSET, LENGTH, LAST_OFFSET_DELTA, COUNT = range(8), range(8, 12), range(23, 27), range(57, 61)
DAMAGED: dict[str, tuple[Sequence[Entry], Sequence[range]]] = {
    "batches": ([batch(3 * i, 3) for i in range(6)], (OFFSET, LENGTH, LAST_OFFSET_DELTA, COUNT)),
    "wrappers of v1": ([wrapper(5 * i, 5) for i in range(3)], (OFFSET, LENGTH)),
    "wrappers of v0": ([wrapper(5 * i, 5, 0) for i in range(3)], (OFFSET, LENGTH)),
}


@pytest.mark.filterwarnings("ignore::kafkalog_source.errors.DamageWarning")
@pytest.mark.parametrize("most", [2, 100])
@pytest.mark.parametrize("mode", ["FAILFAST", "DROPMALFORMED"])
@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize(("name", "number"), [(name, number) for name in DAMAGED for number in (1, -1)])
def test_no_bit_makes_more_splits_than_the_file_has_bytes(
    tmp_path: Path, name: str, number: int, mode: str, most: int, verify: bool
) -> None:
    """Nothing of what a header says of offsets is believed before there are records to prove it."""
    directory = partition_dir(tmp_path)
    parts, fields = DAMAGED[name]
    for size in flipped_bits(directory, parts, number % len(parts), fields):
        scan = kafkalog_source.scan(
            directory, columns=["offset"], mode=mode, threads=1, verifyChecksums=verify, maxRecordsPerPartition=most
        )
        assert len(scan.splits()) <= size // 8
        plainly = kafkalog_source.scan(directory, columns=["offset"], mode=mode, threads=1, verifyChecksums=verify)
        try:
            wanted = plainly.to_table()["offset"].to_pylist()
        except KafkaLogError:
            with pytest.raises(KafkaLogError):
                scan.to_table()
            continue
        if verify:
            assert scan.to_table()["offset"].to_pylist() == wanted
            assert bool(scan.report()["damage"]) == bool(plainly.report()["damage"])


def test_a_batch_whose_records_cannot_be_counted(tmp_path: Path) -> None:
    """A batch that cannot be decoded is read as a whole, and says then what is wrong with it."""
    directory = partition_dir(tmp_path)
    content = bytearray(Batch([Record(offset_delta=i) for i in range(50)]).encode())
    content[-1] ^= 1
    write_segment(directory, bytes(content))
    scan = kafkalog_source.scan(directory, maxRecordsPerPartition=2)
    assert len(scan.splits()) == 1
    with pytest.raises(KafkaLogError, match="checksum"):
        scan.to_table()


def test_a_torn_tail_is_read_too(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    log = write_segment(directory, [batch(3 * i, 3) for i in range(4)])
    log.write_bytes(log.read_bytes()[:-3])
    scan = kafkalog_source.scan(directory, maxRecordsPerPartition=4, columns=["offset"])
    assert scan.to_table()["offset"].to_pylist() == list(range(9))
    assert [each["kind"] for each in scan.report()["damage"]] == ["torn"]
