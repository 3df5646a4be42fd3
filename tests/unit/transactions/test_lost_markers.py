"""A marker that is lost may have ended any transaction that was open: none of their records is served as committed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source.errors import CorruptBatchError, DataLossError
from tests.builders import Batch, Record, encode, end_marker, partition_dir, write_segment
from tests.builders.transactions import producer_snapshot, txn_index

COMMITTED = {"isolationLevel": "read_committed", "mode": "DROPMALFORMED"}
CONTROL_FLAG_PLACE = 22
ABORT, COMMIT = False, True

pytestmark = pytest.mark.filterwarnings("ignore::kafkalog_source.errors.DamageWarning")


def data(base_offset: int, producer_id: int = 1) -> Batch:
    return Batch([Record()], base_offset, transactional=True, producer_id=producer_id)


def marker(base_offset: int, commit: bool, producer_id: int = 1, **fields: Any) -> Batch:
    records = fields.pop("records", [end_marker(commit=commit)])
    return Batch(records, base_offset, transactional=True, control=True, producer_id=producer_id, **fields)


def plain(base_offset: int) -> Batch:
    return Batch([Record()], base_offset)


def damaged(entry: Batch, how: str) -> bytes:
    found = bytearray(entry.encode())
    if how == "value":
        found[-2] ^= 1
    elif how == "control flag":
        found[CONTROL_FLAG_PLACE] ^= 32
    elif how == "length":
        found[9] ^= 16
    elif how == "magic":
        found[16] ^= 64
    else:
        found[10:40] = b"\xff" * 30
    return bytes(found)


DAMAGES = ("value", "control flag", "length", "magic", "overwritten")
LOST = 2
"""Where the marker is that is lost."""


def log_with_lost(
    root: Path, lost: bytes, after: Sequence[Batch], before: Sequence[Batch] | None = None, index: bytes | None = None
) -> Path:
    directory = partition_dir(root)
    first = [plain(0), data(1)] if before is None else before
    log = write_segment(directory, encode(first) + lost + encode(after))
    if index is not None:
        log.with_suffix(".txnindex").write_bytes(index)
    return directory


def read(path: Path, **options: Any) -> tuple[list[int], list[str]]:
    scan = kafkalog_source.scan(path, columns=["offset"], threads=1, **COMMITTED, **options)
    return scan.to_table()["offset"].to_pylist(), scan.report()["warnings"]


def states(path: Path, **options: Any) -> dict[int, str]:
    columns = ["offset", "transactionState"]
    table = kafkalog_source.scan(path, columns=columns, mode="DROPMALFORMED", threads=1, **options).to_table()
    return {row["offset"]: row["transactionState"] for row in table.to_pylist() if row["transactionState"]}


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("cut", [1, 10**6])
def test_what_comes_later_does_not_decide(tmp_path: Path, how: str, cut: int) -> None:
    """It was an abort, and the producer's next transaction commits."""
    after = [data(3), plain(4), marker(5, COMMIT), plain(6)]
    directory = log_with_lost(tmp_path, damaged(marker(LOST, ABORT), how), after)
    offsets, warnings = read(directory, maxPartitionBytes=cut)
    assert offsets == [0, 3, 4, 6]
    assert any("may have ended there: 1; their records at offsets 1 to 1 " in each for each in warnings)
    assert states(directory, maxPartitionBytes=cut) == {1: "open", 3: "committed"}


@pytest.mark.parametrize("how", DAMAGES)
def test_the_strict_mode_fails(tmp_path: Path, how: str) -> None:
    directory = log_with_lost(tmp_path, damaged(marker(LOST, ABORT), how), [data(3), marker(4, COMMIT)])
    with pytest.raises(CorruptBatchError):
        kafkalog_source.scan(directory, isolationLevel="read_committed").to_table()
    limit = {"endingOffsets": {"topic": {0: 2}}}
    with pytest.raises(CorruptBatchError):
        kafkalog_source.scan(directory, columns=["transactionState"], **limit).to_table()


@pytest.mark.parametrize("how", DAMAGES)
def test_an_abort_behind_it_aborts_what_came_since(tmp_path: Path, how: str) -> None:
    directory = log_with_lost(tmp_path, damaged(marker(LOST, COMMIT), how), [data(3), marker(4, ABORT), plain(5)])
    assert read(directory)[0] == [0, 5]
    assert states(directory) == {1: "open", 3: "aborted"}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_transaction_that_never_ends_hides_all_behind_it_as_for_a_consumer(tmp_path: Path, how: str) -> None:
    directory = log_with_lost(tmp_path, damaged(marker(LOST, COMMIT), how), [plain(3)])
    assert read(directory)[0] == [0]
    assert states(directory) == {1: "open"}


@pytest.mark.parametrize("how", DAMAGES)
def test_what_was_open_only_behind_it_is_not_in_doubt(tmp_path: Path, how: str) -> None:
    before = [data(0, 2), marker(1, COMMIT, 2)]
    directory = log_with_lost(tmp_path, damaged(marker(LOST, ABORT), how), [data(3), marker(4, COMMIT)], before)
    offsets, warnings = read(directory)
    assert offsets == [0, 3]
    assert not any("may have ended there" in each for each in warnings)


@pytest.mark.parametrize("how", DAMAGES)
def test_the_index_names_what_was_aborted(tmp_path: Path, how: str) -> None:
    after = [data(3), marker(4, COMMIT), plain(5)]
    index = txn_index([(1, 1, LOST, 1)])
    directory = log_with_lost(tmp_path, damaged(marker(LOST, ABORT), how), after, index=index)
    offsets, warnings = read(directory)
    assert offsets == [0, 3, 5]
    assert not any("may have ended there" in each for each in warnings)
    assert states(directory) == {1: "aborted", 3: "committed"}


def test_the_index_names_what_began_in_the_same_place(tmp_path: Path) -> None:
    """The commit of 1 is lost, and with it a transaction of the same producer that was aborted."""
    lost = damaged(marker(2, COMMIT), "overwritten") + data(3).encode() + damaged(marker(4, ABORT), "overwritten")
    index = txn_index([(1, 3, 4, 3)])
    directory = log_with_lost(tmp_path, lost, [data(5), marker(6, COMMIT)], index=index)
    assert states(directory) == {1: "open", 3: "aborted", 5: "committed"}
    directory = log_with_lost(tmp_path, b"\x09" * 232, [data(5), marker(6, COMMIT)], index=index)
    assert states(directory) == {1: "open", 5: "committed"}


def test_it_may_be_lost_twice(tmp_path: Path) -> None:
    lost = damaged(marker(5, ABORT), "value")
    after = b"".join([data(3).encode(), data(4, 2).encode(), lost, encode([data(6), marker(7, COMMIT), plain(8)])])
    directory = partition_dir(tmp_path)
    write_segment(directory, encode([plain(0), data(1)]) + damaged(marker(2, ABORT), "value") + after)
    # Nothing tells whether 4 was ended by the second; the log ends without another marker of its producer.
    assert read(directory)[0] == [0]
    assert states(directory) == {1: "open", 3: "open", 4: "open", 6: "committed"}


def test_a_lost_place_of_any_kind_may_have_held_it(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, encode([data(0)]) + bytes([9] * 500) + encode([data(7), marker(8, COMMIT), plain(9)]))
    offsets, warnings = read(directory)
    assert offsets == [7, 9]
    assert any("offsets 0 to 0 " in each for each in warnings)


def test_across_segments_and_snapshots(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [data(0), data(1, 2)])
    write_segment(directory, damaged(marker(2, ABORT), "value") + encode([data(3)]), base_offset=2)
    write_segment(directory, [marker(4, COMMIT), marker(5, COMMIT, 2), plain(6)], base_offset=4)
    assert read(directory)[0] == [3, 6]
    assert read(directory, maxPartitionBytes=1)[0] == [3, 6]
    assert states(directory) == {0: "open", 1: "open", 3: "committed"}
    (directory / f"{4:020d}.snapshot").write_bytes(producer_snapshot({1: 3, 2: 1}))
    assert read(directory)[0] == [3, 6]


@pytest.mark.parametrize("cut", [1, 10**6])
def test_a_segment_that_is_missing_may_have_held_it(tmp_path: Path, cut: int) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [plain(0), data(1)])
    write_segment(directory, [data(7), marker(8, COMMIT), plain(9)], base_offset=7)
    for asks in ({"isolationLevel": "read_committed"}, {"columns": ["transactionState"]}):
        with pytest.raises(DataLossError):
            kafkalog_source.scan(directory, **asks).to_table()
    offsets, warnings = read(directory, failOnDataLoss=False, maxPartitionBytes=cut)
    assert offsets == [0, 7, 9]
    assert any("offsets 2 to 6 are not on disk, and with them" in each for each in warnings)
    assert states(directory, failOnDataLoss=False, maxPartitionBytes=cut) == {1: "open", 7: "committed"}


def test_indexes_and_snapshots_say_nothing_of_a_segment_that_is_missing(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [data(0, 2), marker(1, ABORT, 2), data(2)])
    (directory / f"{0:020d}.txnindex").write_bytes(txn_index([(2, 0, 1, 2)]))
    write_segment(directory, [plain(7)], base_offset=7)
    (directory / f"{7:020d}.snapshot").write_bytes(producer_snapshot({}))
    assert 2 not in read(directory, failOnDataLoss=False)[0]
    assert states(directory, failOnDataLoss=False) == {0: "aborted", 2: "open"}


def test_compaction_takes_no_marker_that_is_needed(tmp_path: Path) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [plain(0), data(3)])
    write_segment(directory, [data(7), marker(8, COMMIT), plain(9)], base_offset=7)
    assert read(directory)[0] == [0, 3, 7, 9]
    assert states(directory) == {3: "committed", 7: "committed"}


@pytest.mark.parametrize("records", [[Record(key=b"\0\0")], [Record(key=None)], []], ids=["short", "null", "no record"])
def test_a_marker_of_right_checksum_that_is_none(tmp_path: Path, records: list[Record]) -> None:
    """What is not asked for is compared by its checksum alone; who wants to know of transactions is told."""
    count = None if records else 1
    bad = marker(LOST, ABORT, records=records, count=count, last_offset_delta=0).encode()
    directory = log_with_lost(tmp_path, bad, [data(3), marker(4, COMMIT), plain(5)])
    uncommitted = kafkalog_source.scan(directory, columns=["offset"])
    assert uncommitted.to_table()["offset"].to_pylist() == [0, 1, 3, 5]
    assert uncommitted.report()["damage"] == []
    for asks in (
        {"columns": ["transactionState"]},
        {"isolationLevel": "read_committed"},
        {"includeControlRecords": True},
    ):
        with pytest.raises(CorruptBatchError):
            kafkalog_source.scan(directory, **asks).to_table()
    assert read(directory)[0] == [0, 3, 5]
    assert states(directory) == {1: "open", 3: "committed"}


@pytest.mark.parametrize("seed", range(20))
def test_no_aborted_record_is_ever_served(tmp_path: Path, seed: int) -> None:
    """Random transactions of a few producers, some of whose markers are lost."""
    chance = random.Random(seed)
    content, aborted, committed, lost = bytearray(), set[int](), set[int](), 0
    begun: dict[int, list[int]] = {}
    for offset in range(300):
        producer = chance.randrange(1, 5)
        if begun.get(producer) and chance.random() < 0.3:
            commit = chance.random() < 0.5
            (committed if commit else aborted).update(begun.pop(producer))
            entry = marker(offset, commit, producer)
            is_lost = chance.random() < 0.1
            lost += is_lost
            content += damaged(entry, chance.choice(DAMAGES)) if is_lost else entry.encode()
        else:
            begun.setdefault(producer, []).append(offset)
            content += data(offset, producer).encode()
    directory = partition_dir(tmp_path)
    write_segment(directory, bytes(content))
    found = set(read(directory)[0])
    assert not found & aborted
    assert found <= committed
    shown = states(directory)
    assert not [offset for offset in aborted if shown.get(offset) == "committed"]
    assert not [offset for offset in committed if shown.get(offset) == "aborted"]
    assert lost
