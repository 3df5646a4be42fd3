"""Messages that lie whole, in plain bytes, inside a compressed set are no entries of the log, whatever is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkalog_source
from tests.builders import Batch, Message, Record, Wrapper, encode, partition_dir, write_segment
from tests.builders.disk import Entry

pytestmark = pytest.mark.filterwarnings("ignore::kafkalog_source.errors.DamageWarning")

SIZE_FIELD, CRC_PLACE, MAGIC_PLACE = 8, 12, 16
CRC_PLACE_V2, DELTA_PLACE_V2 = 17, 23


def plainly_stored(first: int, count: int, magic: int) -> Wrapper:
    """A set whose codec had nothing to gain."""
    messages = [Message(offset=first + i, magic=magic) for i in range(count)]
    return Wrapper(messages, "lz4", magic, compress=lambda plain: b"\x04\x22\x4d\x18" + plain)


def harmed(entry: Entry, *places: int) -> bytes:
    data = bytearray(entry.encode())
    for place in places:
        data[place] ^= 0x10
    return bytes(data)


def read(root: Path, content: bytes) -> tuple[list[int], list[tuple[int, int]]]:
    """The offsets, and the damaged regions."""
    path = write_segment(partition_dir(root), content)
    scan = kafkalog_source.scan(path, columns=["offset"], mode="DROPMALFORMED", threads=1)
    offsets = scan.to_table()["offset"].to_pylist()
    return offsets, [(each["position"], each["size"]) for each in scan.report()["damage"]]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("end", [b"", bytes(1000), Batch(base_offset=20).encode()[:30]], ids=["end", "zeros", "cut"])
def test_behind_another_damaged_entry_up_to_where_all_ends(tmp_path: Path, magic: int, end: bytes) -> None:
    bad = harmed(Message(offset=0, magic=magic), CRC_PLACE), harmed(plainly_stored(1, 4, magic), CRC_PLACE)
    sizes = [len(each) for each in bad]
    offsets, damage = read(tmp_path, b"".join(bad) + end)
    assert offsets == []
    assert damage[:2] == [(0, sizes[0]), (sizes[0], sizes[1])]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("place", [CRC_PLACE_V2, DELTA_PLACE_V2])
def test_before_another_damaged_entry(tmp_path: Path, magic: int, place: int) -> None:
    bad = harmed(plainly_stored(0, 4, magic), CRC_PLACE)
    content = bad + harmed(Batch(base_offset=4), place) + encode([Batch(base_offset=5)])
    offsets, damage = read(tmp_path, content)
    assert offsets == [5]
    assert damage[0] == (0, len(bad))


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("count", [3, 9, 500])
def test_whose_length_is_damaged(tmp_path: Path, magic: int, count: int) -> None:
    """Its own checksum tells where it ends, however many messages lie before that."""
    whole = plainly_stored(0, count, magic)
    rest = encode([Message(offset=count + i, magic=magic) for i in range(3)])
    for place in range(SIZE_FIELD, SIZE_FIELD + 4):
        offsets, damage = read(tmp_path, harmed(whole, place) + rest)
        assert offsets == [count, count + 1, count + 2]
        assert damage == [(0, len(whole.encode()))]


@pytest.mark.parametrize(
    "junk", [harmed(Batch(base_offset=1), CRC_PLACE_V2), harmed(Batch(base_offset=1), 10), b"\xfe" * 99]
)
def test_before_a_batch_of_more_than_64_mib(tmp_path: Path, junk: bytes) -> None:
    large = Batch([Record(value=bytes(66 << 20))], 2)
    offsets, damage = read(tmp_path, encode([Batch()]) + junk + encode([large, Batch(base_offset=3)]))
    assert offsets == [0, 2, 3]
    assert damage == [(len(Batch().encode()), len(junk))]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4"])
@pytest.mark.parametrize("first", [0, 10])
@pytest.mark.parametrize("end", [15, 19, 20])
def test_a_set_that_passes_for_one_behind_the_range(tmp_path: Path, codec: str, first: int, end: int) -> None:
    """The offset of a set is its last. Read as a batch of format v2 it begins there, behind the range perhaps."""
    sets = [
        Wrapper([Message(b"k", b"v", offset + i, 0) for i in range(10)], codec, 0) for offset in range(first, 11, 10)
    ]
    data = bytearray(encode(sets))
    data[-len(sets[-1].encode()) + MAGIC_PLACE] ^= 2
    directory = partition_dir(tmp_path)
    write_segment(directory, bytes(data), base_offset=first)
    scan = kafkalog_source.scan(
        directory, columns=["offset"], mode="DROPMALFORMED", threads=1, endingOffsets={"topic": {"0": end}}
    )
    assert scan.to_table()["offset"].to_pylist() == list(range(first, 10))
    assert [each["first_offset"] for each in scan.report()["damage"]] == [10]
