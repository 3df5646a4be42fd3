"""``view=segments``: one row for each segment, made of its batches' headers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

import kafkalog_source
from kafkalog_source.columns import VIEWS
from kafkalog_source.errors import CorruptBatchError, DamageWarning, LogDirError
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

    def test_failfast_gives_the_rows_before_it_first(self, tmp_path: Path) -> None:
        log = partition_dir(tmp_path)
        write_segment(log, SMALL)
        write_segment(log, b"".join(encode([Batch([Record()], base_offset=8)]) for _ in range(2)), base_offset=8)
        reader = kafkalog_source.scan(log, view="segments", columns=["baseOffset", "validSize"]).to_reader()
        assert reader.read_next_batch().to_pylist() == [{"baseOffset": 0, "validSize": 4 * SIZE}]
        with pytest.raises(CorruptBatchError):
            reader.read_next_batch()

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


ENDS = ("lastOffset", "nextOffset", "end", "firstTimestamp")


class TestOnlyWhatTheColumnsNeed:
    LARGE: ClassVar = [Batch([Record(value=bytes(4000))], base_offset=i, leader_epoch=0) for i in range(40)]
    SIZE = len(encode(LARGE[:1]))

    def log(self, tmp_path: Path, entries: list[tuple[int, int]], tail: bytes = b"", **damage: int) -> Path:
        """A segment of 40 batches with some index entries; `damage_at` is a position from which 100 bytes are wrong."""
        data = bytearray(encode(self.LARGE) + tail)
        if damage:
            data[damage["damage_at"] : damage["damage_at"] + 100] = bytes([255]) * 100
        log = partition_dir(tmp_path)
        write_segment(log, bytes(data), index=offset_index(entries))
        return log

    def read(self, log: Path, *columns: str, **options: Any) -> tuple[dict[str, Any], int]:
        """The only row, and how many bytes were read."""
        scan = kafkalog_source.scan(log, view="segments", columns=columns, **options)
        (row,) = scan.to_table().to_pylist()
        return row, scan.report()["bytes_read"]

    def test_what_the_listing_knows_reads_nothing(self, tmp_path: Path) -> None:
        log = self.log(tmp_path, [(20, 20 * self.SIZE)], damage_at=0)
        columns = ("topic", "partition", "file", "baseOffset", "size", "isActive", "modified")
        row, count = self.read(log, *columns)
        assert (row["size"], row["isActive"], count) == (40 * self.SIZE, True, 0)
        assert self.read(log, "indexEntries", "timeIndexEntries") == ({"indexEntries": 1, "timeIndexEntries": None}, 16)

    @pytest.mark.parametrize(
        ("tail", "end"), [(b"", "clean"), (bytes(900), "zeroed"), (SMALL[0].encode()[:40], "torn")]
    )
    def test_the_ends_are_read_by_the_index(self, tmp_path: Path, tail: bytes, end: str) -> None:
        log = self.log(tmp_path, [(20, 20 * self.SIZE), (38, 38 * self.SIZE)], tail)
        whole, all_bytes = self.read(log, *ENDS, "batchCount")
        row, count = self.read(log, *ENDS)
        assert row == {name: whole[name] for name in ENDS}
        assert (row["lastOffset"], row["nextOffset"], row["end"]) == (39, 40, end)
        assert count < 4 * self.SIZE < all_bytes
        scan = kafkalog_source.scan(log, view="segments")
        assert (scan.to_table().num_rows, scan.report()["batches"]) == (1, 40)

    def test_damage_between_the_ends_is_found_where_a_column_needs_what_lies_there(self, tmp_path: Path) -> None:
        log = self.log(tmp_path, [(38, 38 * self.SIZE)], damage_at=20 * self.SIZE)
        assert self.read(log, *ENDS[:3])[0] == {"lastOffset": 39, "nextOffset": 40, "end": "clean"}
        for column in ("validSize", "batchCount", "maxTimestamp"):
            with pytest.raises(CorruptBatchError):
                self.read(log, "lastOffset", column)
        with pytest.raises(CorruptBatchError):
            self.read(log, "lastOffset", verifyChecksums=True)
        found = rows(log, columns=["lastOffset", "_corrupt_record"], mode="PERMISSIVE")
        assert [(row["lastOffset"], row["_corrupt_record"] is None) for row in found] == [(39, True), (None, False)]

    @pytest.mark.parametrize(
        "entries",
        [
            [],
            [(38, 38 * SIZE + 1)],
            [(38, 41 * SIZE)],
            [(30, 38 * SIZE)],
            [(41, 38 * SIZE)],
            [(38, -SIZE)],
        ],
    )
    def test_an_index_that_does_not_prove_right_is_not_used(
        self, tmp_path: Path, entries: list[tuple[int, int]]
    ) -> None:
        row, count = self.read(self.log(tmp_path, entries), "lastOffset", "end")
        assert (row, count > 38 * self.SIZE) == ({"lastOffset": 39, "end": "clean"}, True)

    def test_a_wrong_checksum_where_the_index_points_means_walking_everything(self, tmp_path: Path) -> None:
        log = self.log(tmp_path, [(38, 38 * self.SIZE)])
        path = next(log.glob("*.log"))
        data = bytearray(path.read_bytes())
        data[38 * self.SIZE + 80] ^= 1
        path.write_bytes(data)
        row, count = self.read(log, "lastOffset")
        assert (row, count > 38 * self.SIZE) == ({"lastOffset": 39}, True)

    def test_an_index_that_cannot_be_read_matters_only_where_its_entries_are_counted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = self.log(tmp_path, [(38, 38 * self.SIZE)])
        last = kafkalog_source.scan(log, view="segments", columns=["lastOffset"])
        count = kafkalog_source.scan(log, view="segments", columns=["indexEntries"])
        plan = last._plan()
        index = next(log.glob("*.index"))
        index.unlink()
        index.mkdir()
        for scan in (last, count):
            monkeypatch.setattr(scan, "_plan", lambda *_: plan)
        assert last.to_table().to_pylist() == [{"lastOffset": 39}]
        with pytest.raises(LogDirError, match="not a regular file"):
            count.to_table()

    @pytest.mark.parametrize("columns", [("lastOffset", "end"), ("lastOffset", "end", "batchCount")])
    def test_what_is_appended_after_the_listing_is_not_a_torn_end(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: tuple[str, ...]
    ) -> None:
        log = self.log(tmp_path, [(38, 38 * self.SIZE)])
        scan = kafkalog_source.scan(log, view="segments", columns=columns)
        plan = scan._plan()
        with next(log.glob("*.log")).open("ab") as file:
            file.write(encode([Batch([Record()], base_offset=40)]))
        monkeypatch.setattr(scan, "_plan", lambda *_: plan)
        (row,) = scan.to_table().to_pylist()
        assert (row["lastOffset"], row["end"]) == (39, "clean")

    def test_a_first_batch_without_a_time_means_walking_on(self, tmp_path: Path) -> None:
        content: list[Entry] = [Message(offset=0, magic=0), Message(offset=1, magic=1)]
        size = len(encode(content[:1]))
        log = partition_dir(tmp_path)
        write_segment(log, content, index=offset_index([(1, size)]))
        (row,) = rows(log, columns=["firstTimestamp", "magics"])
        assert rows(log, columns=["firstTimestamp"]) == [{"firstTimestamp": row["firstTimestamp"]}]
        assert row["firstTimestamp"] is not None
