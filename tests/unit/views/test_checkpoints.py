"""``view=checkpoints``: every line and property of the small files of a broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import KafkaLogError, LogDirError
from kafkalog_source.logdir.properties import parse_properties
from tests.builders import Batch, Record, write_segment
from tests.builders.index_files import TOPIC_ID, write_partition

SHOWN = ("topic", "partition", "checkpoint", "version", "leaderEpoch", "offset", "name", "value")


def rows(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    found = kafkalog_source.scan(path, view="checkpoints", columns=SHOWN, **options).to_table()
    return [tuple(row.values()) for row in found.to_pylist()]


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    """Give a log dir with two partitions."""
    for topic in ("orders", "__consumer_offsets"):
        write_segment(write_partition(tmp_path, topic), [Batch([Record()])])
    return tmp_path


def test_lines_about_partitions(log_dir: Path) -> None:
    (log_dir / "replication-offset-checkpoint").write_text("0\n2\norders 0 7\n__consumer_offsets 0 9\n")
    shown = [row for row in rows(log_dir) if row[2] == "replication-offset-checkpoint"]
    assert shown == [("orders", 0, "replication-offset-checkpoint", 0, None, 7, None, None)]
    chosen = [row for row in rows(log_dir, subscribePattern=".*") if row[2] == "replication-offset-checkpoint"]
    assert sorted(row[0] for row in chosen) == ["__consumer_offsets", "orders"]


def test_files_of_a_partition(log_dir: Path) -> None:
    found = rows(log_dir / "orders-0")
    assert found == [
        ("orders", 0, "leader-epoch-checkpoint", 0, 0, 0, None, None),
        ("orders", 0, "partition.metadata", 0, None, None, "version", "0"),
        ("orders", 0, "partition.metadata", 0, None, None, "topic_id", TOPIC_ID),
    ]


def test_properties_of_a_log_dir_are_always_shown(log_dir: Path) -> None:
    (log_dir / "meta.properties").write_text("#comment\nnode.id=1\nversion=1\ncluster.id=a\\:b\\u0063\n")
    found = [row[2:] for row in rows(log_dir, subscribe="orders") if row[2] == "meta.properties"]
    assert found == [
        ("meta.properties", 1, None, None, "node.id", "1"),
        ("meta.properties", 1, None, None, "version", "1"),
        ("meta.properties", 1, None, None, "cluster.id", "a:bc"),
    ]


def test_json_files(log_dir: Path) -> None:
    (log_dir / "orders-0" / "quorum-state").write_text('{"leaderId":1,"voters":[1,2],"data_version":0}')
    (log_dir / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":-1}')
    found = {row[6]: (row[0], row[2], row[3], row[7]) for row in rows(log_dir) if row[6]}
    assert found["voters"] == ("orders", "quorum-state", 0, "[1, 2]")
    assert found["data_version"] == ("orders", "quorum-state", 0, "0")
    assert found["brokerEpoch"] == (None, ".kafka_cleanshutdown", 0, "-1")


def test_a_clean_shutdown_without_content_is_a_row(log_dir: Path) -> None:
    (log_dir / ".kafka_cleanshutdown").write_text("")
    assert (None, None, ".kafka_cleanshutdown", None, None, None, None, None) in rows(log_dir)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log-start-offset-checkpoint", "0\n2\norders 0 1\n"),
        ("recovery-point-offset-checkpoint", "0\n1\norders zero 1\n"),
        (".kafka_cleanshutdown", "{"),
        (".kafka_cleanshutdown", "[1]"),
    ],
)
def test_damage(log_dir: Path, name: str, content: str) -> None:
    (log_dir / name).write_text(content)
    with pytest.raises(LogDirError) as caught:
        rows(log_dir)
    assert caught.value.file == str(log_dir / name)
    assert not [row for row in rows(log_dir, mode="DROPMALFORMED") if row[2] == name]
    shown = kafkalog_source.scan(log_dir, view="checkpoints", mode="PERMISSIVE").to_table().to_pylist()
    (bad,) = [row for row in shown if row["_corrupt_record"]]
    assert (bad["file"], bad["checkpoint"]) == (str(log_dir / name), None)
    assert json.loads(bad["_corrupt_record"])["file"] == str(log_dir / name)


def test_text_that_is_no_unicode_harms_nothing(log_dir: Path) -> None:
    (log_dir / "meta.properties").write_bytes(b"a=\xff\\uD800\nversion=99999999999\n")
    (log_dir / ".kafka_cleanshutdown").write_text('{"version": 1e999, "x": "\\ud800"}')
    found = {row[6]: (row[3], row[7]) for row in rows(log_dir) if row[6]}
    assert found["a"] == (None, "ÿ?")
    assert found["x"] == (None, "?")


@pytest.mark.parametrize("name", ["meta.properties", ".kafka_cleanshutdown", "log-start-offset-checkpoint"])
def test_any_byte_is_rows_or_an_error(log_dir: Path, name: str) -> None:
    content = b'0\n1\norders 0 5\n{"a":\\u00:=#'
    for at in range(len(content)):
        for byte in (0, 10, 34, 92, 128, 255):
            (log_dir / name).write_bytes(content[:at] + bytes([byte]) + content[at + 1 :])
            try:
                rows(log_dir)
            except KafkaLogError as error:
                assert error.file == str(log_dir / name)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"a=1\r\nb: 2\nc 3\n", {"a": "1", "b": "2", "c": "3"}),
        (b"  a = 1 \n", {"a": "1 "}),
        (b"a\\=b=c\\nd", {"a=b": "c\nd"}),
        (b"a=1\\\n   2\n! no\n# no\n", {"a": "12"}),
        (b"a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        (b"a\n\na=2\n", {"a": "2"}),
        (b"path=C:\\u0041\\t\\u00", {"path": "C:A\tu00"}),
    ],
)
def test_java_properties(text: bytes, found: dict[str, str]) -> None:
    assert parse_properties(text) == found
