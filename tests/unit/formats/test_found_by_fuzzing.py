"""Inputs that the fuzzer found, each once a crash, a wrong answer or an answer that depended on how files are read."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kafkalog_source import KafkaLogError
from kafkalog_source._core.framing import view_of
from kafkalog_source.codecs import Decompressor
from kafkalog_source.format import Codec
from tests.builders import Batch, Message, Record, Wrapper, control_record, partition_dir
from tests.builders.compress import XERIAL_HEADER, lz4_frame, snappy_xerial
from tests.builders.v07 import Message07, write_segment_07
from tests.comparing import scan_rows
from tests.unit.formats.conftest import Both

LARGER_THAN_AN_ARROW_BATCH = 2 << 20


def plain(codec: Codec, payload: bytes) -> bytes:
    """What a decompressor that has no memory yet makes of `payload`."""
    return bytes(Decompressor()(codec, 2, view_of(payload)))


@pytest.mark.parametrize("payload", [b"\0", b"\x80\0", XERIAL_HEADER, XERIAL_HEADER + struct.pack(">i", 1) + b"\0"])
def test_a_snappy_block_of_nothing_is_read(both: Both, payload: bytes) -> None:
    assert plain(Codec.SNAPPY, payload) == b""
    assert both.read([Batch((), codec="snappy", payload=payload), Batch(base_offset=1)])[0].offset == 1


@pytest.mark.parametrize(
    ("version", "compatible", "good"), [(1, 1, True), (2, 30977, True), (0, 0, False), (-1, 1, False)]
)
def test_of_a_xerial_streams_versions_the_first_counts(both: Both, version: int, compatible: int, good: bool) -> None:
    def compress(data: bytes) -> bytes:
        return XERIAL_HEADER[:8] + struct.pack(">ii", version, compatible) + snappy_xerial(data)[16:]

    batch = Batch(codec="snappy", compress=compress)
    if good:
        assert both.read([batch])[0].value == b"value"
    else:
        both.refuse([batch], position=0)


def test_lz4_blocks_of_nothing_are_read() -> None:
    nothing = struct.pack("<I", 1) + b"\0"
    whole = lz4_frame(b"content")
    assert plain(Codec.LZ4, whole[:7] + nothing + nothing + whole[7:]) == b"content"
    assert plain(Codec.LZ4, whole[:7] + nothing + nothing + bytes(4)) == b""


@pytest.mark.parametrize("claimed", [0, 4, 1 << 40, (1 << 63) - 1, (1 << 64) - 3])
def test_a_zstd_frame_that_lies_about_its_content_size_is_refused(both: Both, claimed: int) -> None:
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", claimed) + struct.pack("<I", 5 << 3 | 1)[:3] + b"hello"
    with pytest.raises(KafkaLogError):
        plain(Codec.ZSTD, frame)
    both.refuse([Batch(codec="zstd", payload=frame)], position=0)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("value", [None, b"", b"v"])
def test_a_message_with_a_key_larger_than_an_arrow_batch_is_read(both: Both, magic: int, value: bytes | None) -> None:
    records = both.read([Message(key=bytes(LARGER_THAN_AN_ARROW_BATCH), value=value, magic=magic)])
    assert records[0].value == value


@pytest.mark.parametrize("size", [10, LARGER_THAN_AN_ARROW_BATCH])
def test_a_lying_key_length_is_named_whatever_the_size_of_the_message(both: Both, size: int) -> None:
    error = both.refuse([Message(value=bytes(size), key_length=size + 100)], position=0)
    assert "a key's length" in error.problem


def test_a_lying_key_length_of_a_wrapper_is_named(both: Both) -> None:
    error = both.refuse([Wrapper(envelope=Message(key=b"k", value=b"\0", key_length=2**31 - 1))], position=0)
    assert "a key's length" in error.problem


def test_a_control_key_that_is_none_is_refused_whatever_the_columns(both: Both) -> None:
    batch = Batch([control_record(0, key=b"\0")], control=True)
    both.refuse([batch], position=0)
    both.refuse([batch], position=0, columns=["offset"])


def test_no_row_of_a_large_damaged_control_batch_is_handed_out(both: Both) -> None:
    good = control_record(0, value=bytes(LARGER_THAN_AN_ARROW_BATCH))
    log = both.directory / f"{0:020d}.log"
    log.write_bytes(Batch([good, good, control_record(0, key=b"\0")], control=True).encode())
    with pytest.raises(KafkaLogError) as raised:
        scan_rows(log, ["offset"])
    assert raised.value.position == 0


def test_a_v0_wrapper_with_an_offset_below_its_last_message_is_refused(both: Both) -> None:
    messages = [Message(offset=offset, magic=0) for offset in (3, 4, 9)]
    assert [record.offset for record in both.read([Wrapper(messages, magic=0, offset=9)])] == [3, 4, 9]
    both.refuse([Wrapper(messages, magic=0, offset=8)], position=0)


@pytest.mark.parametrize("seen", range(13))
def test_a_bad_length_at_the_end_is_damage_wherever_a_window_ends(both: Both, seen: int) -> None:
    """Files are read in windows of 64 KiB and more; `seen` bytes of the bad header lie in the first."""
    size = (1 << 16) - seen
    spare = size - len(Batch([Record(value=bytes(1 << 15))]).encode())
    batch = Batch([Record(value=bytes((1 << 15) + spare))]).encode()
    batch = Batch([Record(value=bytes((1 << 15) + spare - (len(batch) - size)))]).encode()
    assert len(batch) == size
    both.refuse(batch + struct.pack(">qi", 1, 5), position=size)


@pytest.mark.parametrize("seen", range(7))
def test_a_bad_length_at_the_end_of_a_0_7_segment_is_damage_wherever_a_window_ends(tmp_path: Path, seen: int) -> None:
    large = Message07(bytes((1 << 16) - 10 - seen)).encode()
    assert len(large) == (1 << 16) - seen
    log = write_segment_07(partition_dir(tmp_path), large + struct.pack(">i", 3))
    with pytest.raises(KafkaLogError) as raised:
        scan_rows(log, ["offset"])
    assert raised.value.position == len(large)
