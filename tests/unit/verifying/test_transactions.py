"""Transaction indexes compared with batches, also where a part of the transactions is gone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kafkalog_source.verifying import Verification
from tests.builders import Batch, Record, end_marker
from tests.builders.index_files import write_checkpoint, write_indexed, write_partition
from tests.builders.transactions import txn_index
from tests.unit.verifying.conftest import check, only

Noted = tuple[int, int, int, int]


def data(offset: int, producer_id: int = 7) -> Batch:
    return Batch([Record()], offset, transactional=True, producer_id=producer_id)


def plain(offset: int) -> Batch:
    return Batch([Record()], offset)


def marker(offset: int, producer_id: int = 7, *, commit: bool = False) -> Batch:
    return Batch([end_marker(commit=commit)], offset, transactional=True, control=True, producer_id=producer_id)


def verified(
    root: Path, entries: Sequence[Batch], noted: Sequence[Noted], *, cleaned: bool = False, base_offset: int = 100
) -> Verification:
    """What is said of a segment of base offset 100 and its transaction index, nothing being left before it."""
    log_dir = root / "logs"
    path = write_indexed(write_partition(log_dir, "tx"), entries, base_offset=base_offset)
    path.with_suffix(".txnindex").write_bytes(txn_index(noted))
    write_checkpoint(log_dir / "log-start-offset-checkpoint", {("tx", 0): base_offset})
    if cleaned:
        write_checkpoint(log_dir / "cleaner-offset-checkpoint", {("tx", 0): 200})
    return check(log_dir)


@pytest.mark.parametrize("cleaned", [False, True])
def test_the_first_batches_are_in_a_segment_that_is_gone(tmp_path: Path, cleaned: bool) -> None:
    entries = [data(100), data(101, 8), marker(102), marker(103, 8)]
    found = verified(tmp_path, entries, [(7, 90, 102, 101), (8, 101, 103, 104)], cleaned=cleaned)
    assert found.all_findings == []


def test_all_batches_are_in_a_segment_that_is_gone(tmp_path: Path) -> None:
    assert verified(tmp_path, [plain(100), marker(101)], [(7, 90, 101, 102)]).all_findings == []


def test_a_transaction_that_began_before_the_log_and_the_next_of_its_producer(tmp_path: Path) -> None:
    entries = [data(100), marker(101), data(102), marker(103)]
    assert verified(tmp_path, entries, [(7, 90, 101, 102), (7, 102, 103, 104)]).all_findings == []


def test_compaction_removed_the_first_batches(tmp_path: Path) -> None:
    entries = [plain(100), data(105), marker(106)]
    assert verified(tmp_path, entries, [(7, 101, 106, 107)], cleaned=True).all_findings == []


LATER = "whose first offset is not that of their batches"
FALSE = "has transactions that no abort marker ends"


@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize(
    ("entries", "noted"),
    [
        ([data(100), data(101), marker(102)], (7, 101, 102, 103)),
        ([plain(100), data(101), data(102), marker(103)], (7, 102, 103, 104)),
    ],
)
def test_an_entry_that_begins_too_late(tmp_path: Path, entries: list[Batch], noted: Noted, cleaned: bool) -> None:
    finding = only(verified(tmp_path, entries, [noted], cleaned=cleaned))
    assert LATER in finding.problem
    assert (finding.first_offset, finding.last_offset) == (noted[1] - 1, noted[2])
    assert finding.found == f"1 transaction, the first of producer 7 with first offset {noted[1]}"
    assert finding.expected == f"first offset {noted[1] - 1}"


def test_an_entry_that_begins_too_early_where_all_is_there(tmp_path: Path) -> None:
    entries = [data(100), marker(101, commit=True), data(102), marker(103)]
    finding = only(verified(tmp_path, entries, [(7, 100, 103, 104)]))
    assert LATER in finding.problem


@pytest.mark.parametrize("first", [90, 100])
def test_an_entry_of_a_transaction_that_was_committed(tmp_path: Path, first: int) -> None:
    finding = only(verified(tmp_path, [data(100), marker(101, commit=True)], [(7, first, 101, 102)]))
    assert FALSE in finding.problem
    assert (finding.first_offset, finding.last_offset) == (first, 101)


def test_an_entry_that_reaches_over_a_marker_to_before_the_log(tmp_path: Path) -> None:
    entries = [data(100), marker(101, commit=True), data(102), marker(103)]
    finding = only(verified(tmp_path, entries, [(7, 90, 103, 104)]))
    assert LATER in finding.problem


def test_a_false_entry_is_no_reproach_to_a_good_one(tmp_path: Path) -> None:
    entries = [plain(100), plain(101), data(102), marker(103)]
    finding = only(verified(tmp_path, entries, [(7, 90, 101, 102), (7, 102, 103, 104)]))
    assert FALSE in finding.problem
    assert (finding.first_offset, finding.last_offset) == (90, 101)


def test_an_abort_that_no_entry_names(tmp_path: Path) -> None:
    finding = only(verified(tmp_path, [data(100), marker(101), data(102), marker(103)], [(7, 90, 101, 102)]))
    assert "lacks aborted transactions" in finding.problem
    assert (finding.first_offset, finding.last_offset) == (102, 103)


def test_a_last_stable_offset_beyond_the_marker(tmp_path: Path) -> None:
    """As a follower notes it that fetched the batches after the marker together with it."""
    entries = [data(100), marker(101), plain(102), data(103, 8)]
    assert verified(tmp_path, entries, [(7, 100, 101, 103)]).all_findings == []
