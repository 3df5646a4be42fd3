from __future__ import annotations

import struct
from typing import Any

import pytest

from kafkalog_source._core.lines import Lines


def _one(kind: str, null: bytes | None = b"null") -> Lines:
    return Lines([(kind, b"", True, null)], b"", b"", b"\n")


def _offsets(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}i", *numbers)


def _headers(offsets: bytes, names: tuple[Any, ...], values: tuple[Any, ...], structs: int = 1) -> tuple[Any, ...]:
    return 1, 0, (None, offsets), ((structs, 0, (None,)), names, values)


NAME = (1, 0, (None, _offsets(0, 1), b"n"))
VALUE = (1, 0, (None, _offsets(0, 1), b"v"))


@pytest.mark.parametrize(
    ("kind", "array", "written"),
    [
        ("int32", (2, 0, (None, struct.pack("<2i", 5, -(2**31)))), b"5\n-2147483648\n"),
        (
            "int64",
            (2, 0, (None, struct.pack("<2q", 2**63 - 1, -(2**63)))),
            b"9223372036854775807\n-9223372036854775808\n",
        ),
        ("int32", (2, 1, (b"\x04", struct.pack("<3i", 5, 6, 7))), b"null\n7\n"),
        ("boolean", (2, 0, (None, b"\x02")), b"false\ntrue\n"),
        ("milliseconds", (2, 0, (None, struct.pack("<2q", 1_999, -1))), b"1\n-1\n"),
        ("timestamp_type", (2, 0, (None, struct.pack("<2i", 0, 9))), b"CreateTime\n9\n"),
        ("raw", (2, 1, (None, _offsets(9, 0, 2, 2), b"\xff\n")), b"\xff\n\n\n"),
        ("headers", _headers(_offsets(0, 1), NAME, VALUE), b'[n="v"]\n'),
        ("json_headers", _headers(_offsets(0, 1), NAME, VALUE), b'[{"key": "n", "value": "v"}]\n'),
        ("csv_headers", _headers(_offsets(0, 1), NAME, VALUE), b"n=v\n"),
        ("csv_headers", _headers(_offsets(0, 1), NAME, (1, 0, (b"\0", _offsets(0, 0), None))), b"n=NULL\n"),
    ],
)
def test_values_of_each_kind(kind: str, array: tuple[Any, ...], written: bytes) -> None:
    assert _one(kind).write([array], 0, array[0]) == written


@pytest.mark.parametrize(
    ("kind", "array"),
    [
        ("int32", (2, 0, (None, bytes(7)))),
        ("int64", (1, 1, (None, bytes(15)))),
        ("boolean", (9, 0, (None, bytes(1)))),
        ("int32", (9, 0, (bytes(1), bytes(36)))),
        ("int32", (-1, 0, (None, b""))),
        ("int32", (1, -1, (None, bytes(8)))),
        ("int32", (1, 2**60, (None, bytes(8)))),
        ("int32", (0, 0, (None, b""))),
        ("int32", (1, 0, (None, None))),
        ("raw", (1, 0, (None, None, b"x"))),
        ("raw", (1, 0, (None, _offsets(0), b"x"))),
        ("raw", (1, 0, (None, _offsets(0, 2), b"x"))),
        ("raw", (1, 0, (None, _offsets(-1, 1), b"x"))),
        ("raw", (1, 0, (None, _offsets(1, 0), b"x"))),
        ("raw", (1, 0, (None, _offsets(0, 1), None))),
        ("printable", (1, 0, (None, _offsets(0, 1), b"\xff"))),
        ("quoted", (1, 0, (None, _offsets(0, 1), b"\xff"))),
        ("headers", _headers(_offsets(0), NAME, VALUE)),
        ("headers", _headers(_offsets(0, 2), NAME, VALUE)),
        ("headers", _headers(_offsets(-1, 1), NAME, VALUE)),
        ("headers", _headers(_offsets(0, 2), NAME, VALUE, structs=2)),
        ("headers", _headers(_offsets(0, 1), (1, 0, (None, _offsets(0, 9), b"n")), VALUE)),
        ("headers", _headers(_offsets(0, 1), (1, 0, (None, _offsets(0, 1), b"\xff")), VALUE)),
        ("csv_headers", _headers(_offsets(0, 1), NAME, (1, 0, (None, _offsets(0, 9), b"n")))),
    ],
)
def test_buffers_that_do_not_fit_are_an_error(kind: str, array: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"rows|values|offset|UTF-8|headers"):
        _one(kind).write([array], 0, 1)


@pytest.mark.parametrize(("start", "stop"), [(-1, 1), (0, 3), (2, 1)])
def test_rows_outside_the_array_are_an_error(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match="rows"):
        _one("int32").write([(2, 0, (None, bytes(8)))], start, stop)


def test_a_cell_for_each_array() -> None:
    with pytest.raises(ValueError, match="0 arrays for 1 cells"):
        _one("int32").write([], 0, 0)
    with pytest.raises(ValueError, match="not in tuple"):
        _one("nonsense")


def test_a_cell_that_omits_nulls_has_no_separator_either() -> None:
    cells = [("int32", b"a=", True, None), ("int32", b"b=", True, b"null"), ("literal", b"!", False, b"")]
    lines = Lines(cells, b"<", b" ", b">\n")
    one, none = (1, 0, (None, struct.pack("<i", 1))), (1, 0, (b"\0", bytes(4)))
    assert lines.write([one, none, ()], 0, 1) == b"<a=1 b=null!>\n"
    assert lines.write([none, one, ()], 0, 1) == b"<b=1!>\n"


def test_lines_use_their_memory_again() -> None:
    lines = _one("bytes")
    large, small = ((1, 0, (None, _offsets(0, size), b"x" * size)) for size in (100_000, 1))
    assert [len(lines.write([array], 0, 1)) for array in (large, small, large)] == [100_003, 4, 100_003]
