"""Traps in the frame around every entry: magic, length, CRC, offsets, the end of the file."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from kafkalog_source import KafkaLogError
from tests.builders import Batch, Message, Record, Wrapper, encode, partition_dir, write_segment
from tests.builders.disk import Entry
from tests.comparing import scan_rows
from tests.unit.formats.conftest import Both

GOOD = Batch([Record(), Record()])
NEXT = Batch([Record()], base_offset=GOOD.last_offset + 1)
AFTER_GOOD = len(GOOD.encode())


def offsets(both_rows: list[tuple[object, ...]]) -> list[object]:
    return [row[0] for row in both_rows]


def test_each_entry_is_read_by_its_own_magic(both: Both) -> None:
    entries: list[Entry] = [
        Message(magic=0, offset=0),
        Batch(base_offset=1),
        Wrapper([Message(offset=2), Message(offset=3)]),
        Message(magic=1, offset=4),
        Wrapper([Message(magic=0, offset=5)], magic=0),
        Batch(base_offset=6, codec="lz4"),
    ]
    assert [(r.offset, r.magic) for r in both.read(entries)] == [
        (0, 0), (1, 2), (2, 1), (3, 1), (4, 1), (5, 0), (6, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("magic", [3, 9, 127, -1, -128])
@pytest.mark.parametrize("kind", ["v2", "legacy"])
def test_a_magic_above_2_or_below_0_is_refused(both: Both, magic: int, kind: str) -> None:
    entry = Batch(base_offset=2, magic=magic) if kind == "v2" else Message(offset=2, magic=magic)
    both.refuse([GOOD, entry, Batch(base_offset=3)], position=AFTER_GOOD)


@pytest.mark.parametrize("length", [13, 1, 0, -1, -(2**31)])
@pytest.mark.parametrize("entry", [NEXT, Message(offset=2)], ids=["v2", "v1"])
def test_a_length_below_14_is_refused(both: Both, entry: Batch | Message, length: int) -> None:
    lying: Entry
    if isinstance(entry, Batch):
        lying = dataclasses.replace(entry, length=length)
    else:
        lying = dataclasses.replace(entry, size=length)
    both.refuse([GOOD, lying], position=AFTER_GOOD)


@pytest.mark.parametrize("cut", [1, 5, 11, 12, 16, 17, 40, 60, 61, 70])
def test_an_entry_cut_by_the_end_of_the_file_is_a_torn_tail(both: Both, cut: int) -> None:
    data = encode([GOOD]) + NEXT.encode()[:cut]
    assert [r.offset for r in both.read(data)] == [0, 1]


@pytest.mark.parametrize("length", [200, 4096, 1 << 20, 2**31 - 1])
def test_a_length_that_passes_the_end_is_damage_when_a_valid_entry_follows(both: Both, length: int) -> None:
    lying = dataclasses.replace(NEXT, length=length)
    both.refuse([GOOD, lying, Batch(base_offset=9)], position=AFTER_GOOD)


@pytest.mark.parametrize("length", [14, 22, 48])
def test_a_v2_length_below_49_is_refused_before_its_header_is_read(both: Both, length: int) -> None:
    both.refuse(encode([GOOD]) + dataclasses.replace(NEXT, length=length).encode(), position=AFTER_GOOD)
    both.refuse(encode([GOOD]) + dataclasses.replace(NEXT, length=length).encode()[: 12 + length], position=AFTER_GOOD)


@pytest.mark.parametrize("size", [14, 21])
def test_a_v1_size_below_22_is_refused(both: Both, size: int) -> None:
    short = Message(offset=2).encode()[: 12 + size]
    both.refuse(encode([GOOD]) + short[:8] + size.to_bytes(4, "big") + short[12:], position=AFTER_GOOD)


@pytest.mark.parametrize("size", [1, 4, 12, 4096, 100_000])
def test_a_tail_of_zeros_is_a_clean_end(both: Both, size: int) -> None:
    assert len(both.read(encode([GOOD]) + bytes(size))) == 2


@pytest.mark.parametrize("size", [0, 1, 12, 65536])
def test_a_file_of_zeros_has_no_rows(both: Both, size: int) -> None:
    assert both.read(bytes(size)) == []


def test_zeros_before_an_entry_are_damage(both: Both) -> None:
    both.refuse(encode([GOOD]) + bytes(300) + NEXT.encode(), position=AFTER_GOOD)


@pytest.mark.parametrize("text", [b"plain text, and more of it than any header has: no segment at all\n" * 9])
def test_a_file_that_is_no_segment_is_refused_at_once(both: Both, text: bytes) -> None:
    both.refuse(text, position=0)


@pytest.mark.parametrize(
    "lying",
    [
        dataclasses.replace(NEXT, crc=1),
        Message(offset=2, crc=1),
        Wrapper([Message(offset=2)], envelope=Message(key=None, value=b"\0", crc=1)),
        Wrapper([Message(offset=2, crc=1)]),
        Wrapper([Message(offset=2, magic=0, crc=1)], magic=0),
    ],
    ids=["v2", "v1", "wrapper", "inside a v1 wrapper", "inside a v0 wrapper"],
)
def test_a_wrong_crc_is_refused_outside_and_inside_a_wrapper(both: Both, lying: Batch | Message | Wrapper) -> None:
    both.refuse([GOOD, lying, Batch(base_offset=9)], position=AFTER_GOOD)


def test_verify_checksums_false_reads_over_a_wrong_crc(tmp_path: Path) -> None:
    log = write_segment(partition_dir(tmp_path), [dataclasses.replace(GOOD, crc=1)])
    assert offsets(scan_rows(log, ["offset"], verifyChecksums=False)) == [0, 1]


@pytest.mark.parametrize("offset", [1, 0, -5])
@pytest.mark.parametrize("kind", ["v2", "v1", "wrapper"])
def test_offsets_that_do_not_rise_from_entry_to_entry_are_refused(both: Both, offset: int, kind: str) -> None:
    entry: dict[str, Entry] = {
        "v2": Batch(base_offset=offset),
        "v1": Message(offset=offset),
        "wrapper": Wrapper([Message(offset=offset)]),
    }
    both.refuse([GOOD, entry[kind]], position=AFTER_GOOD)


def test_an_offset_below_the_file_name_is_refused(both: Both) -> None:
    both.refuse([Batch(base_offset=99)], base_offset=100, position=0)


def test_an_offset_that_reaches_the_next_file_is_refused(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    first = write_segment(directory, [Batch(base_offset=0), Batch([Record()] * 5, base_offset=1)])
    write_segment(directory, [Batch(base_offset=4)], base_offset=4)
    with pytest.raises(KafkaLogError) as raised:
        scan_rows(directory, ["offset"])
    assert raised.value.file == str(first)
    assert raised.value.position == len(Batch().encode())


def test_gaps_between_entries_are_legal(both: Both) -> None:
    assert [r.offset for r in both.read([Batch(base_offset=5), Batch(base_offset=500)])] == [5, 500]


def test_a_segment_may_span_more_than_2_to_the_31_offsets(both: Both) -> None:
    far = 2**31 + 5
    entries = [Message(magic=0, offset=0), Message(magic=0, offset=far), Message(magic=0, offset=far + 1)]
    assert [r.offset for r in both.read(entries)] == [0, far, far + 1]


def test_the_leader_epoch_is_not_under_the_crc(both: Both) -> None:
    data = bytearray(GOOD.encode())
    data[12:16] = (7).to_bytes(4, "big")
    assert {r.leader_epoch for r in both.read(bytes(data))} == {7}
