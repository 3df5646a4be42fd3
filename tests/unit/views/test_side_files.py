"""``view=indexes`` and ``view=producer_state``: every entry of the files beside the segments."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crc32c import crc32c

import kafkalog_source
from kafkalog_source.columns import VIEWS
from kafkalog_source.errors import KafkaLogError, LogDirError, OptionError
from tests.builders import Batch, Record, partition_dir, write_segment
from tests.builders.disk import offset_index, time_index

SEGMENT = [Batch([Record()], base_offset=100 + i) for i in range(3)]
BASE = f"{100:020d}"
ENTRY = struct.Struct(">qhiqiqiq")
PRODUCER = (7, 2, 9, 111, 4, 1_700_000_000_123, 3, 105)
IDLE = (8, 0, -1, -1, 0, -1, -1, -1)


def rows(path: Path, view: str, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kafkalog_source.scan(path, view=view, **options).to_table().to_pylist()
    return found


def values(path: Path, view: str, *columns: str, **options: Any) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in columns) for row in rows(path, view, **options)]


def snapshot(*producers: tuple[int, ...], version: int = 1) -> bytes:
    body = struct.pack(">i", len(producers)) + b"".join(ENTRY.pack(*each) for each in producers)
    return struct.pack(">hI", version, crc32c(body)) + body


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Give a partition whose one segment begins at offset 100."""
    directory = partition_dir(tmp_path, "orders", 3)
    write_segment(directory, SEGMENT, base_offset=100)
    return directory


def beside(log: Path, suffix: str, content: bytes) -> Path:
    path = log / f"{BASE}{suffix}"
    path.write_bytes(content)
    return path


class TestIndexes:
    def test_offsets_are_absolute_and_padding_is_no_entry(self, log: Path) -> None:
        path = beside(log, ".index", offset_index([(101, 70), (102, 140)], base_offset=100) + bytes(80))
        assert rows(log, "indexes") == [
            {
                **dict.fromkeys(name for name in VIEWS["indexes"].columns if name != "_corrupt_record"),
                "topic": "orders",
                "partition": 3,
                "file": str(path),
                "baseOffset": 100,
                "indexType": "offset",
                "entry": number,
                "offset": 101 + number,
                "position": 70 * (number + 1),
            }
            for number in range(2)
        ]

    def test_times_are_points_in_time(self, log: Path) -> None:
        beside(log, ".timeindex", time_index([(1_700_000_000_000, 101), (2**62, 102)], base_offset=100))
        found = kafkalog_source.scan(log, view="indexes", columns=["timestamp", "offset"]).to_table()
        assert found["timestamp"].cast("int64").to_pylist() == [1_700_000_000_000_000, None]
        assert found["offset"].to_pylist() == [101, 102]

    def test_aborted_transactions_are_entries(self, log: Path) -> None:
        beside(log, ".txnindex", struct.pack(">hqqqq", 0, 7, 100, 102, 103))
        columns = ("indexType", "entry", "version", "producerId", "firstOffset", "lastOffset", "lastStableOffset")
        assert values(log, "indexes", *columns) == [("transaction", 0, 0, 7, 100, 102, 103)]

    @pytest.mark.parametrize("suffix", [".index.deleted", ".timeindex.swap", ".index.cleaned", ".tmp"])
    def test_what_a_broker_would_not_read_is_left_out(self, log: Path, suffix: str) -> None:
        beside(log, suffix, offset_index([(101, 70)], base_offset=100))
        assert rows(log, "indexes") == []

    def test_a_segment_by_its_own_path_has_the_indexes_beside_it(self, log: Path) -> None:
        beside(log, ".index", offset_index([(101, 70)], base_offset=100))
        write_segment(log, [Batch([Record()], base_offset=200)], base_offset=200, index=struct.pack(">ii", 0, 0))
        assert values(log / f"{BASE}.log", "indexes", "baseOffset", "offset") == [(100, 101)]

    def test_many_entries_are_several_arrow_batches_in_order(self, log: Path) -> None:
        count = 150_000
        beside(log, ".index", b"".join(struct.pack(">ii", i + 1, i + 1) for i in range(count)))
        found = kafkalog_source.scan(log, view="indexes", columns=["entry", "position"]).to_table()
        assert found["entry"].to_pylist() == list(range(count))
        assert found["position"].to_pylist() == list(range(1, count + 1))

    @pytest.mark.parametrize(
        ("suffix", "content", "words"),
        [
            (".index", offset_index([(101, 70)], base_offset=100) + b"\1", "does not end with a whole entry"),
            (".txnindex", struct.pack(">hqqqq", 9, 7, 100, 102, 103), "unknown version"),
        ],
    )
    def test_damage_is_told_in_every_mode(self, log: Path, suffix: str, content: bytes, words: str) -> None:
        path = beside(log, suffix, content)
        with pytest.raises(LogDirError, match=words) as caught:
            rows(log, "indexes")
        assert caught.value.file == str(path)
        last = rows(log, "indexes", mode="PERMISSIVE")[-1]
        assert words in json.loads(last["_corrupt_record"])["reason"]
        assert (last["topic"], last["partition"], last["file"], last["entry"]) == ("orders", 3, str(path), None)
        scan = kafkalog_source.scan(log, view="indexes", mode="DROPMALFORMED")
        assert all("_corrupt_record" not in row for row in scan.to_table().to_pylist())
        assert any(words in warning for warning in scan.report()["warnings"])


class TestProducerState:
    def test_every_field_of_every_producer(self, log: Path) -> None:
        content = snapshot(PRODUCER, IDLE)
        path = beside(log, ".snapshot", content)
        (first, second) = rows(log, "producer_state")
        assert first.pop("lastTimestamp").timestamp() == 1_700_000_000.123
        assert first == {
            "topic": "orders",
            "partition": 3,
            "file": str(path),
            "baseOffset": 100,
            "version": 1,
            "crc": crc32c(content[6:]),
            "producerId": 7,
            "producerEpoch": 2,
            "firstSequence": 5,
            "lastSequence": 9,
            "lastOffset": 111,
            "offsetDelta": 4,
            "coordinatorEpoch": 3,
            "currentTxnFirstOffset": 105,
        }
        nothing = ("firstSequence", "lastSequence", "lastOffset", "lastTimestamp", "coordinatorEpoch")
        assert [second[name] for name in nothing] == [None] * 5

    def test_a_first_sequence_before_the_wrap_is_positive(self, log: Path) -> None:
        beside(log, ".snapshot", snapshot((7, 0, 1, 50, 3, 0, 0, -1)))
        assert values(log, "producer_state", "firstSequence", "lastSequence") == [(2**31 - 2, 1)]

    def test_a_snapshot_without_producers_is_no_row(self, log: Path) -> None:
        beside(log, ".snapshot", snapshot())
        assert rows(log, "producer_state") == []

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (snapshot(PRODUCER)[:-1], "checksum"),
            (snapshot(PRODUCER, version=2), "version 2"),
            (b"\0\1", "below the header"),
        ],
    )
    def test_damage_ends_the_read_or_is_a_row(self, log: Path, content: bytes, words: str) -> None:
        beside(log, ".snapshot", content)
        with pytest.raises(LogDirError, match=words):
            rows(log, "producer_state")
        (row,) = rows(log, "producer_state", mode="PERMISSIVE")
        assert words in row["_corrupt_record"]

    def test_any_cut_and_any_bit_is_an_error_or_rows(self, log: Path) -> None:
        whole = snapshot(PRODUCER, IDLE)
        for cut in range(len(whole)):
            beside(log, ".snapshot", whole[:cut])
            with pytest.raises(KafkaLogError):
                rows(log, "producer_state")
        for bit in range(8 * len(whole)):
            data = bytearray(whole)
            data[bit // 8] ^= 1 << bit % 8
            beside(log, ".snapshot", bytes(data))
            with pytest.raises(KafkaLogError):
                rows(log, "producer_state")


@pytest.mark.parametrize("view", ["segments", "indexes", "producer_state", "checkpoints"])
@pytest.mark.parametrize(
    "options",
    [{"startingOffsets": {"orders": {3: 5}}}, {"isolationLevel": "read_committed"}, {"readUpTo": "highWatermark"}],
)
def test_options_of_records_are_refused(log: Path, view: str, options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match=f"view={view}.*options of this view are path, subscribe"):
        rows(log, view, **options)


@pytest.mark.parametrize("view", ["segments", "indexes", "producer_state", "checkpoints"])
def test_a_broker_that_removes_a_file_takes_its_rows_away(
    log: Path, view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside(log, ".index", offset_index([(101, 70)], base_offset=100))
    beside(log, ".snapshot", snapshot(PRODUCER))
    (log / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    scan = kafkalog_source.scan(log, view=view, threads=1)
    plan = scan._plan()
    for path in log.iterdir():
        path.unlink()
    monkeypatch.setattr(scan, "_plan", lambda *_: plan)
    assert scan.to_table().num_rows == 0


@pytest.mark.parametrize("view", ["indexes", "producer_state", "checkpoints"])
def test_the_bytes_of_files_that_are_read_whole_are_counted(log: Path, view: str) -> None:
    index = beside(log, ".index", offset_index([(101, 70)], base_offset=100) + bytes(80))
    snapshots = beside(log, ".snapshot", snapshot(PRODUCER))
    epochs = log / "leader-epoch-checkpoint"
    epochs.write_text("0\n1\n0 0\n")
    path = {"indexes": index, "producer_state": snapshots, "checkpoints": epochs}[view]
    scan = kafkalog_source.scan(log, view=view)
    assert scan.to_table().num_rows == 1
    assert scan.report()["bytes_read"] == path.stat().st_size


def test_files_of_real_brokers(fixture_case: Callable[[str], Path]) -> None:
    log = fixture_case("txn-4.4") / "log"
    found = values(log, "indexes", "indexType", subscribePattern=".*")
    assert {kind for (kind,) in found} >= {"offset", "time", "transaction"}
    assert values(log, "producer_state", "producerId", subscribePattern=".*")
