from __future__ import annotations

import json

import pyarrow as pa
import pytest

from kafkalog_source.cli.cells import column_values, iso_utc, json_value, text_value
from kafkalog_source.cli.text import json_line, one_line, quoted, table


@pytest.mark.parametrize(
    ("milliseconds", "expected"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (253_402_300_800_000, "+10000-01-01T00:00:00.000Z"),
        (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
    ],
)
def test_times_of_any_year(milliseconds: int, expected: str) -> None:
    assert iso_utc(milliseconds * 1000) == expected


def test_the_ends_of_the_range_of_arrow() -> None:
    assert iso_utc(2**63 - 1) == "+294247-01-10T04:00:54.775807Z"
    assert iso_utc(-(2**63)) == "-290308-12-21T19:59:05.224192Z"


def test_times_in_a_column() -> None:
    column = pa.array([0, None, 2**62], pa.timestamp("us", tz="UTC"))
    assert column_values(column) == ["1970-01-01T00:00:00.000Z", None, iso_utc(2**62)]


@pytest.mark.parametrize(
    ("value", "as_text", "as_json"),
    [
        (None, "null", None),
        (b"", '""', ""),
        (b"plain", '"plain"', "plain"),
        ("käse ✓".encode(), '"käse ✓"', "käse ✓"),
        (b'a"b\\c', r'"a\"b\\c"', 'a"b\\c'),
        (b"two\nlines\t", r'"two\nlines\t"', "two\nlines\t"),
        (b"\xff\x00", "base64:/wA=", {"base64": "/wA="}),
        (b"\x1b[31m", "base64:G1szMW0=", {"base64": "G1szMW0="}),
        (7, "7", 7),
        (True, "true", True),
        ([], "[]", []),
        (
            [{"key": "a", "value": b"1"}, {"key": "b c", "value": None}],
            '[a="1", "b c"=null]',
            [{"key": "a", "value": "1"}, {"key": "b c", "value": None}],
        ),
    ],
)
def test_values_as_text_and_as_json(value: object, as_text: str, as_json: object) -> None:
    assert text_value(value) == as_text
    assert json_value(value) == as_json


@pytest.mark.parametrize("text", ["\x1b[2J", "\x7f", "\x9b1m", "\u202eabc", "\U000e0001", "a\nb", "\ud800"])
def test_nothing_reaches_a_terminal_that_it_would_act_upon(text: str) -> None:
    for written in (
        quoted(text),
        json_line({"x": text}),
        one_line(text),
        text_value([{"key": text, "value": b""}]),
    ):
        assert written.isprintable()
    assert json.loads(quoted(text)) == text


def test_a_table_is_as_wide_as_its_widest_cells() -> None:
    assert list(table(["NAME", "N"], [["a", 5], ["long name", 1234]], frozenset({"N"}))) == [
        "NAME          N",
        "a             5",
        "long name  1234",
    ]


def test_one_long_name_does_not_widen_all_rows() -> None:
    lines = list(table(["NAME", "N"], [["a", 5], ["n" * 249, 6]], frozenset({"N"})))
    assert [len(line) for line in lines] == [67, 67, 252]


def test_structs_are_json_in_text() -> None:
    partitions = [{"topic": "a\x1b", "partitions": [0, 1]}, {"topic": None, "partitions": None}]
    shown = '[{"topic": "a\\u001b", "partitions": [0, 1]}, {"topic": null, "partitions": null}]'
    assert text_value(partitions) == shown
