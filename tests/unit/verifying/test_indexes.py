"""Indexes that lie, each in its own way."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source.verifying import Severity
from tests.builders import Batch, Record, end_marker
from tests.builders.index_files import read_entries, write_checkpoint, write_indexed, write_partition
from tests.builders.transactions import txn_index
from tests.unit.verifying.conftest import TIME, batches, check, only, times

OFFSETS, TIMES = ">ii", ">qi"
Entries = list[tuple[int, int]]


def rewrite(logs: Path, kind: str, change: Callable[[Entries], Entries]) -> Path:
    path = logs / "orders-0" / f"00000000000000000030.{kind}"
    layout = OFFSETS if kind == "index" else TIMES
    entries = [(first, second) for first, second in read_entries(path, layout)]
    assert len(entries) > 3
    path.write_bytes(b"".join(struct.pack(layout, *entry) for entry in change(entries)))
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: [e[0], (e[1][0], e[1][1] + 7), *e[2:]], "no batch begins where the index points"),
        (lambda e: [*e, (40, 10_000_000)], "no batch begins where the index points"),
        (lambda e: [e[1], e[0], *e[2:]], "the offsets of the index do not rise"),
        (lambda e: [(e[0][0], e[1][1]), (e[1][0], e[0][1]), *e[2:]], "the positions of the index do not rise"),
        (lambda e: [(-5, 0), *e], "below the offset at which the segment begins"),
        (lambda e: [*e[:-2], (e[-1][0] - 3, e[-1][1])], "an offset below the batch"),
    ],
)
def test_an_offset_index_that_lies(logs: Path, change: Callable[[Entries], Entries], said: str) -> None:
    path = rewrite(logs, "index", change)
    finding = only(check(logs))
    assert finding.file == str(path)
    assert said in finding.problem
    assert finding.position is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda e: [(e[0][0] - 1, e[0][1]), *e[1:]], "have a later time than the index"),
        (lambda e: [*e[:-1], (e[-1][0] + 1, e[-1][1])], "no record up to the offset"),
        (lambda e: [e[1], e[0], *e[2:]], "the timestamps of the index do not rise"),
        (lambda e: [*e, (e[-1][0] + 1, e[-1][1] - 9)], "the offsets of the index do not rise"),
        (lambda e: [*e, (e[-1][0] + 1, e[-1][1] + 9)], "after the segment's last one"),
    ],
)
def test_a_time_index_that_lies(logs: Path, change: Callable[[Entries], Entries], said: str) -> None:
    path = rewrite(logs, "timeindex", change)
    finding = only(check(logs))
    assert finding.file == str(path)
    assert said in finding.problem


@pytest.mark.parametrize(("kind", "size"), [("index", 8), ("timeindex", 12)])
def test_an_odd_size(logs: Path, kind: str, size: int) -> None:
    path = logs / "orders-0" / f"00000000000000000000.{kind}"
    path.write_bytes(path.read_bytes() + b"\1")
    finding = only(check(logs))
    assert "neither zero nor a multiple" in finding.problem
    assert finding.expected == f"a multiple of {size}"


def test_offsets_beyond_the_largest(tmp_path: Path) -> None:
    base = 2**63 - 2
    write_indexed(write_partition(tmp_path), [], base_offset=base)
    (tmp_path / "topic-0" / f"{base:020d}.index").write_bytes(struct.pack(OFFSETS, 9, 9))
    write_checkpoint(tmp_path / "log-start-offset-checkpoint", {})
    assert "above the largest" in only(check(tmp_path)).problem


def test_a_missing_index_is_a_note(logs: Path) -> None:
    (logs / "orders-0" / "00000000000000000000.index").unlink()
    (logs / "orders-0" / "00000000000000000000.timeindex").unlink()
    assert "no offset index" in only(check(logs), Severity.NOTE).problem


def test_an_orphaned_index_is_a_note(logs: Path) -> None:
    (logs / "orders-0" / "00000000000000000007.index").write_bytes(b"")
    assert "orphaned" in only(check(logs), Severity.NOTE).problem


def test_index_entries_of_damaged_batches_are_not_judged(logs: Path) -> None:
    """The batch is what is wrong: no second finding says the same."""
    directory = logs / "orders-0"
    for number in range(10):
        entries = batches(30, 10)
        path = write_indexed(directory, entries, base_offset=30, times=times(entries))
        content = bytearray(path.read_bytes())
        content[number * len(entries[0].encode()) + 100] ^= 1
        path.write_bytes(content)
        only(check(logs), Severity.DAMAGE)


def aborted_and_committed(directory: Path, index: bytes | None) -> Path:
    """Producer 7 aborts offsets 0 and 1, producer 8 commits 3."""
    common = {"transactional": True, "producer_epoch": 0}
    entries = [
        Batch([Record()], base_offset=0, producer_id=7, base_sequence=0, **common),
        Batch([Record()], base_offset=1, producer_id=7, base_sequence=1, **common),
        Batch([end_marker(commit=False)], base_offset=2, producer_id=7, control=True, **common),
        Batch([Record()], base_offset=3, producer_id=8, base_sequence=0, **common),
        Batch([end_marker(commit=True)], base_offset=4, producer_id=8, control=True, **common),
    ]
    path = write_indexed(directory, entries, times=[entry.base_timestamp for entry in entries])
    if index is not None:
        path.with_suffix(".txnindex").write_bytes(index)
    return path


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (txn_index([(7, 0, 2, 3)]), None),
        (None, "lacks aborted transactions"),
        (b"", "lacks aborted transactions"),
        (txn_index([(7, 0, 2, 3), (8, 3, 4, 5)]), "that no abort marker ends"),
        (txn_index([(7, 0, 2, 3)])[:-1], "not a whole number of entries"),
        (txn_index([(7, 0, 2, 3)], version=3), "entry 0 has version 3, expected 0"),
    ],
)
def test_transaction_indexes(tmp_path: Path, index: bytes | None, said: str | None) -> None:
    aborted_and_committed(write_partition(tmp_path), index)
    found = check(tmp_path)
    if said is None:
        assert found.all_findings == []
    else:
        assert said in only(found).problem


def test_times_that_do_not_rise_from_batch_to_batch(tmp_path: Path) -> None:
    directory = write_partition(tmp_path)
    stamps = [TIME + offset for offset in (5, 3, 9, 1, 9, 12, 0, 12)]
    entries = [
        Batch([Record(value=b"v" * 90)], base_offset=number, base_timestamp=stamp)
        for number, stamp in enumerate(stamps)
    ]
    write_indexed(directory, entries, times=stamps, interval=100)
    assert check(tmp_path).all_findings == []
