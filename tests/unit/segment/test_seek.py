"""Where an offset or a time begins: by the index where it is right, by walking where it is not."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

import kafkalog_source
from kafkalog_source.segment.bounds import first_offset, next_offset
from kafkalog_source.segment.damage import regions
from kafkalog_source.segment.seek import Seeker, SegmentPlace, scan_start_for_time
from tests.builders import (
    Batch,
    Message,
    Record,
    Wrapper,
    encode,
    offset_index,
    partition_dir,
    time_index,
    write_segment,
)
from tests.builders.disk import Entry
from tests.comparing import scan_rows

T = 1_600_000_000_000
COUNT = 400
MAX = 2**63 - 1


def batches(count: int = COUNT, size: int = 900) -> list[Batch]:
    """A batch of three offsets each, whose times rise by a second."""
    return [
        Batch(
            [Record(value=bytes(size)), Record(value=b"", offset_delta=2)],
            base_offset=3 * i,
            base_timestamp=T + 1000 * i,
        )
        for i in range(count)
    ]


def positions(entries: list[Batch]) -> list[int]:
    found, at = [], 0
    for entry in entries:
        found.append(at)
        at += len(entry.encode())
    return found


ENTRIES = batches()
POSITIONS = positions(ENTRIES)
POINTS = [(entry.last_offset, POSITIONS[i]) for i, entry in enumerate(ENTRIES) if i and i % 4 == 0]
RIGHT = offset_index(POINTS)
TIMES = time_index([(T + 1000 * i, entry.last_offset) for i, entry in enumerate(ENTRIES) if i and i % 4 == 0])


def swapped(data: bytes, size: int) -> bytes:
    return b"".join(data[at : at + size] for at in reversed(range(0, len(data) // size * size, size)))


INDEXES: dict[str, bytes | None] = {
    "missing": None,
    "empty": b"",
    "right": RIGHT,
    "right, then zeros": RIGHT + bytes(8 * 1000),
    "zeros alone": bytes(8 * 1000),
    "misaligned by odd bytes": RIGHT + b"\0\0\7",
    "shifted by one byte": b"\0" + RIGHT,
    "garbage": bytes(i * 37 % 251 for i in range(4001)),
    "all ones": b"\xff" * 800,
    "swapped": swapped(RIGHT, 8),
    "positions past the end": offset_index([(offset, at + 10**8) for offset, at in POINTS]),
    "positions in the middle of a batch": offset_index([(offset, at + 7) for offset, at in POINTS]),
    "positions too late": offset_index([(offset - 60, at) for offset, at in POINTS if offset > 60]),
    "positions too early": offset_index([(offset + 60, at) for offset, at in POINTS]),
    "negative": struct.pack(">ii", -1, -1) * 100,
    "all at the same place": offset_index([(offset, POSITIONS[200]) for offset, _ in POINTS]),
}
SERVES = {"right", "right, then zeros", "misaligned by odd bytes", "positions too early"}
TIME_INDEXES: dict[str, bytes | None] = {
    "missing": None,
    "empty": b"",
    "right": TIMES,
    "right, then zeros": TIMES + bytes(12 * 1000),
    "zeros alone": bytes(12 * 1000),
    "misaligned": TIMES[:-5],
    "shifted by one byte": b"\0" + TIMES,
    "garbage": bytes(i * 37 % 251 for i in range(4001)),
    "swapped": swapped(TIMES, 12),
    "times too small": time_index([(T + 1000 * i - 300_000, 3 * i + 2) for i in range(4, COUNT, 4)]),
    "offsets too large": time_index([(T + 1000 * i, 3 * i + 202) for i in range(4, COUNT, 4)]),
    "offsets past the end": time_index([(T + 1000 * i, 10**6 + i) for i in range(4, COUNT, 4)]),
    "negative": struct.pack(">qi", -1, -1) * 100,
}


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    def make(index: bytes | None, times: bytes | None = None, entries: list[Entry] | bytes | None = None) -> Path:
        directory = partition_dir(tmp_path)
        return write_segment(directory, entries or ENTRIES, index=index, timeindex=times)

    return make


def place(log: Path) -> SegmentPlace:
    index, times = log.with_suffix(".index"), log.with_suffix(".timeindex")
    found = [str(path) if path.exists() else None for path in (index, times)]
    return SegmentPlace(str(log), 0, MAX, found[0], found[1])


@pytest.mark.parametrize("kind", INDEXES)
def test_an_offset_range_has_the_same_rows_whatever_the_index_says(log: Callable[..., Path], kind: str) -> None:
    path = log(INDEXES[kind])
    for start, end in ((0, 1200), (1, 4), (599, 610), (600, 601), (1199, 1200), (601, 601)):
        bounds = {"startingOffsets": {"topic": {0: start}}, "endingOffsets": {"topic": {0: end}}}
        wanted = [(offset,) for offset in range(start, end) if offset % 3 != 1]
        assert scan_rows(path, ["offset"], **bounds) == wanted


@pytest.mark.parametrize("kind", INDEXES)
def test_few_bytes_are_read_where_the_index_serves(log: Callable[..., Path], kind: str) -> None:
    path = log(INDEXES[kind])
    scan = kafkalog_source.scan(path, startingOffsets={"topic": {0: 900}}, endingOffsets={"topic": {0: 906}}, threads=1)
    assert scan.to_table()["offset"].to_pylist() == [900, 902, 903, 905]
    share = scan.report()["bytes_read"] / path.stat().st_size
    assert share < (0.35 if kind in SERVES else 4)


@pytest.mark.parametrize("kind", TIME_INDEXES)
@pytest.mark.parametrize("index", ["missing", "right"])
def test_a_time_is_found_whatever_the_time_index_says(log: Callable[..., Path], kind: str, index: str) -> None:
    path = log(INDEXES[index], TIME_INDEXES[kind])
    for second in (0, 1, 50, 200, 399):
        rows = scan_rows(path, ["offset"], startingTimestamp=T + 1000 * second - 500)
        assert rows[0] == (3 * second,)
        assert rows[-1] == (1199,)


def test_few_headers_are_read_where_the_time_index_serves(log: Callable[..., Path]) -> None:
    with Seeker(place(log(RIGHT, TIMES))) as seeker:
        start = scan_start_for_time(seeker, T + 300_000)
        assert start == 3 * 296 + 2 + 1
        assert seeker.bytes_read < 20_000


@pytest.mark.parametrize("size", [1, 500, 1000, 5000, 100_000, 10**9])
@pytest.mark.parametrize("kind", INDEXES)
def test_cuts_are_starts_of_batches_in_rising_order(log: Callable[..., Path], kind: str, size: int) -> None:
    path = log(INDEXES[kind])
    end = path.stat().st_size
    with Seeker(place(path)) as seeker:
        cuts = list(seeker.cuts(0, end, size))
    found = [cut.position for cut in cuts]
    assert found == sorted(set(found))
    assert set(found) <= set(POSITIONS[1:])
    largest = max(len(entry.encode()) for entry in ENTRIES)
    pieces = [b - a for a, b in zip([0, *found], [*found, end], strict=True)]
    assert max(pieces) <= max(size, largest)
    for cut in cuts:
        assert cut.below == cut.least == ENTRIES[POSITIONS.index(cut.position)].base_offset


def test_cuts_of_wrappers_promise_what_the_last_offsets_of_both_sides_tell(log: Callable[..., Path]) -> None:
    wrappers = [Wrapper([Message(offset=5 * i + j) for j in range(5)]) for i in range(10)]
    path = log(None, None, wrappers)
    with Seeker(place(path)) as seeker:
        cuts = list(seeker.cuts(0, path.stat().st_size, 1))
    assert [cut.below for cut in cuts] == [5 * i + 4 for i in range(1, 10)]
    assert [cut.least for cut in cuts] == [5 * i for i in range(1, 10)]


@pytest.mark.parametrize("index", ["missing", "right", "garbage", "zeros alone"])
def test_the_last_header_is_found(log: Callable[..., Path], index: str) -> None:
    path = log(INDEXES[index], None, encode(ENTRIES) + bytes(5000))
    with Seeker(place(path)) as seeker:
        header = seeker.last_header()
    assert header is not None
    assert (header.position, header.last_offset) == (POSITIONS[-1], 1199)


def test_the_last_header_behind_damage_is_found_when_asked_for(log: Callable[..., Path]) -> None:
    data = bytearray(encode(ENTRIES))
    data[POSITIONS[100] + 8] = 0x7F
    with Seeker(place(log(None, None, bytes(data)))) as seeker:
        near, far = seeker.last_header(), seeker.last_header(behind_damage=True)
    assert near is not None
    assert far is not None
    assert (near.last_offset, far.last_offset) == (299, 1199)


def lying(number: int, end: int) -> bytearray:
    """All batches, the length of one of them changed so that it ends at position `end`."""
    data = bytearray(encode(ENTRIES))
    struct.pack_into(">i", data, POSITIONS[number] + 8, end - POSITIONS[number] - 12)
    return data


@pytest.mark.parametrize("index", ["missing", "right"])
@pytest.mark.parametrize("number", [0, 1, 100, 397, 398])
@pytest.mark.parametrize("tail", [b"", bytes(5000), encode([Batch(base_offset=1200)])[:70]])
def test_a_length_that_leads_over_the_last_batches_hides_none_of_them(
    log: Callable[..., Path], number: int, tail: bytes, index: str
) -> None:
    size = len(encode(ENTRIES))
    for end in (size, size - 1, POSITIONS[-1], POSITIONS[-1] + 5, size + len(tail), POSITIONS[number + 1] + 1):
        with Seeker(place(log(INDEXES[index], None, bytes(lying(number, end)) + tail))) as seeker:
            header = seeker.last_header(behind_damage=True)
        assert header is not None
        assert (header.position, header.last_offset) == (POSITIONS[-1], 1199)


@pytest.mark.parametrize("number", [0, 100, 398])
def test_an_offset_that_later_batches_contradict_is_not_that_of_the_last(log: Callable[..., Path], number: int) -> None:
    data = bytearray(encode(ENTRIES))
    struct.pack_into(">q", data, POSITIONS[number], 10**6)
    with Seeker(place(log(None, None, bytes(data)))) as seeker:
        header = seeker.last_header(behind_damage=True)
    assert header is not None
    assert header.last_offset == 1199


def test_a_damaged_last_batch_is_the_last_if_no_other_is_found(log: Callable[..., Path]) -> None:
    data = bytearray(encode(ENTRIES))
    data[-1] ^= 1
    with Seeker(place(log(RIGHT, None, bytes(data)))) as seeker:
        header = seeker.last_header(behind_damage=True)
    assert header is not None
    assert header.last_offset == 1199


def test_to_prove_the_last_header_costs_no_more_than_its_batch(log: Callable[..., Path]) -> None:
    read = []
    for behind_damage in (False, True):
        with Seeker(place(log(RIGHT))) as seeker:
            seeker.last_header(behind_damage=behind_damage)
            read.append(seeker.bytes_read)
    assert read[1] - read[0] <= 2 * len(ENTRIES[-1].encode())


def test_lengths_that_lead_over_one_another_are_not_followed_for_ever(
    log: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regions, "_MOST_READ", 1 << 20)
    monkeypatch.setattr(regions, "_MOST_TIMES_READ", 4)
    data = bytearray(encode(ENTRIES))
    for number in range(COUNT - 1):
        struct.pack_into(">i", data, POSITIONS[number] + 8, len(data) - POSITIONS[number] - 12)
    with Seeker(place(log(None, None, bytes(data)))) as seeker:
        assert seeker.last_header(behind_damage=True) is not None
        assert seeker.bytes_read < (1 << 20) + 20 * len(data)


def test_a_time_is_not_looked_for_behind_a_batch_whose_time_may_be_wrong(log: Callable[..., Path]) -> None:
    """The time index names a batch, and its header agrees, but its checksum does not."""
    data = bytearray(encode(ENTRIES))
    data[POSITIONS[296] + 70] ^= 1
    with Seeker(place(log(RIGHT, TIMES, bytes(data)))) as seeker:
        assert scan_start_for_time(seeker, T + 300_000) == 0


@pytest.mark.parametrize("content", [b"", b"x", bytes(100), b"no segment at all, only text" * 10])
def test_a_file_without_a_batch_has_no_offsets(tmp_path: Path, content: bytes) -> None:
    path = write_segment(partition_dir(tmp_path), content)
    assert first_offset(str(path)) is None
    assert next_offset(str(path)) is None
    with Seeker(SegmentPlace(str(path), 0, MAX)) as seeker:
        assert seeker.last_header(behind_damage=True) is None


def test_first_and_next_offset_come_from_headers(log: Callable[..., Path]) -> None:
    path = str(log(RIGHT))
    assert first_offset(path) == 0
    assert next_offset(path) == next_offset(path, path.replace(".log", ".index")) == 1200


def test_a_search_by_time_does_not_pass_over_damage(tmp_path: Path) -> None:
    """Or the rows between the damage and the next segment would be left out without a word."""
    directory = partition_dir(tmp_path)
    data = bytearray(encode(ENTRIES))
    data[POSITIONS[100] + 8] = 0x7F
    write_segment(directory, bytes(data))
    write_segment(directory, [Batch(base_offset=1200, base_timestamp=T + 10**9)], base_offset=1200)
    with pytest.raises(kafkalog_source.KafkaLogError) as caught:
        scan_rows(directory, ["offset"], startingTimestamp=T + 200_000)
    assert caught.value.position == POSITIONS[100]
    assert len(scan_rows(directory, ["offset"], startingTimestamp=T + 50_000, endingTimestamp=T + 60_000)) == 20
