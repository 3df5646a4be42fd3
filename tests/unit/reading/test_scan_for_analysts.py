"""What a scan offers at a prompt: its repr, counts, first rows, conversions, and decoded keys and values."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import kafkalog_source
from kafkalog_source.errors import CorruptBatchError, DamageWarning, DecodeWarning, OptionError
from kafkalog_source.reading import scan as scan_module
from tests.builders import Batch, Message, Record, Wrapper, encode, partition_dir, write_segment

STRUCT = pa.struct([("id", pa.int64()), ("name", pa.string())])


def log_of(root: Path, values: Sequence[bytes | None], topic: str = "orders") -> Path:
    write_segment(partition_dir(root, topic, 0), [Batch([Record(value, value) for value in values])])
    return root


def decoded(root: Path, how: Any, **options: Any) -> tuple[list[Any], list[str]]:
    found = kafkalog_source.scan(root, columns=["value"], decode={"value": how}, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = found.to_table()["value"].to_pylist()
    texts = [str(each.message) for each in caught]
    assert found.report()["warnings"] == texts
    return values, texts


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """orders-0 with offsets 0 to 9 in two segments, and 12 partitions of payments with a record each."""
    for base in (0, 5):
        write_segment(partition_dir(tmp_path, "orders", 0), [Batch([Record()] * 5, base_offset=base)], base_offset=base)
    for partition in range(12):
        write_segment(partition_dir(tmp_path, "payments", partition), [Batch()])
    return tmp_path


def test_the_repr_says_what_is_there(logs: Path) -> None:
    lines = repr(kafkalog_source.scan(logs, columns=["topic", "offset"])).splitlines()
    assert lines[0] == f"kafkalog scan of {logs}, view=records"
    assert lines[1].startswith("2 topics, 13 partitions, 14 segments, ")
    assert lines[2].split() == ["topic", "partition", "segments", "size", "offsets"]
    assert lines[3].split()[:3] + lines[3].split()[-1:] == ["orders", "0", "2", "0..10"]
    assert lines[-2:] == ["  … and 3 more partitions", "columns: topic, offset"]
    assert len(lines) == 3 + 10 + 2


def test_the_repr_reads_no_records_and_raises_nothing(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a plan")

    monkeypatch.setattr(scan_module, "plan_read", fail)
    assert "13 partitions" in repr(kafkalog_source.scan(logs))
    (logs / "orders-0" / "00000000000000000005.log").write_bytes(b"no segment" * 10)
    assert "0..5" in repr(kafkalog_source.scan(logs))
    assert "cannot be read: " in repr(kafkalog_source.scan(logs / "none"))
    assert "1 topic, 1 partition, 2 segments" in repr(kafkalog_source.scan(logs, subscribe="orders", view="segments"))


@pytest.mark.parametrize("n", [0, 1, 5, 7, 100])
def test_head_gives_the_first_rows(logs: Path, n: int) -> None:
    found = kafkalog_source.scan(logs)
    assert found.head(n).equals(found.to_table().slice(0, n))


def test_head_reads_little(logs: Path) -> None:
    found = kafkalog_source.scan(logs)
    found.head()
    assert found.report()["segments"] == 14
    assert found.report()["bytes_read"] < found.report()["bytes_total"] / 2


MESSAGES = [Message(b"k", b"v"), Message(b"k", b"w", offset=1)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"includeControlRecords": True},
        {"startingOffsets": {"orders": {0: 3}}, "subscribe": "orders"},
        {"endingOffsets": {"orders": {0: 3}}, "subscribe": "orders"},
        {"isolationLevel": "read_committed"},
        {"mode": "PERMISSIVE"},
        {"maxRecordsPerPartition": 2},
        {"view": "batches"},
        {"view": "segments"},
        {"subscribe": "none-at-all", "failOnDataLoss": False},
    ],
)
def test_a_count_is_that_of_the_rows(logs: Path, options: dict[str, Any]) -> None:
    directory = partition_dir(logs, "orders", 0)
    control = [Batch([Record(b"\0\0\0\1", b"\0" * 6)], base_offset=10, control=True, transactional=True)]
    write_segment(directory, control, base_offset=10)
    found = kafkalog_source.scan(logs, **options)
    assert found.count() == len(found) == found.to_table().num_rows
    assert bool(found) is True


@pytest.mark.parametrize("entries", [MESSAGES, [Wrapper(MESSAGES)]], ids=["plain", "wrapped"])
def test_a_count_of_old_formats(tmp_path: Path, entries: Any) -> None:
    write_segment(partition_dir(tmp_path), entries)
    found = kafkalog_source.scan(tmp_path)
    assert found.count() == found.to_table().num_rows == 2


def test_a_count_below_the_log_start(logs: Path) -> None:
    (logs / "log-start-offset-checkpoint").write_text("0\n1\norders 0 3\n")
    assert kafkalog_source.scan(logs, subscribe="orders").count() == 7
    assert kafkalog_source.scan(logs, subscribe="orders", includeDeleted=True).count() == 10


def test_a_count_reads_headers_only(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path), [Batch([Record(value=bytes(1 << 20))])])
    found = kafkalog_source.scan(tmp_path)
    data = bytearray(encode([Batch([Record(value=bytes(1 << 20))])]))
    data[-5] ^= 1
    write_segment(partition_dir(tmp_path), bytes(data))
    assert found.count() == 1
    with pytest.raises(CorruptBatchError):
        found.to_table()
    with pytest.warns(DamageWarning):
        assert kafkalog_source.scan(tmp_path, mode="DROPMALFORMED").count() == 0


def test_conversions(logs: Path) -> None:
    found = kafkalog_source.scan(logs, columns=["topic", "offset"])
    table = found.to_table()
    assert found.to_pandas().equals(table.to_pandas())
    assert found.to_polars().to_arrow().cast(table.schema).equals(table)
    for relation in (found.to_duckdb(), found.to_duckdb(duckdb.connect())):
        # It reads again each time.
        for _ in range(2):
            assert relation.aggregate('count(*), max("offset")').fetchall() == [(22, 9)]


@pytest.mark.parametrize("name", ["pandas", "polars", "duckdb"])
def test_what_is_not_installed_is_named(logs: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    convert: Callable[[], object] = getattr(kafkalog_source.scan(logs), f"to_{name}")
    with pytest.raises(ImportError, match=rf"to_{name}\(\) needs {name}, which is not installed: pip install {name}"):
        convert()


def test_text(tmp_path: Path) -> None:
    values, texts = decoded(log_of(tmp_path, [b"a", None, b"", "ж".encode(), b"\xff"]), "text")
    assert values == ["a", None, "", "ж", None]
    assert texts == ["1 value of the column value is not UTF-8, and so null"]


def test_json_has_the_types_of_the_first_values(tmp_path: Path) -> None:
    objects = [{"id": 1, "name": "a", "x": None, "tags": ["q"]}, {"id": 2, "name": None, "y": 1.5}, None, {"y": 2}]
    values = [json.dumps(each).encode() for each in objects] + [None]
    found = kafkalog_source.scan(log_of(tmp_path, values), decode={"key": "text", "value": "json"})
    assert found.schema.field("value").type == pa.struct(
        [
            ("id", pa.int64()),
            ("name", pa.string()),
            ("x", pa.string()),
            ("tags", pa.list_(pa.string())),
            ("y", pa.float64()),
        ]
    )
    table = found.to_table()
    assert table.schema == found.schema
    assert table["key"].to_pylist()[:2] == [value.decode() for value in values[:2] if value]
    names = ["id", "name", "x", "tags", "y"]
    assert table["value"].to_pylist() == [
        None if each is None else {name: each.get(name) for name in names} for each in [*objects, None]
    ]


MISFITS = [b"", b"no", b'{"id": "x"}', b'{"id": 1.5}', b'{"id": 18446744073709551616}', b"[1]", b"5", b'{"id"', b'"']
MISFITS += [b'{"name": "\xff"}', b'{"id": 1, "id": 2}', b'{"id": 1}} {"v": {"id": 2}', b'{"id": 1} {"v": {"id": 2}']
MISFITS += [b"[" * 5000]


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_value_that_does_not_fit_is_null_and_the_others_are_not(tmp_path: Path, misfit: bytes) -> None:
    good = [b'{"id": %d, "name": "n"}' % number for number in range(9)]
    values, texts = decoded(log_of(tmp_path, [*good[:4], misfit, *good[4:]]), STRUCT)
    wanted: list[Any] = [{"id": number, "name": "n"} for number in range(9)]
    assert values == [*wanted[:4], None, *wanted[4:]]
    assert texts == ["1 value of the column value is not JSON of its type, and so null"]


def test_fields_that_the_type_lacks_are_told(tmp_path: Path) -> None:
    values, texts = decoded(log_of(tmp_path, [b'{"id": 1}', b'{"id": 2, "more": {"a": [1]}}', b"x"]), STRUCT)
    assert values == [{"id": 1, "name": None}, {"id": 2, "name": None}, None]
    assert len(texts) == 2
    assert "fields that its type lacks" in texts[1]


def test_several_lines_in_a_value(tmp_path: Path) -> None:
    assert decoded(log_of(tmp_path, [b'{"id":\n 1,\r\n"name": null}\n']), STRUCT) == ([{"id": 1, "name": None}], [])


def test_types_are_found_in_every_partition(tmp_path: Path) -> None:
    log_of(tmp_path, [b'{"id": 1}'], "a")
    log_of(tmp_path, [b'{"name": "n"}'], "b")
    assert decoded(tmp_path, "json", threads=2)[0] == [{"id": 1, "name": None}, {"id": None, "name": "n"}]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([b'{"a": {"b": 1}}', b'{"a": {"b": "x"}}'], "a field in them, have no common type .found integer and text"),
        ([b"1", b"true"], "have no common type .found boolean and integer"),
        ([b"x", None], "no value of the column value among the first ones is JSON"),
    ],
)
def test_json_without_a_common_type(tmp_path: Path, values: list[bytes | None], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        decoded(log_of(tmp_path, values), "json")


@pytest.mark.parametrize(
    ("decode", "words"),
    [
        ({"value": "jsn"}, "decode of the column value is unknown .found jsn"),
        ({"valeu": "json"}, "Did you mean value"),
        ({"offset": "text"}, "not a selected column of bytes"),
    ],
)
def test_what_cannot_be_decoded(tmp_path: Path, decode: dict[str, str], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        kafkalog_source.scan(tmp_path, decode=decode)


def test_decoded_rows_go_everywhere(tmp_path: Path) -> None:
    found = kafkalog_source.scan(log_of(tmp_path, [b'{"id": 1}', b'{"id": 2}']), decode={"value": "json"})
    assert found.to_duckdb().aggregate("sum(value.id)").fetchall() == [(3,)]
    assert found.to_polars()["value"].struct.field("id").to_list() == [1, 2]
    assert found.head(1)["value"].to_pylist() == [{"id": 1}]
    assert found.count() == 2


def test_the_warning_has_a_class_of_its_own(tmp_path: Path) -> None:
    with pytest.warns(DecodeWarning):
        kafkalog_source.scan(log_of(tmp_path, [b"\xff"]), decode={"value": "text"}).to_table()


@pytest.mark.parametrize(
    ("decode", "query"),
    [
        (None, "SELECT decode(value)::JSON->>'$.id' FROM orders"),
        ("text", "SELECT TRY_CAST(value AS JSON)->>'$.id' FROM orders"),
        ("json", "SELECT value.id::VARCHAR FROM orders"),
    ],
)
def test_the_queries_of_the_page(tmp_path: Path, decode: str | None, query: str) -> None:
    root = log_of(tmp_path, [b'{"id": 1, "name": "a\\"b"}', b'{"id": 2}', None])
    orders = kafkalog_source.scan(root, decode={"value": decode} if decode else None)
    assert duckdb.sql(query).fetchall() == [("1",), ("2",), (None,)]
    assert orders.count() == 3
    page = Path(__file__).parents[3] / "docs" / "scan.md"
    assert query.replace("::VARCHAR", "" if decode == "json" else "::VARCHAR") in page.read_text()


def test_a_split_is_decoded_as_the_scan_is(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path, "orders", 0), [Batch([Record(b"k", b'{"n": 1}')])])
    whole = kafkalog_source.scan(tmp_path, columns=["key", "value"], decode={"key": "text", "value": "json"})
    rows = [row for split in whole.splits() for batch in whole.read_split(split) for row in batch.to_pylist()]
    assert rows == whole.to_table().to_pylist() == [{"key": "k", "value": {"n": 1}}]
