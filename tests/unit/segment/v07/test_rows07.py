"""Damage in segments of Kafka 0.7: what is lost, and where reading goes on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source.arrow.batches import ArrowBatches
from kafkalog_source.batch import DecodeSettings, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.opening import open_seeker
from kafkalog_source.segment.reader import SpanReader
from kafkalog_source.segment.seek import SegmentPlace
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span
from tests.builders import partition_dir
from tests.builders.v07 import Message07, Set07, encode_07, write_segment_07

BASE = 5000
LARGEST = 2**63 - 1
MESSAGES = [Message07(b"message number %d" % n, magic=n % 2) for n in range(12)]
STARTS = [len(encode_07(MESSAGES[:n])) for n in range(len(MESSAGES) + 1)]


def read_on(
    log: Path, *, last: bool = True, bound: int = LARGEST, low: int = 0, start: int = 0
) -> tuple[list[tuple[int, bytes]], list[Damage]]:
    """All rows that can be had as (position, value), and what was lost."""
    batches = ArrowBatches(["offset", "value"], BlockPool())
    damage: list[Damage] = []
    decoder = make_decoder_07(batches.columns, Decompressor(), DecodeSettings(), low, LARGEST)
    with LocalFile(str(log)) as source:
        span = Span(start, source.size, BASE, bound, LARGEST, True, last, BASE)
        events = SpanReader(source, span, decoder, Scratch(), 1 << 28)
        damage += [event for event in events if isinstance(event, Damage)]
    rows = batches.finish()
    found = [] if rows is None else zip(rows["offset"].to_pylist(), rows["value"].to_pylist(), strict=True)
    return [(offset - BASE, value) for offset, value in found], damage


def rows_but(*lost: int) -> list[tuple[int, bytes]]:
    return [(STARTS[n], message.value) for n, message in enumerate(MESSAGES) if n not in lost]


def regions(damage: list[Damage]) -> list[tuple[int, int, int | None, int | None]]:
    return [(d.position, d.position + d.size, d.first_offset, d.last_offset) for d in damage]


def region(first: int, last: int) -> tuple[int, int, int, int]:
    start, end = STARTS[first], STARTS[last + 1]
    return start, end, BASE + start, BASE + end - 1


@pytest.mark.parametrize("broken", range(12))
def test_a_damaged_payload_loses_its_message_alone(tmp_path: Path, broken: int) -> None:
    data = bytearray(encode_07(MESSAGES))
    data[STARTS[broken + 1] - 1] ^= 1
    rows, damage = read_on(write_segment_07(tmp_path, bytes(data), base_offset=BASE))
    assert rows == rows_but(broken)
    assert regions(damage) == [region(broken, broken)]


@pytest.mark.parametrize("broken", range(11))
@pytest.mark.parametrize("bit", range(32))
def test_a_damaged_length_loses_its_message_alone(tmp_path: Path, broken: int, bit: int) -> None:
    data = bytearray(encode_07(MESSAGES))
    data[STARTS[broken] + bit // 8] ^= 1 << bit % 8
    rows, damage = read_on(write_segment_07(tmp_path, bytes(data), base_offset=BASE))
    assert rows == rows_but(broken)
    assert regions(damage) == [region(broken, broken)]


def test_a_damaged_length_of_the_last_message_looks_like_a_torn_tail(tmp_path: Path) -> None:
    data = bytearray(encode_07(MESSAGES))
    data[STARTS[11] + 1] ^= 1
    log = write_segment_07(tmp_path, bytes(data), base_offset=BASE)
    for last, kind in ((True, Kind.TORN), (False, Kind.DAMAGED)):
        rows, damage = read_on(log, last=last)
        assert rows == rows_but(11)
        assert [each.kind for each in damage] == [kind]
        assert regions(damage) == [region(11, 11)]


def test_overwritten_bytes_lose_what_they_touch(tmp_path: Path) -> None:
    for fill in (b"\0", b"\xff", b"\0\0\0\5\0\0\0\0\0", b"\0\0\1\0\1"):
        data = bytearray(encode_07(MESSAGES))
        size = STARTS[7] + 5 - (STARTS[3] + 2)
        data[STARTS[3] + 2 : STARTS[7] + 5] = (fill * size)[:size]
        rows, damage = read_on(write_segment_07(tmp_path, bytes(data), base_offset=BASE))
        assert set(rows_but(3, 4, 5, 6, 7)) <= set(rows)
        assert all(STARTS[3] <= place < STARTS[8] and value == b"" for place, value in set(rows) - set(rows_but()))
        assert damage[0].position == STARTS[3]
        assert damage[-1].position + damage[-1].size == STARTS[8]


def test_removed_bytes_lose_the_messages_on_both_sides(tmp_path: Path) -> None:
    data = encode_07(MESSAGES)
    cut = data[: STARTS[3] + 9] + data[STARTS[6] + 9 :]
    rows, damage = read_on(write_segment_07(tmp_path, cut, base_offset=BASE))
    assert [value for _, value in rows] == [m.value for n, m in enumerate(MESSAGES) if not 3 <= n <= 6]
    assert len(damage) == 1


def test_damage_inside_a_set_loses_the_set_alone_though_messages_could_be_found_in_it(tmp_path: Path) -> None:
    """Its own checksum is right, so its length is believed."""
    stored = Message07(encode_07(MESSAGES), attributes=1)
    bad_set = Set07([MESSAGES[0], Message07(crc=1)])
    rows, damage = read_on(write_segment_07(tmp_path, [MESSAGES[0], stored, bad_set, MESSAGES[0]], base_offset=BASE))
    assert [value for _, value in rows] == [MESSAGES[0].value] * 2
    assert [each.position for each in damage] == [
        len(encode_07(part)) for part in ([MESSAGES[0]], [MESSAGES[0], stored])
    ]


def test_a_message_that_reaches_into_the_next_segment_is_damage(tmp_path: Path) -> None:
    rows, damage = read_on(
        write_segment_07(tmp_path, MESSAGES, base_offset=BASE), last=False, bound=BASE + STARTS[10] + 3
    )
    assert rows == rows_but(10, 11)
    assert regions(damage) == [region(10, 11)]
    assert "next segment" in damage[0].reason


def test_a_lone_empty_message_proves_nothing(tmp_path: Path) -> None:
    """Its checksum is zero, so zeros and a five look like it."""
    payload = b"\0" * 40 + b"\0\0\0\5\0\0\0\0\0" + b"\xff" * 40
    broken = bytearray(Message07(payload).encode())
    broken[3] ^= 1
    data = bytes(broken) + encode_07(MESSAGES)
    rows, damage = read_on(write_segment_07(tmp_path, data, base_offset=BASE))
    assert [value for _, value in rows] == [message.value for message in MESSAGES]
    assert [(each.position, each.size) for each in damage] == [(0, len(broken))]


@pytest.mark.parametrize(
    "offset", [0, 1, STARTS[3] - 1, STARTS[3], STARTS[3] + 1, STARTS[11], STARTS[11] + 1, STARTS[12], 10**6]
)
def test_start_of_is_the_first_message_at_or_above(tmp_path: Path, offset: int) -> None:
    log = write_segment_07(tmp_path, MESSAGES, base_offset=BASE)
    with open_seeker(SegmentPlace(str(log), BASE, LARGEST, is_07=True)) as seeker:
        assert seeker.start_of(BASE + offset) == min(
            start for start in [*STARTS, 10**9] if start >= min(offset, STARTS[12])
        )


def random_messages(count: int) -> list[Message07]:
    """Messages that no codec can make smaller: they lie in a set as they are."""
    chosen = random.Random(count)
    return [Message07(chosen.randbytes(50)) for _ in range(count)]


def test_an_offset_inside_a_set_does_not_begin_at_a_message_that_is_stored_in_it(tmp_path: Path) -> None:
    inner = random_messages(3)
    stored = Set07(inner, "snappy")
    stored_at = stored.encode().index(inner[0].encode())
    log = write_segment_07(tmp_path, [MESSAGES[0], stored, MESSAGES[1]], base_offset=BASE)
    following = len(encode_07([MESSAGES[0], stored]))
    with open_seeker(SegmentPlace(str(log), BASE, LARGEST, is_07=True)) as seeker:
        assert seeker.start_of(BASE + STARTS[1] + stored_at) == following


def test_a_damaged_length_below_the_start_hides_nothing(tmp_path: Path) -> None:
    """It may lead beyond the offset where reading begins, to where another message begins."""
    data = bytearray(encode_07(MESSAGES))
    data[STARTS[2] : STARTS[2] + 4] = (STARTS[8] - STARTS[2] - 4).to_bytes(4, "big")
    log = write_segment_07(tmp_path, bytes(data), base_offset=BASE)
    with open_seeker(SegmentPlace(str(log), BASE, LARGEST, is_07=True)) as seeker:
        assert seeker.start_of(BASE + STARTS[5]) == STARTS[2]
        assert seeker.start_of(BASE + STARTS[8]) == STARTS[8]
    rows, damage = read_on(log, low=BASE + STARTS[5], start=STARTS[2])
    assert rows == rows_but(*range(5))
    assert regions(damage) == [region(2, 2)]


@pytest.mark.parametrize("codec", ["gzip", "snappy"])
def test_a_torn_set_is_torn_though_messages_are_stored_in_it(tmp_path: Path, codec: str) -> None:
    whole = Set07(random_messages(40), codec).encode()
    for kept in (len(whole) - 1, len(whole) - 150, 400):
        log = write_segment_07(tmp_path, MESSAGES[0].encode() + whole[:kept], base_offset=BASE)
        rows, damage = read_on(log)
        assert rows == rows_but(*range(1, 12))
        assert [(each.kind, each.position) for each in damage] == [(Kind.TORN, STARTS[1])]


@pytest.mark.parametrize("codec", ["gzip", "snappy"])
@pytest.mark.parametrize("bit", [*range(40), 40, 41])
def test_a_set_with_a_damaged_header_is_lost_as_a_whole_and_alone(tmp_path: Path, codec: str, bit: int) -> None:
    """Its length, its magic or its codec: nothing that is stored in it becomes a message of the log."""
    damaged = bytearray(Set07(random_messages(40), codec).encode())
    damaged[bit // 8] ^= 1 << bit % 8
    if bit >= 40 and damaged[5] == 0:
        pytest.skip("a set that lost its codec is a message with the set as its value")
    data = encode_07(MESSAGES[:3]) + damaged + encode_07(MESSAGES[:3])
    rows, damage = read_on(write_segment_07(tmp_path, data, base_offset=BASE))
    assert [value for _, value in rows] == [message.value for message in MESSAGES[:3]] * 2
    assert [(each.position, each.size) for each in damage] == [(STARTS[3], len(damaged))]


def test_a_long_run_of_messages_is_none_that_a_set_stores(tmp_path: Path) -> None:
    """Of the set neither the length nor the payload is right, so that its end cannot be proved."""
    damaged = bytearray(Set07(random_messages(10), "snappy").encode())
    damaged[1] ^= 1
    damaged[-1] ^= 1
    behind = random_messages(2000)
    rows, damage = read_on(write_segment_07(tmp_path, bytes(damaged) + encode_07(behind), base_offset=BASE))
    assert [value for _, value in rows][-2000:] == [message.value for message in behind]
    assert len(damage) == 1


def test_headers_behind_damage_are_looked_for_only_when_asked(tmp_path: Path) -> None:
    data = bytearray(encode_07(MESSAGES))
    data[STARTS[5]] = 0xFF
    log = write_segment_07(tmp_path, bytes(data), base_offset=BASE)
    with open_seeker(SegmentPlace(str(log), BASE, LARGEST, is_07=True)) as seeker:
        near, far = seeker.last_header(), seeker.last_header(behind_damage=True)
    assert (near and near.position, far and far.position) == (STARTS[4], STARTS[11])
    assert far is not None
    assert far.next_offset == BASE + STARTS[12]


@pytest.mark.parametrize("broken", [0, 1, 5, 11])
@pytest.mark.parametrize("view", ["records", "batches"])
def test_a_corrupt_row_stands_where_its_message_lay(tmp_path: Path, view: str, broken: int) -> None:
    data = bytearray(encode_07(MESSAGES))
    data[STARTS[broken + 1] - 1] ^= 1
    log = write_segment_07(partition_dir(tmp_path), bytes(data))
    column = "offset" if view == "records" else "batchPosition"
    columns = [column, "_corrupt_record"]
    options = {"mode": "PERMISSIVE", "verifyChecksums": True, "threads": 1}
    rows = kafkalog_source.scan(log, columns=columns, view=view, **options).to_table().to_pylist()
    assert [row[column] for row in rows] == STARTS[:-1]
    assert [row["_corrupt_record"] is not None for row in rows] == [n == broken for n in range(12)]
