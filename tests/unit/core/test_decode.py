"""The decoder by itself: what it appends, where it stops, and that a wrong entry leaves no trace."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from kafkalog_source._core.codes import NAMES
from kafkalog_source._core.memory import BlockPool, Scratch
from kafkalog_source._core.walk import Entries
from kafkalog_source.arrow.batches import ArrowBatches
from kafkalog_source.batch import DecodeSettings, make_decoder
from kafkalog_source.codecs import DEFAULT_LIMIT, Decompressor
from kafkalog_source.errors import CodecError
from tests.builders import Batch, Header, Message, Record, Wrapper, encode
from tests.builders.disk import Entry

MAX = 2**63 - 1
COLUMNS = ["offset", "key", "value", "headers", "timestamp", "sequence", "producerId", "keySize", "controlType"]


def decode(
    content: list[Entry],
    *,
    low: int = 0,
    high: int = MAX,
    errors: bool = False,
    limit: int = DEFAULT_LIMIT,
    **targets: Any,
) -> tuple[list[int], list[str], list[pa.RecordBatch]]:
    """Offsets of the rows, what was wrong, and the Arrow batches; with `errors` those of codecs are problems too."""
    batches = ArrowBatches(COLUMNS, BlockPool(), **targets)
    found: list[pa.RecordBatch] = []
    problems = decode_into(batches, content, found, low=low, high=high, errors=errors, limit=limit)
    last = batches.finish()
    if last is not None:
        found.append(last)
    for rows in found:
        rows.validate(full=True)
    return [offset for rows in found for offset in rows["offset"].to_pylist()], problems, found


def decode_into(
    batches: ArrowBatches,
    content: list[Entry],
    found: list[pa.RecordBatch] | None = None,
    *,
    low: int = 0,
    high: int = MAX,
    errors: bool = False,
    limit: int = DEFAULT_LIMIT,
) -> list[str]:
    """Decode `content` as one window; what is full goes to `found`, and what is wrong is returned."""
    data = encode(content)
    window = Scratch()
    window.reserve(len(data))
    with window.view(0, len(data)) as room:
        room[:] = data
    entries = Entries()
    entries.walk(window, len(data))
    decoder = make_decoder(batches.columns, Decompressor(limit), DecodeSettings(include_control=True), low, high)
    decoder.start()
    problems: list[str] = []
    while True:
        try:
            name = NAMES[decoder.decode(window, 0, entries)]
        except CodecError as error:
            if not errors:
                raise
            name = str(error)
        if name == "end":
            return problems
        if name == "full":
            rows = batches.finish()
            assert found is not None
            assert rows is not None
            found.append(rows)
        else:
            problems.append(name)
            decoder.skip()


GOOD = [Record(None, b"v", [Header(b"a", None)]), Record(b"k", None), Record(b"", b"", [Header()] * 3)]


@pytest.mark.parametrize("codec", ["none", "lz4"])
@pytest.mark.parametrize(
    "lie",
    [
        {"key_length": 99},
        {"value_length": 99},
        {"header_count": 99},
        {"headers": [Header(name_length=99)]},
        {"headers": [Header(), Header(value_length=99)]},
        {"length": 1},
        {"extra": b"x"},
        {"offset_delta": 0},
    ],
)
def test_a_wrong_record_takes_its_whole_batch_along_and_leaves_no_trace(codec: str, lie: dict[str, Any]) -> None:
    """Half of its row was in the columns already, with null bits and headers."""
    bad = Batch(
        [*GOOD, Record(None, None, **lie)] if "headers" in lie else [*GOOD, Record(**lie)], base_offset=3, codec=codec
    )
    first, last = Batch(GOOD, codec=codec), Batch(GOOD, base_offset=10, codec=codec)
    offsets, problems, found = decode([first, bad, last])
    assert offsets == [0, 1, 2, 10, 11, 12]
    assert len(problems) == 1
    _, _, wanted = decode([first, last])
    assert found[0].equals(wanted[0])


@pytest.mark.parametrize("byte_target", [1, 50, 200, 1 << 20])
@pytest.mark.parametrize("row_target", [1, 2, 7, 1 << 15])
def test_rows_do_not_depend_on_how_full_a_batch_may_be(byte_target: int, row_target: int) -> None:
    content: list[Entry] = [
        Batch(GOOD, codec="zstd", producer_id=5, base_sequence=2**31 - 2),
        Message(offset=3, magic=0),
        Wrapper([Message(None, b"x" * 60, offset=4 + i) for i in range(5)]),
        Batch([Record(value=b"y" * 40) for _ in range(9)], base_offset=9),
        Batch([], base_offset=18),
        Batch([Record(b"\0\0\0\1", b"")], base_offset=19, control=True),
    ]
    _, _, (wanted,) = decode(content)
    offsets, problems, found = decode(content, byte_target=byte_target, row_target=row_target)
    assert problems == []
    assert offsets == [*range(18), 19]
    assert pa.Table.from_batches(found).to_pylist() == wanted.to_pylist()


@pytest.mark.parametrize("low", range(8))
@pytest.mark.parametrize("high", range(8))
def test_only_records_in_the_range_are_appended(low: int, high: int) -> None:
    content: list[Entry] = [
        Batch(GOOD),
        Wrapper([Message(offset=3), Message(offset=4)]),
        Message(offset=5),
        Batch(base_offset=6),
    ]
    assert decode(content, low=low, high=high)[0] == list(range(low, min(high, 7)))


def test_what_lies_outside_the_range_is_not_opened() -> None:
    bad = Batch([Record(key_length=99)])
    assert decode([bad, Batch(base_offset=5)], low=5)[:2] == ([5], [])


def test_a_batch_without_records_is_no_row() -> None:
    assert decode([Batch([]), Batch([], base_offset=1, codec="gzip", payload=b"")])[:2] == ([], [])
