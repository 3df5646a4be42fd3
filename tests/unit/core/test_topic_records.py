"""How the core refuses programs, columns and arrays that do not fit together."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kafkalog_source._core.memory import BlockPool
from kafkalog_source._core.program import Program
from kafkalog_source._core.slots import Slots
from kafkalog_source._core.topic_records import FIRST_COLUMN, RecordDecoder

COMMON = [("numbers", 0, 0)] * 3 + [("texts", 0, 0)] * 2


def field(kind: str = "int8", inner: int = 0, versions: int = 0, slot: int = -1, name: tuple[int, int] = (0, 4)) -> Any:
    return (kind, -1, inner, versions, slot, *name, 0, 0, False, False, False, False)


def decoder(slot: int = -1, **options: Any) -> tuple[RecordDecoder, Slots]:
    """A topic with one record type, whose value is a byte."""
    slots = Slots([*COMMON, ("numbers", 0, 0)], FIRST_COLUMN + 1, BlockPool())
    program = Program([field(slot=slot)], [(0, 0, 0, False), (0, 1, 0, False)], b'"n":')
    types = [(1, 0, 1, 1)]
    return RecordDecoder(program, slots, "coordinator", types, [], key_json=True, value_json=True, **options), slots


def test_a_program_of_one_field() -> None:
    reader, slots = decoder(FIRST_COLUMN)
    values = (0, None, struct.pack("=2i", 0, 3), b"\0\0\xff")
    assert reader.decode(1, 0, (0, None, struct.pack("=2i", 0, 2), b"\0\1"), values, b"\0", b"\0") == 1
    taken = slots.take()
    assert [count for count, *_ in taken] == [1] * (FIRST_COLUMN + 1)
    assert bytes(taken[4][4]) == b'{"n":-1}'
    assert bytes(taken[3][4]) == b"{}"
    assert struct.unpack("=q", bytes(taken[5][4])) == (-1,)
    assert [count for count, *_ in slots.take()] == [0] * (FIRST_COLUMN + 1)


def test_large_columns_are_handed_over_in_pieces() -> None:
    reader, slots = decoder(most_bytes=15)
    ends = struct.pack("=8i", *range(0, 24, 3))
    values = (0, None, ends, b"".join(bytes([0, 0, row]) for row in range(7)))
    keys = (0, None, struct.pack("=8i", *range(0, 16, 2)), b"\0\1" * 7)
    start, found = 0, []
    while start < 7:
        start = reader.decode(7, start, keys, values, bytes(7), bytes(7))
        taken = slots.take()
        assert {count for count, *_ in taken[:FIRST_COLUMN]} == {taken[0][0]}
        found.append(bytes(taken[4][4]))
    assert b"".join(found) == b"".join(b'{"n":%d}' % row for row in range(7))
    assert len(found) > 1


@pytest.mark.parametrize(
    ("fields", "structs"),
    [
        ([field("array", inner=1)], [(0, 1, 0, False)]),
        ([field("array", inner=-1)], [(0, 1, 0, False)]),
        ([field("struct", inner=1)], [(0, 1, 0, False)]),
        ([field("embedded", inner=0, versions=2)], [(0, 1, 0, False)]),
        ([field("embedded", inner=0, versions=0)], [(0, 1, 0, False)]),
        ([field()], [(0, 2, 0, False)]),
        ([field()], [(-1, 1, 0, False)]),
        ([field()] * 49, [(0, 49, 0, False)]),
        ([field(name=(0, 5))], [(0, 1, 0, False)]),
        ([field(name=(-1, 1))], [(0, 1, 0, False)]),
        ([field("struct", inner=0)], [(0, 1, 0, False)]),
        ([field("array", inner=0)], [(0, 1, 0, False)]),
        ([field("float32")], [(0, 1, 0, False)]),
    ],
)
def test_programs_that_point_outside_or_have_no_end(fields: list[Any], structs: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"outside of the program|lie inside each other|not in tuple"):
        Program(fields, structs, b'"n":')


@pytest.mark.parametrize(
    ("described", "roots"),
    [
        ([("lists", 0, 1)], 1),
        ([("lists", 1, 2), ("numbers", 0, 0)], 1),
        ([("numbers", 0, 0)], 2),
        ([("maps", 0, 0)], 1),
    ],
)
def test_slots_that_do_not_fit_together(described: list[Any], roots: int) -> None:
    with pytest.raises(ValueError, match=r"cannot hold rows|do not come after|not in tuple"):
        Slots(described, roots, BlockPool())


def test_a_decoder_whose_parts_do_not_fit() -> None:
    with pytest.raises(ValueError, match="slot that does not exist"):
        decoder(FIRST_COLUMN + 1)
    slots = Slots(COMMON[:4], 4, BlockPool())
    program = Program([], [(0, 0, 0, False)], b"")
    with pytest.raises(ValueError, match="slots of rows"):
        RecordDecoder(program, slots, "coordinator", [], [], key_json=False, value_json=False)
    slots = Slots(COMMON, 5, BlockPool())
    for types in ([(0, 1, 0, 1)], [(0, -2, 0, 1)], [(0, 0, 0, 2)], [(0, 0, 0, 0)], [(0, 0, -1, 1)]):
        with pytest.raises(ValueError, match="message that does not exist"):
            RecordDecoder(program, slots, "metadata", types, [], key_json=False, value_json=False)
    with pytest.raises(ValueError, match="not in tuple"):
        RecordDecoder(program, slots, "other", [], [], key_json=False, value_json=False)


@pytest.mark.parametrize(
    "values",
    [
        (0, None, struct.pack("=2i", 0, 4), b"\0\0\1"),
        (0, None, struct.pack("=2i", 2, 1), b"\0\0\1"),
        (0, None, struct.pack("=2i", -1, 1), b"\0\0\1"),
        (0, None, struct.pack("=i", 0), b"\0\0\1"),
        (-1, None, struct.pack("=2i", 0, 3), b"\0\0\1"),
        (1, None, struct.pack("=2i", 0, 3), b"\0\0\1"),
        (0, b"", struct.pack("=2i", 0, 3), b"\0\0\1"),
        (0, None, struct.pack("=2i", 0, 3), None),
    ],
)
def test_arrays_that_reach_outside_of_their_buffers(values: Any) -> None:
    reader, slots = decoder()
    with pytest.raises(ValueError, match=r"bytes|before its buffers"):
        reader.decode(1, 0, None, values, b"\0", b"\0")
    assert slots.take()[0][0] == 0


@pytest.mark.parametrize(
    ("rows", "start", "control", "redacted"),
    [(1, 2, b"\0", b"\0"), (1, -1, b"\0", b"\0"), (1, 0, b"", b"\0"), (1, 0, b"\0", b""), (-1, 0, b"", b"")],
)
def test_rows_and_flags_that_do_not_fit(rows: int, start: int, control: bytes, redacted: bytes) -> None:
    reader, _ = decoder()
    with pytest.raises(ValueError, match=r"row .* of .* flags"):
        reader.decode(rows, start, None, None, control, redacted)
