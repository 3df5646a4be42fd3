"""Entries of a window from their headers alone."""

from __future__ import annotations

import pytest

from kafkalog_source._core.codes import CODE, NAMES
from kafkalog_source._core.headers import HeaderCollector, HeaderTable
from kafkalog_source._core.memory import Scratch
from kafkalog_source._core.native import CFunctions
from kafkalog_source._core.walk import Entries, EntryFinder
from kafkalog_source.batch.decoder import C_FUNCTIONS
from tests.builders import Batch, Message, Record, Wrapper, encode
from tests.builders.disk import Entry

MAX = 2**63 - 1


def window_of(data: bytes) -> Scratch:
    window = Scratch()
    window.reserve(len(data))
    with window.view(0, len(data)) as room:
        room[:] = data
    return window


def walk(data: bytes, entries: Entries) -> str:
    return NAMES[entries.walk(window_of(data), len(data))]


MIXED: list[Entry] = [Message(offset=3, magic=0), Wrapper([Message(offset=4), Message(offset=5)]), Batch(base_offset=9)]


def test_entries_of_all_formats_are_found() -> None:
    entries = Entries()
    assert walk(encode(MIXED), entries) == "end"
    sizes = [len(entry.encode()) for entry in MIXED]
    assert [entries.entry(i) for i in range(entries.count)] == [
        (0, sizes[0], 0, 0, 3, 3),
        (sizes[0], sizes[1], 1, 1, 5, 5),
        (sizes[0] + sizes[1], sizes[2], 2, 0, 9, 9),
    ]
    assert (entries.walked, entries.last_offset, entries.count) == (sum(sizes), 9, 3)


def test_a_window_that_ends_inside_an_entry_says_how_much_is_needed() -> None:
    data = encode(MIXED)
    second = len(MIXED[0].encode())
    for size in range(second + 1, second + len(MIXED[1].encode())):
        entries = Entries()
        assert walk(data[:size], entries) == "incomplete"
        assert (entries.count, entries.walked) == (1, second)
        assert size - second < entries.next_size <= len(MIXED[1].encode())


@pytest.mark.parametrize(
    ("second", "name"),
    [
        (Batch(base_offset=2), "offset_not_rising"),
        (Batch(base_offset=-1), "offset_not_rising"),
        (Batch(base_offset=100), "offset_above_file"),
        (Batch([Record()] * 3, base_offset=98), "offset_above_file"),
        (Batch(base_offset=50, length=13), "bad_length"),
        (Batch(base_offset=50, length=48), "bad_length"),
        (Batch(base_offset=50, length=-1), "bad_length"),
        (Message(offset=50, size=21), "bad_length"),
        (Batch(base_offset=50, magic=3), "bad_magic"),
        (Batch(base_offset=50, magic=-1), "bad_magic"),
        (Batch(base_offset=50, last_offset_delta=-1), "bad_last_offset_delta"),
        (Batch(base_offset=MAX, last_offset_delta=1, attributes=0), "bad_last_offset_delta"),
        (Batch(base_offset=50, length=10**6), "incomplete"),
    ],
)
def test_a_header_that_cannot_be_is_told_and_what_is_before_it_is_kept(second: Batch | Message, name: str) -> None:
    entries = Entries(bound=100)
    assert walk(encode([Batch(base_offset=2), second]), entries) == name
    assert entries.count == 1


def test_the_first_offset_must_not_lie_below_the_file() -> None:
    assert walk(encode([Batch(base_offset=9)]), Entries(least=10)) == "offset_below_file"
    assert walk(encode([Batch(base_offset=10)]), Entries(least=10)) == "end"


@pytest.mark.parametrize(("stop", "count"), [(0, 0), (3, 1), (4, 1), (5, 2), (6, 2), (9, 2), (10, 3)])
def test_walking_stops_where_no_wanted_offset_can_follow(stop: int, count: int) -> None:
    """A v0 or v1 entry at or above the stop may be a wrapper, whose first records lie below it."""
    entries = Entries(stop=stop)
    assert walk(encode(MIXED), entries) == ("end" if stop > 9 else "past_offsets")
    assert entries.count == count


def test_offsets_must_rise_from_window_to_window() -> None:
    entries = Entries()
    assert walk(encode([Batch(base_offset=5)]), entries) == "end"
    assert walk(encode([Batch(base_offset=5)]), entries) == "offset_not_rising"
    entries.skip_to(20)
    assert walk(encode([Batch(base_offset=20)]), entries) == "offset_not_rising"
    assert walk(encode([Batch(base_offset=21)]), entries) == "end"


@pytest.mark.parametrize("there", range(1, 120, 7))
def test_a_payload_that_is_passed_over_need_not_be_in_the_window(there: int) -> None:
    """Its header has to be, and the entry has to end where the file does at the latest."""
    value = bytes(500)
    every: list[Entry] = [Message(magic=0, value=value), Message(value=value), Batch([Record(value=value)])]
    for entry in every:
        data = encode([entry])
        entries = Entries()
        code = NAMES[entries.walk(window_of(data[:there]), there, len(data))]
        if there >= 61:
            assert (code, entries.count, entries.walked) == ("end", 1, len(data))
        else:
            assert (code, entries.count, entries.walked) == ("incomplete", 0, 0)
            assert there < entries.next_size <= 61
        entries = Entries()
        code = NAMES[entries.walk(window_of(data[:there]), there, len(data) - 1)]
        assert (code, entries.count) == ("incomplete", 0)
        assert there < 61 or entries.next_size == len(data)


@pytest.mark.parametrize(
    ("largest", "code", "found"), [(1 << 20, "end", 3), (200, "bad_length", 1)], ids=["all", "a large one"]
)
def test_headers_are_collected_up_to_a_large_one(largest: int, code: str, found: int) -> None:
    data = encode([Batch(base_offset=0), Batch([Record(value=bytes(500))], 1), Batch(base_offset=2)])
    entries, table = Entries(), HeaderTable()
    collector = HeaderCollector(table, entries, 1000, 1000 + len(data), largest)
    assert NAMES[collector.walk(window_of(data), len(data), len(data))] == code
    assert (collector.found, collector.count, table.rows) == (found, found, found)
    last = entries.entry(found - 1)
    assert (collector.last_position, collector.last_above) == (1000 + last[0], found - 2)
    assert collector.walked == last[0] + last[1]


@pytest.mark.parametrize(
    ("magic", "codec", "code"), [(2, 4, "end"), (2, 5, "bad_codec"), (1, 3, "end"), (1, 4, "bad_codec")]
)
def test_headers_are_collected_up_to_an_unknown_codec(magic: int, codec: int, code: str) -> None:
    data = bytearray(encode([Batch() if magic == 2 else Message()]))
    data[22 if magic == 2 else 17] |= codec
    collector = HeaderCollector(HeaderTable(), Entries(), 0, len(data), 1 << 20)
    assert NAMES[collector.walk(window_of(bytes(data)), len(data), len(data))] == code
    assert collector.found == (code == "end")


def test_a_header_table_reads_no_header_beyond_its_window() -> None:
    data = encode([Batch([Record(value=bytes(500))])])
    entries, table = Entries(), HeaderTable()
    assert entries.walk(window_of(data[:61]), 61, len(data)) == CODE["end"]
    table.take(window_of(data[:61]), 0, entries, 0, 1)
    assert table.rows == 1
    small = Scratch()
    with pytest.raises(ValueError, match="not those of this window"):
        table.take(small, 0, entries, 0, 1)


def test_a_size_beyond_the_window_is_refused() -> None:
    with pytest.raises(ValueError, match="does not hold"):
        Entries().walk(window_of(b"short"), 1 << 30)
    with pytest.raises(ValueError, match="outside"):
        EntryFinder(CFunctions()).find(window_of(b"short"), 0, 1 << 30, 0, -1, MAX)
    with pytest.raises(IndexError):
        Entries().entry(0)


@pytest.mark.parametrize("functions", [CFunctions(), C_FUNCTIONS])
@pytest.mark.parametrize("junk", [0, 1, 17, 100])
def test_a_plausible_entry_is_found_behind_junk(junk: int, functions: CFunctions) -> None:
    data = b"\xfe" * junk + encode([Batch(base_offset=5)])
    window = window_of(data)
    find = EntryFinder(functions).find
    assert find(window, 0, len(data), 0, 4, MAX) == junk
    assert find(window, 0, len(data), 0, 5, MAX) == -1
    assert find(window, 0, len(data), 0, 4, 5) == -1
    assert find(window, junk + 1, len(data), 0, 4, MAX) == -1
    assert find(window, 0, len(data) - 1, 0, 4, MAX) == -1
    assert find(window, 0, len(data) - 1, 1, 4, MAX) == junk


def test_every_code_has_one_name() -> None:
    assert len(set(NAMES)) == len(NAMES) == len(CODE)


def test_an_entry_with_a_wrong_checksum_is_passed_over_where_it_can_be_compared() -> None:
    data = encode([Batch(base_offset=5, crc=1)])
    window = window_of(data)
    assert EntryFinder(CFunctions()).find(window, 0, len(data), 0, 4, MAX) == 0
    assert EntryFinder(C_FUNCTIONS).find(window, 0, len(data) - 1, 1, 4, MAX) == 0
    if "crc32_iscsi" in C_FUNCTIONS.found:
        assert EntryFinder(C_FUNCTIONS).find(window, 0, len(data), 0, 4, MAX) == -1


def test_a_larger_entry_than_is_looked_for_is_passed_over() -> None:
    data = encode([Batch(base_offset=5)])
    window = window_of(data)
    assert EntryFinder(CFunctions(), len(data)).find(window, 0, len(data), 0, 4, MAX) == 0
    assert EntryFinder(CFunctions(), len(data) - 1).find(window, 0, len(data), 0, 4, MAX) == -1


@pytest.mark.parametrize("functions", [CFunctions(), C_FUNCTIONS])
def test_nothing_is_found_when_enough_was_compared(functions: CFunctions) -> None:
    data = encode([Batch(base_offset=5)])
    window, finder = window_of(data), EntryFinder(functions)
    finder.left = 0
    assert finder.find(window, 0, len(data), 0, 4, MAX) == 0
    assert finder.left < 0
    assert finder.find(window, 0, len(data), 0, 4, MAX) == -1
