"""What a damaged region shows as found: the header fields that were read, and both checksums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source._core.codes import CODE
from kafkalog_source.errors import CorruptBatchError
from kafkalog_source.segment.damage.found import found_in_batch
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.v07.found import found_in_message
from tests.builders import Batch, Message, Record, encode, partition_dir, write_segment
from tests.builders.disk import Entry
from tests.builders.v07 import Message07, encode_07, write_segment_07
from tests.reference.checksums import crc32, crc32c

SIZE = len(Batch().encode())
SECRET = b"a value that nobody is to see"


def between(entry: Entry) -> bytes:
    """The entry at offset 1, between two valid ones."""
    return encode([Batch(base_offset=0), entry, Batch(base_offset=2)])


def damage_of(root: Path, content: bytes) -> dict[str, Any]:
    """The only damaged region of a segment."""
    directory = partition_dir(root)
    write_segment(directory, content)
    (found,) = kafkalog_source.scan(directory, view="damage").to_table().to_pylist()
    return dict(found)


@pytest.mark.parametrize(
    ("entry", "checksum", "covered_from"),
    [
        (Batch(base_offset=1, crc=0x12AB), crc32c, 21),
        (Batch([Record(value=bytes(3 << 20))], base_offset=1, crc=0x12AB), crc32c, 21),
        (Message(offset=1, crc=0x12AB), crc32, 16),
        (Message(offset=1, magic=0, crc=0x12AB), crc32, 16),
    ],
)
def test_a_wrong_checksum_shows_the_stored_and_the_computed_one(
    tmp_path: Path, entry: Entry, checksum: Any, covered_from: int
) -> None:
    damage = damage_of(tmp_path, between(entry))
    computed = checksum(entry.encode()[covered_from:])
    assert damage["reason"] == "the batch's checksum is wrong"
    assert damage["found"] == f"stored CRC 0x000012ab, computed 0x{computed:08x}"
    assert damage["expected"] is None


def test_failfast_shows_the_checksums_too(tmp_path: Path) -> None:
    entry = Batch([Record(value=SECRET)], base_offset=1, crc=0x12AB)
    directory = partition_dir(tmp_path)
    write_segment(directory, between(entry))
    shown = rf"is wrong \(found stored CRC 0x000012ab, computed 0x{crc32c(entry.encode()[21:]):08x}\)\. Restore"
    with pytest.raises(CorruptBatchError, match=shown) as caught:
        kafkalog_source.scan(directory).to_table()
    assert SECRET.decode() not in str(caught.value)


@pytest.mark.parametrize(
    ("entry", "found", "expected"),
    [
        (Batch(base_offset=1, magic=9), "magic 9", "0, 1 or 2"),
        (Batch(base_offset=1, magic=-1), "magic -1", "0, 1 or 2"),
        (Batch(base_offset=1, length=13), "length 13", "at least 14 (v0), 22 (v1) or 49 (v2) bytes"),
        (Batch(base_offset=1, length=-7), "length -7", "at least 14 (v0), 22 (v1) or 49 (v2) bytes"),
        (Batch(base_offset=1, attributes=5), "codec 5", "0 to 3 (v0, v1) or 0 to 4 (v2)"),
        (Message(offset=1, attributes=6), "codec 6", "0 to 3 (v0, v1) or 0 to 4 (v2)"),
        (Batch(base_offset=1, last_offset_delta=-3), "base offset 1, last offset delta -3", "0 to 2147483647"),
        (Batch(base_offset=1, count=-2), "record count -2", "0 or more"),
        (Batch(base_offset=1, count=1000), "record count 1000", "at least 7 bytes per record"),
        (Batch(base_offset=1, count=2), "record count 2", "as many records as the header's count"),
        (
            Batch([], base_offset=1, payload=bytes(30)),
            "a body of 30 bytes",
            "no bytes after the header of an empty batch",
        ),
        (Batch(base_offset=1, trailing=b"\0"), "record count 1", "no bytes after the last record"),
        (Batch(base_offset=0), "offset 0", "increasing offsets"),
        (Batch([Record()] * 2, base_offset=0), "offsets 0 to 1", "increasing offsets"),
        (Batch(base_offset=99), "offset 99", "increasing offsets"),
    ],
)
def test_a_bad_header_field_is_shown_with_what_is_allowed(
    tmp_path: Path, entry: Entry, found: str, expected: str
) -> None:
    damage = damage_of(tmp_path, between(entry))
    assert (damage["position"], damage["found"], damage["expected"]) == (SIZE, found, expected)


@pytest.mark.parametrize(("left", "found"), [(7, "7 bytes"), (12, f"12 of {SIZE} bytes"), (70, f"70 of {SIZE} bytes")])
def test_a_torn_batch_shows_how_much_of_it_is_there(tmp_path: Path, left: int, found: str) -> None:
    damage = damage_of(tmp_path, encode([Batch(), Batch(base_offset=1)])[: SIZE + left])
    assert (damage["kind"], damage["found"], damage["expected"]) == ("torn", found, "a complete batch")


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (Message07(crc=0x12AB), f"stored CRC 0x000012ab, computed 0x{crc32(Message07().value):08x}"),
        (Message07(crc=0x12AB, magic=0), f"stored CRC 0x000012ab, computed 0x{crc32(Message07().value):08x}"),
        (Message07(magic=7), "magic 7"),
        (Message07(magic=-2), "magic -2"),
        (Message07(attributes=3), "codec 3"),
        (Message07(size=2), "length 2"),
        (Message07(size=-2), "length -2"),
    ],
)
def test_a_message_of_kafka_07_shows_the_same(tmp_path: Path, message: Message07, found: str) -> None:
    directory = partition_dir(tmp_path)
    write_segment_07(directory, encode_07([Message07(), message, Message07(), Message07()]))
    (damage,) = kafkalog_source.scan(directory, view="damage").to_table().to_pylist()
    assert (damage["position"], damage["found"]) == (len(Message07().encode()), found)


def test_a_torn_message_of_kafka_07_shows_how_much_of_it_is_there(tmp_path: Path) -> None:
    directory, size = partition_dir(tmp_path), len(Message07().encode())
    write_segment_07(directory, encode_07([Message07()] * 2)[:-3])
    (damage,) = kafkalog_source.scan(directory, view="damage").to_table().to_pylist()
    assert (damage["kind"], damage["found"]) == ("torn", f"{size - 3} of {size} bytes")


def test_nothing_is_shown_that_the_file_no_longer_holds(tmp_path: Path) -> None:
    """A broker may have completed the bytes since a reader found them bad."""
    path = write_segment(partition_dir(tmp_path), [Batch()])
    with LocalFile(str(path)) as source:
        for name in ("bad_crc", "incomplete", "record_length", "inner_crc"):
            assert found_in_batch(source, 0, source.size, CODE[name]) is None
        assert found_in_batch(source, source.size - 3, source.size, CODE["bad_crc"]) is None
        assert found_in_batch(source, source.size - 3, source.size, CODE["bad_magic"]) is None
    path = write_segment_07(partition_dir(tmp_path), [Message07()])
    with LocalFile(str(path)) as source:
        for name in ("bad_crc", "incomplete", "inner_length"):
            assert found_in_message(source, 0, source.size, CODE[name]) is None
        assert found_in_message(source, source.size - 3, source.size, CODE["bad_length"]) is None
