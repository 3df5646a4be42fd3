"""``view=transactions``: where each transaction begins and ends, what became of it, and what damage makes unknown."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source._core.memory import Scratch
from kafkalog_source.errors import CorruptBatchError, DamageWarning, OptionError
from kafkalog_source.segment.batch_headers import BatchHeaders
from kafkalog_source.segment.marker import Marker, parse_marker
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span
from kafkalog_source.views.headers import header_chunks
from tests.builders import Batch, Record, encode, partition_dir, write_segment
from tests.builders.disk import Entry

TIME = 1_700_000_000_000
SHOWN = ("producerId", "firstOffset", "lastOffset", "state", "markerOffset")


def data(offset: int, producer: int, records: int = 1, **more: Any) -> Batch:
    more = {"producer_epoch": 0, "base_sequence": 0, "base_timestamp": TIME + 10 * offset, **more}
    return Batch([Record()] * records, base_offset=offset, producer_id=producer, transactional=True, **more)


def marker(offset: int, producer: int, *, commit: bool, coordinator: int = 5, **more: Any) -> Batch:
    record = Record(key=struct.pack(">hh", 0, commit), value=struct.pack(">hi", 0, coordinator))
    more = {"producer_epoch": 1, "base_timestamp": TIME + 10 * offset, **more}
    return Batch([record], base_offset=offset, producer_id=producer, transactional=True, control=True, **more)


def log_of(root: Path, *segments: bytes | list[Entry], topic: str = "topic") -> Path:
    directory = partition_dir(root, topic)
    for content in segments:
        first = content[0].base_offset if isinstance(content, list) else 0  # type: ignore[attr-defined]
        write_segment(directory, content, base_offset=first)
    return directory


def rows(path: Path, *columns: str, **options: Any) -> list[tuple[Any, ...]]:
    table = kafkalog_source.scan(path, view="transactions", columns=columns or SHOWN, **options).to_table()
    return [tuple(row.values()) for row in table.to_pylist()]


def test_the_bytes_of_headers_and_markers_are_counted(tmp_path: Path) -> None:
    content: list[Entry] = [data(0, 7), marker(1, 7, commit=True)]
    scan = kafkalog_source.scan(log_of(tmp_path, content), view="transactions")
    assert scan.to_table().num_rows == 1
    report = scan.report()
    assert (report["bytes_read"] >= len(encode(content)), report["batches"]) == (True, 2)


def test_every_column(tmp_path: Path) -> None:
    log = log_of(tmp_path, [data(0, 7, 3), Batch(base_offset=3), data(4, 7), marker(5, 7, commit=True)])
    size = len(encode([data(0, 7, 3)])) + len(encode([data(4, 7)]))
    (row,) = kafkalog_source.scan(log, view="transactions").to_table().to_pylist()
    times = [row.pop(name) for name in ("firstTimestamp", "lastTimestamp", "markerTimestamp")]
    assert [round(each.timestamp() * 1000) for each in times] == [TIME, TIME + 40, TIME + 50]
    assert row == {
        "topic": "topic",
        "partition": 0,
        "file": str(next(log.glob("*.log"))),
        "producerId": 7,
        "producerEpoch": 0,
        "transactionalId": None,
        "state": "committed",
        "firstOffset": 0,
        "lastOffset": 4,
        "markerOffset": 5,
        "markerEpoch": 1,
        "coordinatorEpoch": 5,
        "durationMs": 50,
        "batchCount": 2,
        "recordCount": 4,
        "sizeInBytes": size,
        "pinsLastStableOffset": False,
    }


def test_transactions_that_overlap_and_go_on_in_the_next_segment(tmp_path: Path) -> None:
    log = log_of(
        tmp_path,
        [data(0, 7), data(1, 8), data(2, 9)],
        [marker(3, 8, commit=False), data(4, 8), marker(5, 7, commit=True)],
    )
    assert rows(log, *SHOWN, "pinsLastStableOffset") == [
        (7, 0, 0, "committed", 5, False),
        (8, 1, 1, "aborted", 3, False),
        (9, 2, 2, "open", None, True),
        (8, 4, 4, "open", None, False),
    ]


def test_a_marker_without_data_is_no_row(tmp_path: Path) -> None:
    assert rows(log_of(tmp_path, [marker(0, 7, commit=False), data(1, 7), marker(2, 7, commit=True)])) == [
        (7, 1, 1, "committed", 2)
    ]


def test_what_compaction_left_of_a_marker_ends_nothing(tmp_path: Path) -> None:
    left = Batch([], base_offset=0, producer_id=7, transactional=True, control=True, last_offset_delta=0)
    assert rows(log_of(tmp_path, [left, data(1, 7)])) == [(7, 1, 1, "open", None)]


def test_unknown_coordinator_epoch_is_null(tmp_path: Path) -> None:
    log = log_of(tmp_path, [data(0, 7), marker(1, 7, commit=True, coordinator=-1)])
    assert rows(log, "coordinatorEpoch") == [(None,)]


def test_transactional_ids_come_from_the_same_paths(tmp_path: Path) -> None:
    def state(name: bytes, producer: int) -> Record:
        return Record(key=struct.pack(">hh", 0, len(name)) + name, value=struct.pack(">hq", 1, producer) + bytes(30))

    log_of(tmp_path, [data(0, 7), data(1, 8)])
    ids: list[Entry] = [Batch([state(b"pay", 7), Record(key=b"x"), Record(key=None), state(b"pay", 9)])]
    log_of(tmp_path, ids, topic="__transaction_state")
    assert rows(tmp_path, "producerId", "transactionalId", subscribe="topic") == [(7, "pay"), (8, None)]


def test_damage_among_transactional_ids_is_a_warning(tmp_path: Path) -> None:
    log_of(tmp_path, [data(0, 7)])
    log_of(
        tmp_path,
        encode([Batch([Record()])]) + bytes([255]) * 90 + encode([Batch([Record()], base_offset=2)]),
        topic="__transaction_state",
    )
    scan = kafkalog_source.scan(tmp_path, view="transactions", subscribe="topic", columns=["transactionalId"])
    assert scan.to_table().to_pylist() == [{"transactionalId": None}]
    assert any("some transactional ids may be missing" in warning for warning in scan.report()["warnings"])


def test_isolation_level_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="isolationLevel"):
        rows(log_of(tmp_path, [data(0, 7)]), isolationLevel="read_committed")


class TestDamage:
    def content(self) -> tuple[bytes, int]:
        """Give the bytes of a log, and where the marker of producer 7 begins in them."""
        before = encode([data(0, 7), data(1, 8)])
        return before + encode([marker(2, 7, commit=True), data(3, 7), marker(4, 8, commit=True)]), len(before)

    @pytest.mark.parametrize("verify", [True, False])
    def test_a_damaged_marker_leaves_open_what_was_open(self, tmp_path: Path, verify: bool) -> None:
        content, at = self.content()
        bad = bytearray(content)
        bad[at + 70] ^= 1
        log = log_of(tmp_path, bytes(bad))
        with pytest.raises(CorruptBatchError, match="checksum") as caught:
            rows(log, verifyChecksums=verify)
        assert caught.value.position == at
        with pytest.warns(DamageWarning, match="offset 2"):
            found = rows(log, mode="DROPMALFORMED", verifyChecksums=verify)
        assert found == [(7, 0, 0, "open", None), (8, 1, 1, "open", None), (7, 3, 3, "open", None)]
        shown = rows(log, *SHOWN, "_corrupt_record", mode="PERMISSIVE", verifyChecksums=verify)
        assert [row[:5] for row in shown[:3]] == found
        assert "checksum" in shown[3][-1]

    def test_a_control_batch_that_is_no_marker_is_damage(self, tmp_path: Path) -> None:
        other = Batch(
            [Record(key=struct.pack(">hh", 0, 9))],
            base_offset=1,
            producer_id=7,
            producer_epoch=0,
            transactional=True,
            control=True,
        )
        with pytest.raises(CorruptBatchError, match="holds no COMMIT or ABORT"):
            rows(log_of(tmp_path, [data(0, 7), other]))

    def test_a_torn_end_is_none(self, tmp_path: Path) -> None:
        content, at = self.content()
        assert rows(log_of(tmp_path, content[: at + 30])) == [(7, 0, 0, "open", None), (8, 1, 1, "open", None)]


def test_any_cut_of_a_marker_is_none_or_the_marker() -> None:
    whole = marker(0, 7, commit=False).encode()
    assert parse_marker(whole) == Marker(is_commit=False, coordinator_epoch=5)
    for cut in range(len(whole)):
        assert parse_marker(whole[:cut]) in (None, Marker(is_commit=False, coordinator_epoch=5))
    for bit in range(61 * 8, len(whole) * 8):
        data_bytes = bytearray(whole)
        data_bytes[bit // 8] ^= 1 << bit % 8
        parse_marker(bytes(data_bytes))


def test_a_segment_that_a_broker_removes_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_of(tmp_path, [data(0, 7), marker(1, 7, commit=True)], [data(2, 8)])
    scan = kafkalog_source.scan(log, view="transactions", columns=SHOWN)
    plan = scan._plan()
    (log / f"{0:020d}.log").unlink()
    monkeypatch.setattr(scan, "_plan", lambda *_: plan)
    assert [tuple(row.values()) for row in scan.to_table().to_pylist()] == [(8, 2, 2, "open", None)]


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"disk\xff")
    root.mkdir()
    log_of(root, [data(0, 7)])
    assert [file.count("\ufffd") for (file,) in rows(root, "file")] == [1]


def test_headers_of_a_walk_that_failed_are_not_taken_for_others(tmp_path: Path) -> None:
    headers = BatchHeaders(False, 1 << 20, Scratch())
    path = write_segment(partition_dir(tmp_path), [data(i, 7) for i in range(50)])
    span = Span(0, path.stat().st_size, 0, 2**63 - 1, 2**63 - 1, True, True)
    with LocalFile(str(path)) as source:
        for _ in headers.reader(source, span, 0, 2**63 - 1):
            break
        assert headers.table.rows
        (found,) = header_chunks(headers, source, span, ("last_offset",))
    assert isinstance(found, dict)
    assert found["last_offset"].to_pylist() == list(range(50))
