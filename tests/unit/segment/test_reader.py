"""The events of a span: runs of good batches, damage where it lies among them, and what is known at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source._core.columns import Columns
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source._core.walk import Entries
from kafkalog_source.batch import DecodeSettings, make_decoder, make_decoder_07
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import DataLossError, LimitError
from kafkalog_source.segment import reader as module
from kafkalog_source.segment.damage.contradictions import TOO_HIGH
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.damage.trust import Trust, WindowTrust
from kafkalog_source.segment.reader import End, Run, SpanReader
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span
from tests.builders import Batch, Message, Record, Wrapper, encode
from tests.builders.disk import Entry
from tests.builders.v07 import Message07, encode_07

MAX_OFFSET = 2**63 - 1
SMALL = [Batch([Record(), Record()], base_offset=2 * i) for i in range(10)]
SIZE = len(encode(SMALL[:1]))
WHOLE = encode(SMALL)
CRC_PLACE, OFFSET_PLACE, LENGTH_PLACE = 17, 7, 11

Told = tuple[str, int, int]
"""The kind of an event, and from where to where it reaches: positions, or offsets at the end."""


def flipped(content: bytes, *places: int) -> bytes:
    data = bytearray(content)
    for place in places:
        data[place] ^= 1
    return bytes(data)


def told(event: object) -> Told:
    """An event in short."""
    if isinstance(event, Run):
        begin = event.position + event.entries.entry(event.start)[0]
        return "run", begin, event.end
    if isinstance(event, Damage):
        return event.kind.value, event.position, event.position + event.size
    assert isinstance(event, End)
    return "end", -1 if event.next_offset is None else event.next_offset, 0


class Reading:
    """All events of a file that holds `content`."""

    def __init__(
        self,
        path: Path,
        content: bytes | list[Entry],
        *,
        stop: int = MAX_OFFSET,
        bound: int = MAX_OFFSET,
        last: bool = True,
        largest: int = 1 << 20,
        rows: int = 1 << 20,
        base_07: int | None = None,
    ) -> None:
        data = content if isinstance(content, bytes) else encode(content)
        file = path / "00000000000000000000.log"
        file.write_bytes(data)
        columns = Columns(["offset"], BlockPool(), rows, 1 << 40)
        settings = DecodeSettings(include_control=True, max_decompressed_bytes=largest)
        make = make_decoder if base_07 is None else make_decoder_07
        decoder = make(columns, Decompressor(largest), settings, 0, MAX_OFFSET)
        self.told: list[Told] = []
        self.damage: list[Damage] = []
        self.offsets: list[int] = []
        self.fillings = 0
        with LocalFile(str(file)) as source:
            span = Span(0, source.size, 0, bound, stop, True, last, base_07)
            reader = SpanReader(source, span, decoder, Scratch(), largest)
            for event in reader:
                if isinstance(event, Run) and event.is_full:
                    self.fillings += 1
                    self._take(columns)
                if not isinstance(event, Run) or event.count:
                    self.told.append(told(event))
                if isinstance(event, Damage):
                    self.damage.append(event)
            self.batches = reader.batches
        self._take(columns)

    def _take(self, columns: Columns) -> None:
        count, taken = columns.take()
        if count:
            self.offsets += memoryview(taken["offset"][2]).cast("B").cast("q")[:count].tolist()


def test_a_good_file_is_one_run_and_the_offset_that_comes_next(tmp_path: Path) -> None:
    found = Reading(tmp_path, WHOLE)
    assert found.told == [("run", 0, len(WHOLE)), ("end", 20, 0)]
    assert (found.offsets, found.batches) == (list(range(20)), 10)


@pytest.mark.parametrize("content", [b"", bytes(100)], ids=["empty", "zeros"])
def test_a_file_without_batches_has_an_end_alone(tmp_path: Path, content: bytes) -> None:
    assert Reading(tmp_path, content).told == [("end", 0, 0)]


@pytest.mark.parametrize("window", [1, 61, SIZE, SIZE + 1, 3 * SIZE])
def test_runs_join_where_windows_end(tmp_path: Path, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WINDOW_SIZE", window)
    monkeypatch.setattr(module, "WINDOW_SIZE", window)
    found = Reading(tmp_path, WHOLE)
    runs, end = found.told[:-1], found.told[-1]
    assert len(runs) > 1
    assert [begin for _, begin, _ in runs] == [0, *(stop for *_, stop in runs[:-1])]
    assert (runs[-1][2], end, found.batches) == (len(WHOLE), ("end", 20, 0), 10)


def test_a_run_ends_where_the_columns_are_full_even_inside_of_a_batch(tmp_path: Path) -> None:
    found = Reading(tmp_path, [Batch([Record()] * 10), Batch([Record()] * 10, base_offset=10)], rows=4)
    assert found.offsets == list(range(20))
    assert found.fillings >= 4
    assert found.told[-1] == ("end", 20, 0)


@pytest.mark.parametrize("bad", [0, 4, 9])
def test_a_wrong_checksum_parts_two_runs(tmp_path: Path, bad: int) -> None:
    found = Reading(tmp_path, flipped(WHOLE, bad * SIZE + CRC_PLACE))
    before = [("run", 0, bad * SIZE)] if bad else []
    after = [("run", (bad + 1) * SIZE, len(WHOLE))] if bad < 9 else []
    # Nothing tells which offset comes after damage.
    end = ("end", 20 if bad < 9 else -1, 0)
    assert found.told == [*before, ("damaged", bad * SIZE, (bad + 1) * SIZE), *after, end]
    assert found.batches == 10
    (damage,) = found.damage
    assert (damage.first_offset, damage.last_offset) == (2 * bad, 2 * bad + 1 if bad < 9 else None)


def test_bad_batches_in_a_row_are_told_one_by_one(tmp_path: Path) -> None:
    found = Reading(tmp_path, flipped(WHOLE, *(n * SIZE + CRC_PLACE for n in (3, 4, 5))))
    damage = [("damaged", n * SIZE, (n + 1) * SIZE) for n in (3, 4, 5)]
    assert found.told == [("run", 0, 3 * SIZE), *damage, ("run", 6 * SIZE, len(WHOLE)), ("end", 20, 0)]


def test_what_is_no_batch_reaches_to_the_next_one(tmp_path: Path) -> None:
    junk = b"\x7e" * 99
    found = Reading(tmp_path, WHOLE[: 2 * SIZE] + junk + WHOLE[2 * SIZE :])
    end = 2 * SIZE + len(junk)
    runs = ("run", 0, 2 * SIZE), ("run", end, len(WHOLE) + len(junk))
    assert found.told == [runs[0], ("damaged", 2 * SIZE, end), runs[1], ("end", 20, 0)]
    assert (found.damage[0].first_offset, found.damage[0].last_offset) == (4, 3)


@pytest.mark.parametrize("last", [True, False])
def test_a_batch_that_the_end_cuts_ends_the_events(tmp_path: Path, last: bool) -> None:
    found = Reading(tmp_path, WHOLE[:-5], last=last)
    kind = "torn" if last else "damaged"
    assert found.told == [("run", 0, 9 * SIZE), (kind, 9 * SIZE, len(WHOLE) - 5), ("end", -1, 0)]


def test_a_batch_whose_end_was_not_written_is_torn(tmp_path: Path) -> None:
    content = WHOLE[: 9 * SIZE] + WHOLE[9 * SIZE : -30] + bytes(1000)
    found = Reading(tmp_path, content)
    assert found.told == [("run", 0, 9 * SIZE), ("torn", 9 * SIZE, 10 * SIZE), ("end", -1, 0)]


@pytest.mark.parametrize("large", [0, 1, 2])
def test_a_batch_that_is_larger_than_allowed_is_damage_of_its_size(tmp_path: Path, large: int) -> None:
    entries: list[Entry] = [Batch(base_offset=0), Batch(base_offset=1), Batch(base_offset=2)]
    entries[large] = Batch([Record(value=bytes(500))], base_offset=large)
    places = [len(encode(entries[:n])) for n in range(4)]
    found = Reading(tmp_path, entries, largest=200)
    assert ("damaged", places[large], places[large + 1]) in found.told
    assert isinstance(found.damage[0].error, LimitError)
    assert found.offsets == [n for n in range(3) if n != large]


@pytest.mark.parametrize("bad", [2, 8])
def test_an_offset_that_is_too_high_costs_its_own_batch(tmp_path: Path, bad: int) -> None:
    # The lowest bit of the offset's sixth byte: 65536 more.
    found = Reading(tmp_path, flipped(WHOLE, bad * SIZE + OFFSET_PLACE - 2))
    damage = ("damaged", bad * SIZE, (bad + 1) * SIZE)
    assert found.told == [("run", 0, bad * SIZE), damage, ("run", (bad + 1) * SIZE, len(WHOLE)), ("end", 20, 0)]
    assert (found.damage[0].reason, found.damage[0].expected) == TOO_HIGH


def test_nothing_is_told_of_what_lies_above_the_stop(tmp_path: Path) -> None:
    found = Reading(tmp_path, flipped(WHOLE, 8 * SIZE + CRC_PLACE), stop=6)
    assert found.told == [("run", 0, 3 * SIZE), ("end", -1, 0)]


def test_offsets_of_the_next_segment_are_damage(tmp_path: Path) -> None:
    found = Reading(tmp_path, WHOLE, bound=10, last=False)
    damage = [("damaged", n * SIZE, (n + 1) * SIZE) for n in range(5, 10)]
    assert found.told == [("run", 0, 5 * SIZE), *damage, ("end", -1, 0)]


def test_a_wrapper_whose_offset_is_wrong_may_have_held_any_between_its_neighbours(tmp_path: Path) -> None:
    sets = [Wrapper([Message(offset=3 * n + i, magic=1) for i in range(3)], "gzip", 1) for n in range(4)]
    size = len(sets[0].encode())
    data = bytearray(encode(sets))
    # The second set says that its last offset is 4, and holds three messages from there on down to 2.
    data[size + OFFSET_PLACE] = 3
    found = Reading(tmp_path, bytes(data))
    assert found.offsets == [0, 1, 2, *range(6, 12)]
    assert found.told[-1] == ("end", 12, 0)
    (damage,) = found.damage
    assert (damage.position, damage.size) == (size, size)
    assert (damage.first_offset, damage.last_offset) == (0, 7)


def test_entries_are_shown_run_by_run(tmp_path: Path) -> None:
    seen: list[tuple[int, int, int]] = []

    class Noting:
        def take(self, window: Scratch, window_position: int, entries: Entries, start: int, stop: int) -> None:
            seen.append((window_position, start, stop))

    path = tmp_path / "f"
    path.write_bytes(flipped(WHOLE, 4 * SIZE + CRC_PLACE))
    with LocalFile(str(path)) as source:
        span = Span(0, source.size, 0, MAX_OFFSET, MAX_OFFSET, True, True)
        decoder = make_decoder(Columns([], BlockPool()), Decompressor(1), DecodeSettings(), MAX_OFFSET, MAX_OFFSET)
        for event in SpanReader(source, span, decoder, Scratch(), 1 << 20):
            if isinstance(event, Run):
                event.show(Noting())
                assert event.last_offset == (7 if event.start == 0 else 19)
    assert seen == [(0, 0, 4), (0, 5, 10)]


def test_no_more_is_read_than_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(encode([Batch([Record(value=bytes(10_000))], base_offset=n) for n in range(500)]))
    with LocalFile(str(path)) as source:
        span = Span(0, source.size, 0, MAX_OFFSET, MAX_OFFSET, True, True)
        decoder = make_decoder(Columns([], BlockPool()), Decompressor(1), DecodeSettings(), MAX_OFFSET, MAX_OFFSET)
        first = next(iter(SpanReader(source, span, decoder, Scratch(), 1 << 20)))
        assert isinstance(first, Run)
        assert source.bytes_read <= module.FIRST_WINDOW_SIZE + 100


def test_a_file_that_was_cut_says_how_far_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WINDOW_SIZE", 3 * SIZE)
    monkeypatch.setattr(module, "WINDOW_SIZE", 3 * SIZE)
    path = tmp_path / "f"
    path.write_bytes(WHOLE)
    with LocalFile(str(path)) as source:
        span = Span(0, source.size, 0, MAX_OFFSET, MAX_OFFSET, True, True)
        decoder = make_decoder(Columns([], BlockPool()), Decompressor(1), DecodeSettings(), MAX_OFFSET, MAX_OFFSET)
        reader = SpanReader(source, span, decoder, Scratch(), 1 << 20)
        events = iter(reader)
        next(events)
        path.write_bytes(WHOLE[: 4 * SIZE])
        with pytest.raises(DataLossError):
            list(events)
        assert reader.reached == 6


MESSAGES_07 = [Message07(b"message number %d" % n, magic=n % 2) for n in range(6)]
STARTS_07 = [len(encode_07(MESSAGES_07[:n])) for n in range(7)]


def test_kafka_07_has_the_same_events(tmp_path: Path) -> None:
    data = encode_07(MESSAGES_07)
    assert Reading(tmp_path, data, base_07=0).told == [("run", 0, len(data)), ("end", -1, 0)]
    found = Reading(tmp_path, flipped(data, STARTS_07[3] - 1), base_07=0)
    damage = ("damaged", STARTS_07[2], STARTS_07[3])
    assert found.told == [("run", 0, STARTS_07[2]), damage, ("run", STARTS_07[3], len(data)), ("end", -1, 0)]
    assert found.damage[0].kind is Kind.DAMAGED
    torn = Reading(tmp_path, data[:-3], base_07=0)
    assert torn.told == [("run", 0, STARTS_07[5]), ("torn", STARTS_07[5], len(data) - 3), ("end", -1, 0)]


def window_of(content: bytes) -> tuple[Scratch, Entries]:
    window, entries = Scratch(), Entries()
    window.reserve(len(content))
    with window.view(0, len(content)) as room:
        room[:] = content
    entries.walk(window, len(content))
    return window, entries


def test_what_is_trusted_before_each_entry_of_a_window() -> None:
    _, entries = window_of(encode([Batch(base_offset=n) for n in (10, 20, 30)]))
    size = entries.walked // 3
    known = WindowTrust(Trust(1000, above=5, before=2), entries, magic=2)
    assert known.at(0) == Trust(1000, 5, 2, 2)
    assert known.at(1) == Trust(1000 + size, 10, 5, 2)
    assert known.at(3) == Trust(1000 + 3 * size, 30, 20, 2)
    known.correct(1, 7)
    assert known.at(1) == Trust(1000 + size, 7, 5, 2)
    assert known.at(2) == Trust(1000 + 2 * size, 20, 7, 2)


def test_a_window_without_entries_adds_nothing_to_what_is_trusted() -> None:
    _, entries = window_of(WHOLE[:20])
    start = Trust(1000, above=5, before=2, magic=1, is_after_damage=True)
    assert WindowTrust(start, entries, magic=1).at(0) == start
