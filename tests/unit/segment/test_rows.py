"""What a segment gives that ends early, is damaged or is none; and that damage can be read around."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source.errors import CorruptBatchError, KafkaLogError, LimitError, UnsupportedFormatError
from tests.builders import Batch, Message, Record, Wrapper, encode, offset_index, partition_dir, write_segment
from tests.builders.compress import CODEC_NUMBERS
from tests.builders.disk import Entry
from tests.comparing import scan_rows

SMALL = [Batch(base_offset=i) for i in range(20)]
SIZE = len(encode(SMALL[:1]))
WHOLE = encode(SMALL)


def redpanda() -> bytes:
    header = struct.pack("<IIq", 0x12345678, 500, 3) + bytes([1])
    return header + bytes(range(1, 200)) * 3


def scan_of(root: Path, content: bytes, *, after: bytes | None = None) -> kafkalog_source.reading.scan.Scan:
    directory = partition_dir(root)
    write_segment(directory, content)
    if after is not None:
        write_segment(directory, after, base_offset=20)
    return kafkalog_source.scan(directory, columns=["offset"])


@pytest.mark.parametrize("size", range(3 * SIZE + 1))
def test_a_log_cut_anywhere_gives_its_whole_batches_and_says_what_is_torn(tmp_path: Path, size: int) -> None:
    scan = scan_of(tmp_path, WHOLE[:size])
    assert scan.to_table()["offset"].to_pylist() == list(range(size // SIZE))
    torn = size % SIZE
    report = scan.report()
    assert [(each["position"], each["size"], each["kind"]) for each in report["damage"]] == (
        [(size - torn, torn, "torn")] if torn else []
    )
    assert report["bytes_total"] == size


@pytest.mark.parametrize("torn", [8, 11, 12, 16, 17, 40, 60, 61, 75])
def test_a_torn_batch_before_another_segment_is_damage(tmp_path: Path, torn: int) -> None:
    scan = scan_of(tmp_path, WHOLE[: 2 * SIZE + torn], after=encode([Batch(base_offset=20)]))
    with pytest.raises(CorruptBatchError) as caught:
        scan.to_table()
    assert caught.value.position == 2 * SIZE


@pytest.mark.parametrize("zeros", [1, 11, 12, 13, 61, 5000, 3 << 20])
@pytest.mark.parametrize("last", [True, False])
def test_zeros_to_the_end_are_a_clean_end_of_any_segment(tmp_path: Path, zeros: int, last: bool) -> None:
    scan = scan_of(tmp_path, WHOLE + bytes(zeros), after=None if last else encode([Batch(base_offset=20)]))
    assert scan.to_table().num_rows == (20 if last else 21)
    # At the end of the log, too few zeros for a length may as well be the first bytes of an offset.
    torn = [("torn", len(WHOLE), zeros)] if last and zeros < 12 else []
    assert [(each["kind"], each["position"], each["size"]) for each in scan.report()["damage"]] == torn


@pytest.mark.parametrize("hole", [12, 61, SIZE, 3000])
def test_a_hole_of_zeros_is_damage_with_the_offsets_lost(tmp_path: Path, hole: int) -> None:
    data = WHOLE[: 5 * SIZE] + bytes(hole) + WHOLE[8 * SIZE :]
    scan = scan_of(tmp_path, data)
    with pytest.raises(CorruptBatchError) as caught:
        scan.to_table()
    assert (caught.value.position, caught.value.base_offset) == (5 * SIZE, 5)
    (damage,) = scan.report()["damage"]
    assert (damage["size"], damage["first_offset"], damage["last_offset"]) == (hole, 5, 7)


@pytest.mark.parametrize(
    "content",
    [
        b"This is a text and not a segment of anything at all. " * 20,
        b"\xff" * 1000,
        b'{"json": true, "lines": [1, 2, 3]}\n' * 50,
        b"\x7fELF" + bytes(range(256)) * 4,
        b"PAR1" + bytes(range(256)) * 4,
    ],
)
@pytest.mark.parametrize("last", [True, False])
def test_a_file_of_another_kind_is_refused_by_name(tmp_path: Path, content: bytes, last: bool) -> None:
    scan = scan_of(tmp_path, content, after=None if last else encode([Batch(base_offset=20)]))
    with pytest.raises(UnsupportedFormatError, match="not a Kafka segment") as caught:
        scan.to_table()
    assert caught.value.position == 0


def test_a_segment_of_redpanda_is_refused_as_that(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFormatError, match="Redpanda"):
        scan_of(tmp_path, redpanda()).to_table()


@pytest.mark.parametrize("content", [b"", b"\0", b"x", bytes(11), bytes(12), bytes(100)])
def test_a_file_too_short_to_judge_or_of_zeros_has_no_rows(tmp_path: Path, content: bytes) -> None:
    assert scan_of(tmp_path, content).to_table().num_rows == 0


DAMAGES = {
    "length too large": (8, 0x7F),
    "length too small": (11, 0),
    "magic": (16, 9),
    "offset falls": (7, 0),
    "checksum": (17, 0xAA),
    "count": (60, 0x55),
    "record": (70, 0xFF),
}


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("index", [None, [(i, i * SIZE) for i in range(2, 20, 3)]], ids=["no index", "index"])
def test_damage_is_an_error_and_can_be_read_around_by_offsets(
    tmp_path: Path, kind: str, index: list[tuple[int, int]] | None
) -> None:
    at, byte = DAMAGES[kind]
    data = bytearray(WHOLE)
    data[5 * SIZE + at] = byte
    directory = partition_dir(tmp_path)
    write_segment(directory, bytes(data), index=None if index is None else offset_index(index))
    with pytest.raises(CorruptBatchError) as caught:
        scan_rows(directory, ["offset"])
    assert caught.value.position == 5 * SIZE
    assert caught.value.remedy is not None
    assert "startingOffsets" in caught.value.remedy
    before = scan_rows(directory, ["offset"], endingOffsets={"topic": {0: 5}})
    assert before == [(i,) for i in range(5)]
    behind = scan_rows(directory, ["offset"], startingOffsets={"topic": {0: 6}})
    assert behind == [(i,) for i in range(6, 20)]
    inside = {"startingOffsets": {"topic": {0: 10}}, "endingOffsets": {"topic": {0: 12}}}
    assert scan_rows(directory, ["offset"], **inside) == [(10,), (11,)]
    if (kind, index is None) == ("offset falls", False):
        return  # an index leads straight to it, and nothing there tells that its offset was another
    with pytest.raises(CorruptBatchError):
        scan_rows(directory, ["offset"], startingOffsets={"topic": {0: 5}})


def batch_of(magic: int, codec: str, value: bytes) -> Entry:
    if magic == 2:
        return Batch([Record(value=value)], base_offset=1, codec=codec)
    message = Message(value=value, offset=1, magic=magic)
    return message if codec == "none" else Wrapper([message], codec, magic)


@pytest.mark.parametrize("size", [2000, 70_000, 2 << 20])
@pytest.mark.parametrize("codec", CODEC_NUMBERS)
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_batch_larger_than_allowed_is_a_limit_error_with_its_place(
    tmp_path: Path, magic: int, codec: str, size: int
) -> None:
    """Whether it is compressed, and wherever the window that it was read in begins."""
    if codec == "zstd" and magic < 2:
        return
    first = Batch()
    directory = partition_dir(tmp_path)
    log = write_segment(directory, [first, batch_of(magic, codec, bytes(size))])
    with pytest.raises(LimitError, match="maxDecompressedBatchBytes") as caught:
        scan_rows(directory, maxDecompressedBatchBytes=1000)
    assert (caught.value.file, caught.value.position) == (str(log), SIZE)
    assert len(scan_rows(directory, maxDecompressedBatchBytes=size + 1000)) == 2


@pytest.mark.parametrize("claimed", [10**6, 2**31 - 13])
def test_a_length_that_lies_within_a_large_file_makes_no_large_allocation(tmp_path: Path, claimed: int) -> None:
    log = write_segment(partition_dir(tmp_path), encode([Batch(length=claimed)]))
    with log.open("r+b") as file:
        # Zeros up to the end would be a batch that is half written.
        file.seek((3 << 30) - 1)
        file.write(b"\x01")
    with pytest.raises(KafkaLogError) as caught:
        scan_rows(log)
    assert caught.value.position == 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"maxRecordsPerPartition": 3},
        {"maxRecordsPerPartition": 1},
        {"maxPartitionBytes": 1},
        {"maxPartitionBytes": 200},
        {"minPartitions": 9},
        {"threads": 2, "maxPartitionBytes": 100},
    ],
)
@pytest.mark.parametrize("end", [6, 7, 10, 19, -1])
@pytest.mark.parametrize("indexed", [False, True])
def test_an_offset_that_is_too_high_does_not_hide_the_batches_behind_it(
    tmp_path: Path, end: int, options: dict[str, int], indexed: bool
) -> None:
    """No checksum covers it: the batch seemed to lie behind the range, and reading ended there without a word."""
    data = bytearray(WHOLE)
    data[5 * SIZE + 2] = 1
    directory = partition_dir(tmp_path)
    index = offset_index([(i, i * SIZE) for i in range(2, 20, 3)]) if indexed else None
    write_segment(directory, bytes(data), index=index)
    with pytest.raises(CorruptBatchError) as caught:
        scan_rows(directory, ["offset"], endingOffsets={"topic": {0: end}}, **options)
    assert caught.value.position in (5 * SIZE, 6 * SIZE)
    behind = {"startingOffsets": {"topic": {0: 7}}, "endingOffsets": {"topic": {0: 12}}}
    assert scan_rows(directory, ["offset"], **behind) == [(i,) for i in range(7, 12)]


@pytest.mark.parametrize("start", [6, 7, 8])
def test_a_length_that_swallows_the_batches_behind_it_does_not_hide_them(tmp_path: Path, start: int) -> None:
    """The batch lies below the range; its length ends where another batch begins, past some that are wanted."""
    data = bytearray(WHOLE)
    data[5 * SIZE + 8 : 5 * SIZE + 12] = struct.pack(">i", 4 * SIZE - 12)
    directory = partition_dir(tmp_path)
    write_segment(directory, bytes(data))
    with pytest.raises(CorruptBatchError) as caught:
        scan_rows(directory, ["offset"])
    assert caught.value.position == 5 * SIZE
    # Its checksum proves where it ends, so that nothing of what is wanted is lost.
    behind = scan_rows(directory, ["offset"], startingOffsets={"topic": {0: start}})
    assert behind == [(i,) for i in range(start, 20)]
