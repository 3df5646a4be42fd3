"""``view=segments``: one row for each segment, made of its batches' headers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.columns import VIEWS
from kafkalog_source.errors import CorruptBatchError, DamageWarning
from tests.builders import Batch, Message, Record, Wrapper, encode, partition_dir, write_segment
from tests.builders.disk import Entry, offset_index, time_index

SMALL = [Batch([Record(), Record()], base_offset=2 * i, leader_epoch=i // 2) for i in range(4)]
SIZE = len(encode(SMALL[:1]))


def rows(path: Path, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kafkalog_source.scan(path, view="segments", **options).to_table().to_pylist()
    return found


def of(tmp_path: Path, content: bytes | list[Entry], *names: str, **options: Any) -> tuple[Any, ...]:
    """Columns of the only segment of a log."""
    log = partition_dir(tmp_path)
    write_segment(log, content)
    (row,) = rows(log, **options)
    return tuple(row[name] for name in names)


def test_every_column_of_a_sound_segment(tmp_path: Path) -> None:
    log = partition_dir(tmp_path, "orders", 3)
    index, times = offset_index([(3, SIZE)]) + bytes(16), time_index([(5, 3)])
    path = write_segment(log, SMALL, index=index, timeindex=times)
    write_segment(log, [], base_offset=8)
    first, second = rows(log)
    assert list(first) == [name for name in VIEWS["segments"].columns if name != "_corrupt_record"]
    assert abs((first.pop("modified") - datetime.now(UTC)).total_seconds()) < 60
    times_seen = first.pop("firstTimestamp"), first.pop("maxTimestamp")
    assert times_seen[0] <= times_seen[1]
    assert first == {
        "topic": "orders",
        "partition": 3,
        "file": str(path),
        "baseOffset": 0,
        "lastOffset": 7,
        "nextOffset": 8,
        "size": 4 * SIZE,
        "validSize": 4 * SIZE,
        "end": "clean",
        "batchCount": 4,
        "recordCount": 8,
        "magics": [2],
        "compressions": ["none"],
        "minLeaderEpoch": 0,
        "maxLeaderEpoch": 1,
        "isTransactional": False,
        "controlBatchCount": 0,
        "indexEntries": 1,
        "timeIndexEntries": 1,
        "txnIndexEntries": None,
        "isActive": False,
    }
    empty = ("lastOffset", "nextOffset", "batchCount", "recordCount", "magics", "isActive", "indexEntries", "end")
    assert [second[name] for name in empty] == [None, 8, 0, 0, [], True, None, "clean"]


@pytest.mark.parametrize(
    ("tail", "end"),
    [(b"", "clean"), (bytes(1000), "zeroed"), (SMALL[0].encode()[:40], "torn"), (b"\0\0\0", "torn")],
)
def test_how_the_active_segment_ends(tmp_path: Path, tail: bytes, end: str) -> None:
    found = of(tmp_path, encode(SMALL) + tail, "end", "validSize", "size", "nextOffset")
    assert found == (end, 4 * SIZE, 4 * SIZE + len(tail), 8)


def test_counts_of_old_formats(tmp_path: Path) -> None:
    plain: list[Entry] = [Message(offset=0, magic=0), Message(offset=1, magic=1)]
    assert of(tmp_path / "a", plain, "recordCount", "magics", "minLeaderEpoch") == (2, [0, 1], None)
    packed: list[Entry] = [*plain, Wrapper([Message(offset=0), Message(offset=1)], offset=3)]
    assert of(tmp_path / "b", packed, "recordCount", "batchCount", "compressions")[:2] == (None, 3)


def test_a_segment_of_many_batches_is_one_row(tmp_path: Path) -> None:
    content: list[Entry] = [Batch([Record()], base_offset=i) for i in range(40_000)]
    assert of(tmp_path, content, "batchCount", "recordCount", "lastOffset") == (40_000, 40_000, 39_999)


def test_a_segment_by_its_own_path_does_not_say_whether_it_is_active(tmp_path: Path) -> None:
    path = write_segment(partition_dir(tmp_path), SMALL)
    (row,) = rows(path)
    assert (row["isActive"], row["batchCount"]) == (None, 4)


class TestDamage:
    BAD = encode(SMALL[:2]) + bytes([255]) * SIZE + encode(SMALL[3:])

    def test_failfast_raises_what_a_read_of_records_raises(self, tmp_path: Path) -> None:
        with pytest.raises(CorruptBatchError) as caught:
            of(tmp_path, self.BAD)
        assert caught.value.position == 2 * SIZE

    def test_permissive_gives_the_row_and_one_for_the_damage(self, tmp_path: Path) -> None:
        log = partition_dir(tmp_path)
        write_segment(log, self.BAD)
        whole, damage = rows(log, mode="PERMISSIVE")
        assert (whole["batchCount"], whole["validSize"], whole["lastOffset"]) == (3, 2 * SIZE, 7)
        assert json.loads(damage["_corrupt_record"])["position"] == 2 * SIZE
        assert (damage["topic"], damage["batchCount"]) == ("topic", None)

    def test_dropmalformed_warns(self, tmp_path: Path) -> None:
        log = partition_dir(tmp_path)
        write_segment(log, self.BAD)
        scan = kafkalog_source.scan(log, view="segments", mode="DROPMALFORMED")
        with pytest.warns(DamageWarning, match="offsets 4 to 5"):
            assert scan.to_table()["batchCount"].to_pylist() == [3]
        assert [each["position"] for each in scan.report()["damage"]] == [2 * SIZE]
        assert scan.report()["warnings"] == []

    def test_checksums_are_compared_where_asked_for(self, tmp_path: Path) -> None:
        data = bytearray(encode(SMALL))
        data[SIZE + 64] ^= 1
        assert of(tmp_path, bytes(data), "batchCount") == (4,)
        with pytest.raises(CorruptBatchError):
            of(tmp_path, bytes(data), verifyChecksums=True)
