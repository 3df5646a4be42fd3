"""What the jobs print: tables, sizes, and one line for an error."""

from __future__ import annotations

import pytest

from kafkalog_source.errors import CorruptBatchError
from spark_jobs.common.errors import one_line, own_kind
from spark_jobs.common.summary import size_text, table_text
from spark_jobs.parquet.summary import _cell


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (5 * 2**50, "5120.0 TiB")],
)
def test_sizes_are_told_in_the_largest_unit_that_fits(size: int, text: str) -> None:
    assert size_text(size) == text


def test_a_table_lines_up_its_columns() -> None:
    text = table_text(("topic", "records"), [("orders", 12345), ("a", 7)])
    assert text.splitlines() == ["topic   records", "orders   12,345", "a             7"]


def test_columns_are_flush_right_where_that_is_said_and_none_is_wider_than_a_screen() -> None:
    text = table_text(("topic", "offset", "key"), [("t" * 100, 12, "k"), ("t", 1, "key")], ("offset",))
    assert text.splitlines() == [
        f"topic{' ' * 59}  offset  key",
        f"{'t' * 100}      12  k",
        f"t{' ' * 63}       1  key",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (7, "7"),
        ("2026\x1b[0m", "2026\\x1b[0m"),
        (b"", '""'),
        (bytearray(b'say "hi"\n'), '"say \\"hi\\"\\n"'),
        ("\N{RIGHT-TO-LEFT OVERRIDE}é".encode(), '"\\u202eé"'),
        (b"\xff", "base64:/w=="),
        (b"\x00\x01", "base64:AAE="),
        (b"x" * 50, f'"{"x" * 38}…'),
    ],
)
def test_values_are_shown_as_text_that_a_terminal_takes(value: object, text: str) -> None:
    assert _cell(value) == text


def test_a_table_without_rows_is_its_heads() -> None:
    assert table_text(("a", "b"), []) == "a  b"


def test_an_error_of_kafkalog_keeps_its_message() -> None:
    error = CorruptBatchError("the CRC is wrong", file="/x/0.log", position=7)
    assert one_line(error) == f"CorruptBatchError: {error}"


@pytest.mark.parametrize(
    ("raised", "line"),
    [
        (
            "kafkalog_source.errors.CodecError: 0.log, position 7: bad block",
            "CodecError: 0.log, position 7: bad block",
        ),
        ("TypeError: no length", "TypeError: no length"),
    ],
)
def test_what_a_worker_raised_is_found_in_the_pages_that_spark_makes_of_it(raised: str, line: str) -> None:
    traceback = f'Traceback (most recent call last):\n  File "x.py", line 1\n    call()\n{raised}\n'
    pages = f"An exception was thrown from the Python worker:\n{traceback}\n\tat org.apache.spark\n{traceback}"
    assert one_line(RuntimeError(pages)) == line


def test_the_error_of_kafkalog_is_found_inside_those_of_spark() -> None:
    """A stream wraps the exception of a worker twice, and its own traceback comes first."""
    own = "kafkalog_source.errors.CorruptBatchError: 0.log, position 7: the batch's checksum is wrong"
    inner = f"Traceback (most recent call last):\n  File y\n{own}\n"
    outer = "Traceback (most recent call last):\n  File x\npyspark.errors.exceptions.PythonException: thrown:\n"
    error = RuntimeError(f"[STREAM_FAILED] Query terminated: {outer}{inner}\n\tat java\n SQLSTATE: XXKST")
    assert one_line(error) == "CorruptBatchError: 0.log, position 7: the batch's checksum is wrong"
    assert own_kind(error) is CorruptBatchError


def test_the_state_of_sql_is_left_out() -> None:
    assert one_line(RuntimeError("[X] no room. SQLSTATE: 38000\nmore")) == "RuntimeError: [X] no room."


def test_any_other_error_is_its_first_line_and_printable() -> None:
    assert one_line(RuntimeError("\nfirst \x1b[31m\nsecond")) == "RuntimeError: first \\x1b[31m"
    assert one_line(RuntimeError()) == "RuntimeError: no message"


def test_what_java_said_is_told_and_not_the_name_of_the_call() -> None:
    text = "An error occurred while calling o247.load.\n: org.apache.spark.SparkException: no room\n\tat x"
    assert one_line(RuntimeError(text)) == "org.apache.spark.SparkException: no room"
