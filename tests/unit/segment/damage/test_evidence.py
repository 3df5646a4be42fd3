"""What tells how far damage reaches, which of two offsets is wrong, and which offsets are lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source.segment.damage import regions as module
from kafkalog_source.segment.damage.contradictions import Wrong, judge_offset, judge_range_end
from kafkalog_source.segment.damage.lost import offsets_of
from kafkalog_source.segment.damage.regions import End, Evidence, Regions
from kafkalog_source.segment.entries import read_header
from kafkalog_source.segment.source import LocalFile
from tests.builders import Batch, Message, Record, Wrapper, encode
from tests.builders.disk import Entry

MAX_OFFSET = 2**63 - 1
LARGEST = 1 << 20
LENGTH_PLACE, MAGIC_PLACE, CRC_PLACE, VALUE_PLACE = 11, 16, 17, 70
SIZE = len(Batch().encode())

Open = Callable[[bytes], LocalFile]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Give a file with some content."""

    def put(content: bytes) -> LocalFile:
        path = tmp_path / "00000000000000000000.log"
        path.write_bytes(content)
        return LocalFile(os.fspath(path))

    return put


def batches(*offsets: int) -> bytes:
    return encode([Batch(base_offset=offset) for offset in offsets])


def changed(content: bytes, place: int, value: int | None = None) -> bytes:
    data = bytearray(content)
    data[place] = data[place] ^ 1 if value is None else value
    return bytes(data)


def end_of(opened: Open, content: bytes, position: int = 0, above: int = -1, *, to_file_end: bool = True) -> End:
    with opened(content) as source:
        return Regions(source, source.size, MAX_OFFSET, to_file_end).end_of(position, above)


# How far damage reaches: the evidence from the best on.


def test_a_batch_whose_checksum_is_right_ends_where_it_says(opened: Open) -> None:
    assert end_of(opened, batches(5, 1), SIZE, above=5) == End(2 * SIZE, Evidence.OWN_CHECKSUM)


def test_a_length_that_is_too_large_is_refuted_by_the_checksum(opened: Open) -> None:
    bad = changed(batches(0), LENGTH_PLACE, Batch().encode()[LENGTH_PLACE] + SIZE)
    assert end_of(opened, bad + batches(1, 2, 3)) == End(SIZE, Evidence.OWN_CHECKSUM)


def test_a_length_that_is_too_small_is_refuted_by_the_checksum(opened: Open) -> None:
    bad = changed(batches(0), LENGTH_PLACE, Batch().encode()[LENGTH_PLACE] - 9)
    assert end_of(opened, bad + batches(1, 2, 3)) == End(SIZE, Evidence.OWN_CHECKSUM)


def test_the_zeros_at_the_end_do_not_hide_where_a_batch_of_a_wrong_length_ends(opened: Open) -> None:
    bad = changed(batches(0), LENGTH_PLACE - 1, 4)
    assert end_of(opened, bad + bytes(5000)) == End(SIZE, Evidence.OWN_CHECKSUM)


@pytest.mark.parametrize("between", [0, 1, 3])
def test_a_length_that_leads_to_a_good_batch_is_believed(opened: Open, between: int) -> None:
    bad = b"".join(changed(batches(n), VALUE_PLACE - 4) for n in range(1 + between))
    assert end_of(opened, bad + batches(9)) == End(SIZE, Evidence.GOOD_LEAD)


@pytest.mark.parametrize("rest", [b"", bytes(100), batches(1)[:30]], ids=["end", "zeros", "cut batch"])
def test_a_length_that_leads_to_where_all_ends_is_believed(opened: Open, rest: bytes) -> None:
    assert end_of(opened, changed(batches(0), CRC_PLACE) + rest) == End(SIZE, Evidence.BORDER)


def test_a_border_over_a_good_batch_is_said_to_hold_it(opened: Open) -> None:
    outer = Batch([Record(value=batches(7) + b"end")]).encode()
    assert end_of(opened, changed(outer, CRC_PLACE)) == End(len(outer), Evidence.BORDER, holds_batch=True)


def test_without_a_header_the_next_good_batch_is_the_end(opened: Open) -> None:
    assert end_of(opened, b"\xfe" * 99 + batches(3)) == End(99, Evidence.NEXT_BATCH)


def test_a_batch_whose_offset_does_not_fit_is_not_the_next_one(opened: Open) -> None:
    content = b"\xfe" * 99 + batches(3, 8)
    assert end_of(opened, content, above=3) == End(99 + SIZE, Evidence.NEXT_BATCH)


@pytest.mark.parametrize("to_file_end", [True, False])
def test_where_no_batch_follows_everything_is_bad(opened: Open, to_file_end: bool) -> None:
    assert end_of(opened, b"\xfe" * 99, to_file_end=to_file_end) == End(99, Evidence.NOTHING)


def test_only_a_checksum_is_a_proof() -> None:
    assert [each for each in Evidence if End(0, each).is_proved] == [Evidence.OWN_CHECKSUM]


def test_the_search_ends_when_its_budget_is_spent(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_READ", 1000)
    monkeypatch.setattr(module, "_MOST_TIMES_READ", 2)
    with opened(b"\xfe" * 99 + batches(3)) as source:
        regions = Regions(source, source.size, MAX_OFFSET, to_file_end=True)
        assert regions.budget.most_read == 1000 + 2 * source.size
        assert not regions.budget.is_spent
        source.bytes_read = regions.budget.most_read + 1
        assert regions.budget.is_spent
        assert regions.end_of(0, -1) == End(source.size, Evidence.NOTHING)


# Which of two offsets is wrong.


def judged(opened: Open, offsets: list[int], records: int = 1) -> tuple[Wrong, int | None]:
    """What is wrong with the second of some batches, and the first offset of the next one if that goes on."""
    entries = [Batch([Record()] * records, base_offset=offset) for offset in offsets]
    places = [len(encode(entries[:n])) for n in range(2)]
    with opened(encode(entries)) as source:
        header = read_header(source, places[1])
        assert header is not None
        found = judge_offset(source, header, entries[0].base_offset + records - 1, MAX_OFFSET, LARGEST)
    return found.wrong, None if found.following is None else found.following.first_offset


@pytest.mark.parametrize(
    ("offsets", "wrong"),
    [
        ([0, 1, 2, 3], Wrong.NOTHING),
        ([0, 5, 9, 12], Wrong.NOTHING),
        # Its right offset just fills the room.
        ([0, 100, 2, 3], Wrong.OFFSET),
        ([0, 100, 2], Wrong.OFFSET),
        # The one after the next contradicts it too; or does not.
        ([0, 100, 5, 9], Wrong.OFFSET),
        ([0, 5, 3, 9], Wrong.NOTHING),
        # None follows: it lies above the next one, and there is room for it; or there is none.
        ([0, 100, 5], Wrong.OFFSET),
        ([4, 5, 5], Wrong.NOTHING),
        # The next one lies below what came before: it is the wrong one.
        ([4, 5, 2, 6], Wrong.NOTHING),
        ([4, 5], Wrong.NOTHING),
    ],
)
def test_the_batch_is_wrong_that_those_around_it_contradict(opened: Open, offsets: list[int], wrong: Wrong) -> None:
    found, following = judged(opened, offsets)
    assert found is wrong
    assert following == (offsets[2] if wrong is Wrong.OFFSET else None)


def test_a_wrapper_is_judged_by_the_offsets_of_its_messages(opened: Open) -> None:
    first, second = (Wrapper([Message(offset=n + i, magic=1) for i in range(3)], "gzip", 1) for n in (50, 3))
    with opened(encode([first, second])) as source:
        header = read_header(source, 0)
        assert header is not None
        assert judge_offset(source, header, -1, MAX_OFFSET, LARGEST).wrong is Wrong.OFFSET
        # What is too large to be decoded says nothing.
        assert judge_offset(source, header, -1, MAX_OFFSET, 10).wrong is Wrong.NOTHING


def test_a_batch_that_ends_a_range_is_wrong_if_the_next_one_lies_below_it(opened: Open) -> None:
    content = batches(500, 1, 2)
    with opened(content) as source:
        found = judge_range_end(source, 0, 0, 2, len(content))
        assert found.wrong is Wrong.OFFSET
        assert found.following is not None
        assert found.following.position == SIZE
        # The next one lies outside of the range, or below what came before.
        assert judge_range_end(source, 0, 0, 2, SIZE).wrong is Wrong.NOTHING
        assert judge_range_end(source, 0, 1, 2, len(content)).wrong is Wrong.NOTHING
    with opened(batches(500, 501)) as source:
        assert judge_range_end(source, 0, 0, 2, source.size).wrong is Wrong.NOTHING


@pytest.mark.parametrize(
    ("last_magic", "position", "wrong"),
    [(2, 0, Wrong.NOTHING), (1, 0, Wrong.MAGIC), (None, 0, Wrong.MAGIC), (None, SIZE, Wrong.NOTHING)],
)
def test_after_messages_a_bad_batch_may_be_a_set_with_a_wrong_magic_byte(
    opened: Open, last_magic: int | None, position: int, wrong: Wrong
) -> None:
    wrapper = Wrapper([Message(offset=500 + i) for i in range(9)], "gzip", 0).encode()
    with opened(batches(0)[: position or 0] + changed(wrapper, MAGIC_PLACE, 2)) as source:
        assert judge_range_end(source, position, 0, last_magic, source.size).wrong is wrong


# Which offsets are lost.


@pytest.mark.parametrize(
    ("entry", "held"),
    [
        (Batch([Record()] * 4, base_offset=10), (10, 13)),
        (Message(offset=7), (7, 7)),
        (Wrapper([Message(offset=20 + i) for i in range(5)], "gzip", 0), (20, 24)),
        (Wrapper([Message(offset=20 + i, magic=1) for i in range(5)], "lz4", 1), (20, 24)),
    ],
)
def test_the_offsets_in_a_batch(opened: Open, entry: Entry, held: tuple[int, int]) -> None:
    with opened(entry.encode()) as source:
        header = read_header(source, 0)
        assert header is not None
        assert offsets_of(source, header, LARGEST) == held


def test_a_set_of_more_messages_than_columns_hold_at_once(opened: Open) -> None:
    messages = [Message(offset=i, magic=1) for i in range(100_000)]
    with opened(Wrapper(messages, "gzip", 1).encode()) as source:
        header = read_header(source, 0)
        assert header is not None
        assert offsets_of(source, header, 64 << 20) == (0, 99_999)


@pytest.mark.parametrize("largest", [50, LARGEST])
def test_a_set_that_cannot_be_decoded_or_is_too_large_says_nothing(opened: Open, largest: int) -> None:
    compress = None if largest == 50 else lambda plain: b"no gzip at all"
    options = {} if compress is None else {"compress": compress}
    wrapper = Wrapper([Message(offset=i, magic=1) for i in range(5)], "gzip", 1, **options)
    with opened(wrapper.encode()) as source:
        header = read_header(source, 0)
        assert header is not None
        assert offsets_of(source, header, largest) is None
