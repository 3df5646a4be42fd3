"""Traps of Kafka 0.7: no stored offsets, a checksum over the payload alone, sets inside sets."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source import KafkaLogError, UnsupportedFormatError
from kafkalog_source.errors import LimitError, OptionError
from tests.builders import Batch, encode, partition_dir
from tests.builders.compress import gzip_members, snappy_raw, snappy_xerial
from tests.builders.v07 import Encoded07, Message07, Set07, encode_07, write_segment_07
from tests.comparing import assert_same_rows, reference_rows, scan_rows
from tests.reference import RefCorrupt, RefRecord
from tests.reference.v07 import decode_segment_07

GOOD = Message07(b"a good message")
AFTER_GOOD = len(GOOD.encode())
Content = bytes | list[Encoded07]


def read(root: Path, content: Content, *, base_offset: int = 0) -> list[RefRecord]:
    """The records of a segment that kafkalog and the reference read alike."""
    log = write_segment_07(partition_dir(root), content, base_offset=base_offset)
    records = decode_segment_07(log.read_bytes(), base_offset=base_offset)
    assert_same_rows(scan_rows(log), reference_rows(records, log, topic="topic", partition=0))
    return records


def refuse(root: Path, content: Content, *, position: int) -> KafkaLogError:
    """The error of kafkalog, at the position where the reference refuses too."""
    log = write_segment_07(partition_dir(root), content)
    with pytest.raises(RefCorrupt) as reference:
        decode_segment_07(log.read_bytes())
    assert reference.value.position == position
    with pytest.raises(KafkaLogError) as raised:
        scan_rows(log)
    assert (raised.value.file, raised.value.position) == (str(log), position)
    return raised.value


def test_offsets_are_byte_positions_counted_from_the_files_name(tmp_path: Path) -> None:
    records = read(tmp_path, [Message07(b"abc"), Message07(b"", magic=0), Message07(b"x")], base_offset=1000)
    assert [(r.offset, r.batch_position, r.magic) for r in records] == [(1000, 0, 1), (1013, 13, 0), (1022, 22, 1)]


def test_there_is_no_key_no_time_and_no_header_and_an_empty_payload_is_not_null(tmp_path: Path) -> None:
    log = write_segment_07(partition_dir(tmp_path), [Message07(b"")])
    columns = ["key", "keySize", "value", "valueSize", "timestamp", "timestampType", "headers", "leaderEpoch"]
    assert scan_rows(log, columns) == [(None, None, b"", 0, None, -1, None, None)]


@pytest.mark.parametrize("codec", ["gzip", "snappy"])
def test_messages_in_a_set_share_its_place_and_keep_their_own_magic(tmp_path: Path, codec: str) -> None:
    inner = [Message07(b"1"), Message07(b"2", magic=0), Message07(b"")]
    records = read(tmp_path, [GOOD, Set07(inner, codec), GOOD])
    found = [(r.offset, r.value, r.magic, r.compression) for r in records[1:4]]
    assert found == [(AFTER_GOOD, b"1", 1, codec), (AFTER_GOOD, b"2", 0, codec), (AFTER_GOOD, b"", 1, codec)]


@pytest.mark.parametrize(
    ("codec", "compress"),
    [
        ("gzip", lambda data: gzip_members(data, members=3)),
        ("snappy", snappy_raw),
        ("snappy", lambda data: snappy_xerial(data, streams=2)),
    ],
    ids=["gzip members", "raw snappy", "two snappy streams"],
)
def test_streams_of_other_producers(tmp_path: Path, codec: str, compress: object) -> None:
    messages = [Message07(b"%d" % n) for n in range(50)]
    assert len(read(tmp_path, [Set07(messages, codec, compress)])) == 50  # type: ignore[arg-type]


def test_sets_inside_sets_come_in_order_with_the_outermost_codec(tmp_path: Path) -> None:
    innermost = Set07([Message07(b"2"), Message07(b"3")], "snappy")
    middle = Set07([Message07(b"1"), innermost, Message07(b"4"), Set07([Message07(b"5")], "snappy")], "snappy")
    records = read(tmp_path, [GOOD, Set07([Message07(b"0"), middle, Message07(b"6")], "gzip"), GOOD])
    assert [r.value for r in records[1:-1]] == [b"%d" % n for n in range(7)]
    assert {(r.offset, r.compression) for r in records[1:-1]} == {(AFTER_GOOD, "gzip")}


def nested(depth: int) -> Encoded07:
    message: Encoded07 = Message07(b"deep")
    for _ in range(depth):
        message = Set07([message])
    return message


def test_sets_may_nest_eight_deep_and_no_deeper(tmp_path: Path) -> None:
    assert len(read(tmp_path, [nested(8)])) == 1
    assert "too deep" in str(refuse(tmp_path, [GOOD, nested(9), GOOD], position=AFTER_GOOD))


def test_a_set_without_messages_gives_no_row_as_in_kafka(tmp_path: Path) -> None:
    assert len(read(tmp_path, [GOOD, Set07([]), Set07([Set07([], "snappy"), GOOD]), GOOD])) == 3


def test_the_attributes_beside_the_codec_mean_nothing(tmp_path: Path) -> None:
    records = read(tmp_path, [Message07(b"plain", attributes=0xFC), Set07([GOOD], high_attributes=0xFC)])
    assert [r.compression for r in records] == ["none", "gzip"]


@pytest.mark.parametrize("magic", [2, 9, -1])
def test_another_magic_is_refused(tmp_path: Path, magic: int) -> None:
    refuse(tmp_path, [GOOD, Message07(b"something", magic=magic), GOOD], position=AFTER_GOOD)
    refuse(tmp_path, [GOOD, Set07([Message07(b"something", magic=magic)])], position=AFTER_GOOD)


@pytest.mark.parametrize("size", [-1, 0, 4, 5, -(2**31)])
def test_a_length_below_the_smallest_is_refused(tmp_path: Path, size: int) -> None:
    """Five bytes are a message of magic 0, and one too few for the attributes of magic 1."""
    refuse(tmp_path, [GOOD, Message07(size=size), GOOD], position=AFTER_GOOD)
    refuse(tmp_path, [GOOD, Set07([Message07(size=size)])], position=AFTER_GOOD)


@pytest.mark.parametrize("more", [1, 7, 1000, 2**31 - 100])
def test_a_length_that_passes_the_next_message_is_damage(tmp_path: Path, more: int) -> None:
    size = len(GOOD.encode()) - 4 + more
    refuse(tmp_path, [GOOD, Message07(GOOD.value, size=size), GOOD, GOOD], position=AFTER_GOOD)


@pytest.mark.parametrize(
    "lying",
    [Message07(crc=1), Set07([GOOD, Message07(crc=1)]), Set07([Set07([Message07(crc=1)])]), Message07(b"", crc=1)],
    ids=["plain", "in a set", "in a nested set", "empty"],
)
def test_a_wrong_crc_is_refused_at_every_level(tmp_path: Path, lying: Encoded07) -> None:
    refuse(tmp_path, [GOOD, lying, GOOD], position=AFTER_GOOD)
    log = write_segment_07(partition_dir(tmp_path), [GOOD, lying, GOOD])
    assert len(scan_rows(log, ["offset"], verifyChecksums=False)) >= 3


def test_a_wrong_crc_of_a_compressed_message_inside_a_set_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    lying = Message07(gzip.compress(GOOD.encode()), attributes=1, crc=1)
    assert "checksum" in str(refuse(tmp_path, [Set07([lying])], position=0))


@pytest.mark.parametrize("attributes", [3, 0xFF])
def test_a_codec_that_0_7_does_not_have_is_refused(tmp_path: Path, attributes: int) -> None:
    assert "codec" in str(refuse(tmp_path, [GOOD, Message07(attributes=attributes), GOOD], position=AFTER_GOOD))
    refuse(tmp_path, [GOOD, Set07([Message07(attributes=attributes)])], position=AFTER_GOOD)


@pytest.mark.parametrize("payload", [b"", b"no gzip at all", gzip.compress(b"x")[:-3]], ids=["empty", "junk", "cut"])
def test_a_payload_that_its_codec_refuses(tmp_path: Path, payload: bytes) -> None:
    refuse(tmp_path, [GOOD, Message07(payload, attributes=1), GOOD], position=AFTER_GOOD)
    refuse(tmp_path, [GOOD, Set07([GOOD, Message07(payload, attributes=1)]), GOOD], position=AFTER_GOOD)


@pytest.mark.parametrize("kept", [1, 3, 4, 5, 8, -1])
def test_a_last_message_of_a_set_that_is_cut_is_refused(tmp_path: Path, kept: int) -> None:
    refuse(tmp_path, [GOOD, Set07([GOOD], trailing=GOOD.encode()[:kept]), GOOD], position=AFTER_GOOD)


@pytest.mark.parametrize("kept", [4, 5, 6, 9, 12, -1])
def test_a_message_cut_by_the_end_of_the_file_is_a_torn_tail(tmp_path: Path, kept: int) -> None:
    assert len(read(tmp_path, GOOD.encode() + GOOD.encode()[:kept])) == 1
    report = kafkalog_source.scan(str(tmp_path))
    report.to_table()
    assert [(d["kind"], d["position"]) for d in report.report()["damage"]] == [("torn", AFTER_GOOD)]


# The first bytes of a small length are zeros as well.
@pytest.mark.parametrize("size", [1, 3, 4, 9, 4096, 70_000])
def test_a_tail_of_zeros_is_a_clean_end(tmp_path: Path, size: int) -> None:
    assert len(read(tmp_path, GOOD.encode() + bytes(size))) == 1
    assert read(tmp_path, bytes(size)) == []


def test_zeros_before_a_message_are_damage(tmp_path: Path) -> None:
    refuse(tmp_path, GOOD.encode() + bytes(300) + GOOD.encode(), position=AFTER_GOOD)


@pytest.mark.parametrize(
    "content", [b"plain text that is no segment\n" * 9, encode([Batch()])], ids=["text", "a segment of format v2"]
)
def test_what_is_no_segment_of_0_7_is_refused_and_never_guessed_at(tmp_path: Path, content: bytes) -> None:
    log = write_segment_07(partition_dir(tmp_path), content)
    with pytest.raises(UnsupportedFormatError, match=r"not a segment of Kafka 0\.7"):
        scan_rows(log)


def test_the_suffix_alone_decides(tmp_path: Path) -> None:
    log = partition_dir(tmp_path) / "00000000000000000000.log"
    log.write_bytes(encode_07([GOOD, GOOD]))
    with pytest.raises(KafkaLogError):
        scan_rows(log)


def test_all_sets_of_a_message_together_are_bounded(tmp_path: Path) -> None:
    half = Set07([Message07(bytes(600_000))])
    log = write_segment_07(partition_dir(tmp_path), [Set07([half, half])])
    assert len(scan_rows(log, ["offset"], maxDecompressedBatchBytes="2m")) == 2
    with pytest.raises(LimitError, match="more than is allowed in total"):
        scan_rows(log, ["offset"], maxDecompressedBatchBytes="1m")
    with pytest.raises(LimitError):
        scan_rows(log, ["offset"], maxDecompressedBatchBytes=1000)


def test_a_set_larger_than_an_arrow_batch_is_cut_into_several(tmp_path: Path) -> None:
    messages = [Message07(struct.pack(">i", n) * 250) for n in range(5000)]
    log = write_segment_07(partition_dir(tmp_path), [Set07(messages, "snappy"), *messages])
    arrow_batches = list(kafkalog_source.scan(str(log), columns=["value", "offset"]).to_reader())
    assert len(arrow_batches) > 5
    values = [value.as_py() for batch in arrow_batches for value in batch.column(0)]
    assert values == [message.value for message in messages] * 2


def test_positions_beyond_the_largest_offset_are_refused(tmp_path: Path) -> None:
    log = write_segment_07(partition_dir(tmp_path), [GOOD], base_offset=2**63 - 5)
    with pytest.raises(KafkaLogError, match="exceed the largest possible offset"):
        scan_rows(log)


def test_a_limit_of_offsets_is_refused(tmp_path: Path) -> None:
    write_segment_07(partition_dir(tmp_path), [GOOD])
    with pytest.raises(OptionError, match="byte positions"):
        scan_rows(tmp_path, maxRecordsPerPartition=5)


def every_flip(content: bytes) -> list[tuple[int, int, bytes]]:
    flips = []
    for place in range(len(content)):
        for bit in range(8):
            flipped = bytearray(content)
            flipped[place] ^= 1 << bit
            flips.append((place, bit, bytes(flipped)))
    return flips


def test_a_flipped_bit_is_found_or_harmless_save_in_the_codec(tmp_path: Path) -> None:
    """The attributes are under no checksum: a lost codec turns a set into a message, and nothing can tell."""
    messages = [Message07(b"first, and long enough"), Set07([GOOD, GOOD]), Message07(b"the last of them")]
    starts = [len(encode_07(messages[:n])) for n in range(3)]
    content = encode_07(messages)
    log = write_segment_07(partition_dir(tmp_path), content)
    right = scan_rows(log, ["offset", "value", "compression"])
    silent = set()
    for place, bit, flipped in every_flip(content):
        log.write_bytes(flipped)
        scan = kafkalog_source.scan(str(log), columns=["offset", "value", "compression"], threads=1)
        at = max(start for start in starts if start <= place)
        try:
            found = scan_rows(log, ["offset", "value", "compression"])
        except KafkaLogError as error:
            assert error.position == at
            continue
        if found == right:
            assert place == at + 5
        elif found == right[:3]:
            scan.to_table()
            assert [(d["kind"], d["position"]) for d in scan.report()["damage"]] == [("torn", starts[2])]
        else:
            silent.add((place, bit))
    assert silent == {(starts[1] + 5, 0)}
