"""Traps of v0 and v1: wrappers, inner offsets, times."""

from __future__ import annotations

import struct

import pytest

from tests.builders import Batch, Message, Wrapper
from tests.unit.formats.conftest import Both

NIL = Message(key=None, value=b"\0")
T = 1_600_000_000_000


def messages(*offsets: int, magic: int = 1) -> list[Message]:
    return [Message(offset=offset, magic=magic, value=b"%d" % offset) for offset in offsets]


def test_v1_wrapper_offsets_count_back_from_the_last_inner_entry(both: Both) -> None:
    assert [r.offset for r in both.read([Wrapper(messages(40, 42, 47))])] == [40, 42, 47]


def test_v1_wrapper_whose_first_inner_entries_were_cleaned_away_keeps_the_offsets(both: Both) -> None:
    """After cleaning the first relative offset need not be zero."""
    inner = b"".join(Message(offset=relative).encode() for relative in (3, 5))
    records = both.read([Wrapper(inner=inner, offset=105)])
    assert [(r.offset, r.batch_base_offset) for r in records] == [(103, 103), (105, 103)]


def test_v1_wrapper_offset_zero_with_several_inners_starts_at_zero(both: Both) -> None:
    records = both.read([Wrapper(messages(0, 1, 2), offset=0), Message(offset=3)])
    assert [r.offset for r in records] == [0, 1, 2, 3]


def test_v1_wrapper_offset_below_its_last_inner_offset_is_refused(both: Both) -> None:
    both.refuse([Wrapper(messages(0, 1, 2, 3), offset=2)], position=0)


def test_v0_wrapper_offsets_are_absolute(both: Both) -> None:
    records = both.read([Wrapper(messages(40, 42, 47, magic=0), magic=0)])
    assert [(r.offset, r.batch_base_offset) for r in records] == [(40, 40), (42, 40), (47, 40)]


@pytest.mark.parametrize(("outer", "inner"), [(1, 0), (0, 1)])
def test_a_wrapper_may_hold_entries_of_the_other_magic(both: Both, outer: int, inner: int) -> None:
    records = both.read([Wrapper(messages(7, 8, magic=inner), magic=outer)])
    assert [(r.offset, r.magic) for r in records] == [(7, inner), (8, inner)]
    assert {r.timestamp_type for r in records} == {-1}


def test_a_wrapper_may_hold_both_magics(both: Both) -> None:
    inner = [Message(offset=7, magic=0), Message(offset=8, magic=1, timestamp=T)]
    assert [r.timestamp_ms for r in both.read([Wrapper(inner)])] == [None, T]


@pytest.mark.parametrize("magic", [2, 3, -1])
def test_an_inner_entry_of_another_magic_is_refused(both: Both, magic: int) -> None:
    both.refuse([Wrapper([Message(magic=magic)])], position=0)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrapper_inside_a_wrapper_is_refused(both: Both, magic: int) -> None:
    nested = Wrapper(messages(0, magic=magic), magic=magic).encode()
    both.refuse([Wrapper(inner=nested, magic=magic, offset=0)], position=0)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("value", [None, b""], ids=["null", "empty"])
def test_a_wrapper_with_a_null_or_empty_value_is_refused(both: Both, value: bytes | None, magic: int) -> None:
    both.refuse([Wrapper(magic=magic, envelope=Message(key=None, value=value))], position=0)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4"])
def test_a_wrapper_without_inner_entries_is_refused(both: Both, codec: str, magic: int) -> None:
    both.refuse([Wrapper(codec=codec, magic=magic, inner=b"")], position=0)


@pytest.mark.parametrize("magic", [0, 1])
def test_zstd_in_a_wrapper_is_refused(both: Both, magic: int) -> None:
    both.refuse([Wrapper(messages(0, magic=magic), codec="zstd", magic=magic)], position=0)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_does_not_exist_is_refused(both: Both, codec: int, magic: int) -> None:
    both.refuse([Message(magic=magic, attributes=codec)], position=0)


@pytest.mark.parametrize("kept", [1, 11, 12, 20, -1])
def test_a_last_inner_entry_cut_short_is_refused(both: Both, kept: int) -> None:
    whole = Message(offset=0).encode()
    both.refuse([Wrapper(inner=whole + Message(offset=1).encode()[:kept], offset=1)], position=0)


def test_inner_offsets_that_do_not_rise_are_refused(both: Both) -> None:
    both.refuse([Wrapper(messages(5, 5), offset=9)], position=0)
    both.refuse([Wrapper(messages(6, 5, magic=0), magic=0, offset=9)], position=0)


def test_log_append_time_of_a_v1_wrapper_is_the_time_of_all_inner_entries(both: Both) -> None:
    inner = [Message(offset=0, timestamp=1), Message(offset=1, timestamp=2)]
    records = both.read([Wrapper(inner, timestamp=T, log_append_time=True)])
    assert [(r.timestamp_ms, r.timestamp_type) for r in records] == [(T, 1), (T, 1)]


def test_create_time_of_a_v1_wrapper_leaves_the_inner_times_and_overrules_their_type(both: Both) -> None:
    inner = [Message(offset=0, timestamp=1, log_append_time=True), Message(offset=1, timestamp=2)]
    records = both.read([Wrapper(inner, timestamp=T)])
    assert [(r.timestamp_ms, r.timestamp_type) for r in records] == [(1, 0), (2, 0)]


def test_v1_entry_with_log_append_time_says_so(both: Both) -> None:
    (record,) = both.read([Message(timestamp=T, log_append_time=True)])
    assert (record.timestamp_ms, record.timestamp_type) == (T, 1)


def test_v1_timestamp_of_minus_one_is_null_and_keeps_its_type(both: Both) -> None:
    records = both.read([Message(timestamp=-1), Message(offset=1, timestamp=-1, log_append_time=True)])
    assert [(r.timestamp_ms, r.timestamp_type) for r in records] == [(None, 0), (None, 1)]


def test_v0_has_no_time_even_inside_a_v1_wrapper_with_log_append_time(both: Both) -> None:
    wrapper = Wrapper(messages(1, magic=0), timestamp=T, log_append_time=True)
    records = both.read([Message(magic=0), wrapper])
    assert [(r.timestamp_ms, r.timestamp_type) for r in records] == [(None, -1), (None, -1)]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("length", [-1, -2, -(2**31)])
def test_any_negative_length_is_null_and_an_empty_one_is_not(both: Both, length: int, magic: int) -> None:
    entries = [
        Message(key=None, key_length=length, value=b"", magic=magic),
        Message(key=b"", value=None, value_length=length, magic=magic, offset=1),
    ]
    assert [(r.key, r.value) for r in both.read(entries)] == [(None, b""), (b"", None)]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("field", ["key_length", "value_length"])
@pytest.mark.parametrize("length", [6, 100, 2**31 - 16, 2**31 - 1])
def test_a_length_past_the_end_of_its_entry_is_refused(both: Both, field: str, length: int, magic: int) -> None:
    lie = Message(magic=magic, offset=1, **{field: length})  # type: ignore[arg-type]
    both.refuse([Message(magic=magic), lie, Batch(base_offset=2)], position=len(Message(magic=magic).encode()))


@pytest.mark.parametrize("magic", [0, 1])
def test_bytes_after_the_value_are_refused(both: Both, magic: int) -> None:
    both.refuse([Message(magic=magic, extra=b"\0")], position=0)


@pytest.mark.parametrize("size", [-1, 0, 13, 2**31 - 1])
def test_an_inner_size_that_lies_is_refused(both: Both, size: int) -> None:
    inner = Message().encode()
    both.refuse([Wrapper(inner=inner[:8] + struct.pack(">i", size) + inner[12:], offset=0)], position=0)


def test_transactional_and_control_bits_mean_nothing_in_v1(both: Both) -> None:
    (record,) = both.read([Message(attributes=0b0011_0000)])
    assert (record.is_transactional, record.is_control) == (False, False)


def test_smallest_entries_have_no_key_and_no_value(both: Both) -> None:
    entries = [Message(None, None, 0, 0), Message(None, None, 1, 1)]
    assert [len(entry.encode()) - 12 for entry in entries] == [14, 22]
    assert [(r.key, r.value) for r in both.read(entries)] == [(None, None), (None, None)]


def test_the_key_of_a_wrapper_is_ignored(both: Both) -> None:
    assert len(both.read([Wrapper(messages(0, 1), envelope=Message(key=b"outer", value=NIL.value))])) == 2
