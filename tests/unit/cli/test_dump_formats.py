"""`dump -f` and its filters."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import Batch, Header, Message, Record, Wrapper, partition_dir, write_segment
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]
TIME = 1_700_000_000_123


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    records = [
        Record(b"k1", b"one", headers=(Header(b"id", b"1"), Header(b"none", None))),
        Record(None, None),
        Record(b"", b"\xff\x00two", headers=(Header(b"id", b""),)),
        Record(b"caf\xc3\xa9", b"re:three", headers=(Header(b"id", b"2"), Header(b"id", b"1"))),
    ]
    directory = partition_dir(tmp_path, "orders", 3)
    write_segment(directory, [Batch(records, base_timestamp=TIME)])
    return directory


def _dumped(path: Path, *arguments: str) -> bytes:
    command = [sys.executable, "-m", "kafkalog_source.cli", "dump", str(path), *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


def test_letters(orders: Path) -> None:
    assert _dumped(orders, "-f", "%t %p %o %T %K %S|%k|%s|%h%%\\x21\\t\\\\\\n") == (
        b"orders 3 0 %d 2 3|k1|one|id=1,none=NULL%%!\t\\\n" % TIME
        + b"orders 3 1 %d -1 -1|||%%!\t\\\n" % TIME
        + b"orders 3 2 %d 0 5||\xff\x00two|id=%%!\t\\\n" % TIME
        + b"orders 3 3 %d 5 8|caf\xc3\xa9|re:three|id=2,id=1%%!\t\\\n" % TIME
    )


@pytest.mark.parametrize(
    ("pattern", "written"), [("", b""), ("x", b"xxxx"), ("é\n", "é\n".encode() * 4), ("%k", b"k1caf\xc3\xa9")]
)
def test_nothing_is_added(orders: Path, pattern: str, written: bytes) -> None:
    assert _dumped(orders, "-f", pattern) == written


def test_no_timestamp_is_minus_one(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path, "old", 0), [Wrapper([Message(offset=5, magic=0)], magic=0)], base_offset=5)
    assert _dumped(tmp_path, "-f", "%T %S\\n") == b"-1 5\n"


@pytest.mark.parametrize(
    ("flags", "offsets"),
    [
        (["--key", "k1"], [0]),
        (["--key", ""], [2]),
        (["--key", "k"], []),
        (["--key", "café"], [3]),
        (["--key", "hex:6b31"], [0]),
        (["--key", "base64:azE="], [0]),
        (["--value", "text:re:three"], [3]),
        (["--value", "re:t(wo|hree)$"], [2, 3]),
        (["--value", r"re:^\xff\x00"], [2]),
        (["--value", "base64:/wB0d28="], [2]),
        (["--header", "id=1"], [0, 3]),
        (["--header", "id="], [2]),
        (["--header", "id"], [0, 2, 3]),
        (["--header", "none"], [0]),
        (["--header", "none="], []),
        (["--header", "id=re:[0-9]"], [0, 3]),
        (["--header", "id=1", "--header", "id=2"], [3]),
        (["--header", "id=1", "--key", "k1"], [0]),
        (["--grep", "ONE"], []),
        (["--grep", "(?i)ONE"], [0]),
        (["--grep", "^none$"], [0]),
        (["--grep", "^2$"], [3]),
        (["--grep", "é$"], [3]),
        (["--grep", "."], [0, 2, 3]),
        (["--grep", ".", "--limit", "2"], [0, 2]),
    ],
)
def test_filters(kafkalog: Kafkalog, orders: Path, flags: list[str], offsets: list[int]) -> None:
    run = kafkalog("dump", orders, "--columns", "offset", *flags)
    assert (run.status, run.err) == (0, "")
    assert run.out == "".join(f"offset={offset}\n" for offset in offsets)


def test_filters_of_columns_that_are_printed_too(kafkalog: Kafkalog, orders: Path) -> None:
    run = kafkalog("dump", orders, "--columns", "key,offset", "--key", "k1", "--value", "one", "--json")
    assert run.out == '{"key": "k1", "offset": 0}\n'
    assert kafkalog("dump", orders, "--header", "id=2", "-f", "%o %k\\n").out == "3 café\n"


def test_filters_leave_damage(kafkalog: Kafkalog, orders: Path) -> None:
    (segment,) = orders.glob("*.log")
    segment.write_bytes(segment.read_bytes() * 2)
    flags = ["--mode", "PERMISSIVE", "--columns", "offset,_corrupt_record"]
    lines = kafkalog("dump", orders, *flags, "--key", "k1").out.splitlines()
    assert lines[0] == "offset=0"
    assert len(lines) == 2
    assert lines[1].startswith("offset=0 _corrupt_record=")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["-f", "%q"], "%q"),
        (["-f", "50%"], "found %"),
        (["-f", r"\x4"], r"found \x"),
        (["-f", "\\"], "a letter without a meaning"),
        (["-f", "%s", "--json"], "--json"),
        (["-f", "%s", "--columns", "offset"], "--columns"),
        (["-f", "%s", "--view", "batches"], "--view batches"),
        (["-f", "%s", "--mode", "PERMISSIVE"], "mode=DROPMALFORMED"),
        (["--grep", "x", "--view", "damage"], "--view damage"),
        (["--grep", "("], "--grep is not a regular expression: missing )"),
        (["--key", "re:*"], "--key is not a regular expression"),
        (["--key", "hex:0"], "--key is not hexadecimal"),
        (["--header", "a=base64:!"], "--header is not base64"),
    ],
)
def test_what_makes_no_sense_is_one_line(kafkalog: Kafkalog, orders: Path, flags: list[str], said: str) -> None:
    run = kafkalog("dump", orders, *flags)
    assert (run.status, run.out) == (2, "")
    assert said in run.err
    assert len(run.err.splitlines()) == 1


def test_lines_in_the_encoding_of_the_terminal(orders: Path) -> None:
    command = [sys.executable, "-m", "kafkalog_source.cli", "dump", str(orders), "--key", "café", "--columns", "key"]
    environment = {"PYTHONIOENCODING": "ascii", "PATH": ""}
    assert subprocess.run(command, check=True, capture_output=True, env=environment).stdout == b'key="caf\\xe9"\n'
