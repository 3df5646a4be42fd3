"""`compare_codecs`: batches that are compressed again are as large as those that Kafka's producer compressed so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source import CodecError, OptionError, compare_codecs
from tests.builders import Batch, Message, Record, end_marker, partition_dir, write_segment


def only_row(path: Path, codec: str, level: int | None, topic: str) -> dict[str, object]:
    (row,) = compare_codecs(path, batches=1000, levels={codec: [level]}, subscribe=topic).to_pylist()
    return row


@pytest.mark.parametrize(
    ("topic", "codec", "level", "tolerance"),
    [
        # The same library with the same blocks gives the same bytes.
        ("v2-gzip", "gzip", None, 0),
        ("v2-gzip-level1", "gzip", 1, 0),
        ("v2-gzip-level9", "gzip", 9, 0),
        ("v2-lz4", "lz4", None, 0),
        ("v2-lz4", "lz4", 9, 0),
        ("v2-lz4-level17", "lz4", 17, 0),
        # Kafka has other versions of these libraries.
        ("v2-snappy", "snappy", None, 0.001),
        ("v2-zstd", "zstd", None, 0.01),
        ("v2-zstd-level19", "zstd", 19, 0.01),
        ("v2-zstd-levelm5", "zstd", -5, 0.01),
    ],
)
def test_it_gives_the_size_that_a_real_producer_wrote(
    fixture_case: Callable[[str], Path], topic: str, codec: str, level: int | None, tolerance: float
) -> None:
    row = only_row(fixture_case("v2-4.4") / "log", codec, level, topic)
    assert row["compressedBytes"] == pytest.approx(row["storedBytes"], rel=tolerance, abs=0)
    assert row["plainBytes"] > 2 * row["compressedBytes"]
    assert (row["topic"], row["codec"], row["level"]) == (topic, codec, level)
    assert row["compressMs"] > 0


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_the_plain_size_does_not_depend_on_the_codec_on_disk(tmp_path: Path, codec: str) -> None:
    plain = Batch([Record(value=b"abc" * 100)] * 5)
    write_segment(partition_dir(tmp_path), [Batch([Record(value=b"abc" * 100)] * 5, codec=codec)])
    row = only_row(tmp_path, "zstd", 3, "topic")
    assert row["plainBytes"] == len(plain.encode())
    assert row["compressedBytes"] < row["plainBytes"] // 5
    assert (row["storedBytes"] == row["plainBytes"]) == (codec == "none")


def test_batches_are_taken_evenly_and_control_empty_and_older_ones_are_not(tmp_path: Path) -> None:
    data = [Batch([Record(value=bytes(each))], base_offset=each) for each in range(10)]
    marker = Batch([end_marker(commit=True)], base_offset=10, control=True, transactional=True, producer_id=1)
    others = [marker, Batch([], base_offset=11, last_offset_delta=0), Message(offset=12, magic=1)]
    write_segment(partition_dir(tmp_path), [*data, *others])
    (row,) = compare_codecs(tmp_path, batches=5, levels={"gzip": [6]}).to_pylist()
    assert row["batches"] == 5
    assert row["storedBytes"] == sum(len(each.encode()) for each in data[::2])
    (row,) = compare_codecs(tmp_path, batches=50, levels={"gzip": [6]}).to_pylist()
    assert row["batches"] == 10


def test_a_row_for_each_topic_codec_and_level(tmp_path: Path) -> None:
    for topic in ("b", "a"):
        write_segment(partition_dir(tmp_path, topic), [Batch()])
    rows = compare_codecs(tmp_path, levels={"zstd": [3, 1], "snappy": [None]}).to_pylist()
    expected = [(topic, *each) for topic in "ab" for each in [("zstd", 3), ("zstd", 1), ("snappy", None)]]
    assert [(row["topic"], row["codec"], row["level"]) for row in rows] == expected
    assert {row["codec"] for row in compare_codecs(tmp_path).to_pylist()} == {"gzip", "snappy", "lz4", "zstd"}


def test_without_batches_of_format_2_there_are_no_rows(tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path), [Message(magic=1)])
    assert compare_codecs(tmp_path).num_rows == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batches": 0}, "batches has to be at least 1"),
        ({"levels": {"brotli": [1]}}, "this codec does not exist .*'brotli'.*gzip, snappy, lz4, zstd"),
        ({"levels": {"gzip": [10]}}, "this level of gzip does not exist .*10, expected 1 to 9"),
        ({"levels": {"lz4": [0]}}, "this level of lz4 does not exist"),
        ({"levels": {"zstd": [23]}}, "this level of zstd does not exist"),
        ({"subscrib": "a"}, "subscribe"),
    ],
)
def test_wrong_arguments_are_errors(tmp_path: Path, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        compare_codecs(tmp_path, **arguments)  # type: ignore[arg-type]


def test_a_payload_that_cannot_be_decompressed_is_named(tmp_path: Path) -> None:
    file = write_segment(partition_dir(tmp_path), [Batch(), Batch(base_offset=1, codec="zstd", payload=b"not zstd")])
    with pytest.raises(CodecError, match=f"{file.name}, position {len(Batch().encode())}"):
        compare_codecs(tmp_path)
