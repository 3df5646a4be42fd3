"""Which files tell the transactions of a read, how much of them is read, and what travels in a split."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source import CorruptBatchError, DataLossError, OptionError
from kafkalog_source.logdir import list_logs
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.partition.offsets import PartitionOffsets
from kafkalog_source.partition.splits import SplitRange, TransactionHistory, TransactionsAhead
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading.read import read_split
from kafkalog_source.segment import reader
from kafkalog_source.transactions import lookahead
from kafkalog_source.transactions.history import from_headers
from tests.builders import Batch, Record, encode, end_marker, offset_index, partition_dir, write_segment
from tests.builders.disk import Entry
from tests.builders.transactions import producer_snapshot, txn_index

COMMITTED = {"isolationLevel": "read_committed"}


def data(base_offset: int, producer_id: int = 1, **fields: Any) -> Batch:
    return Batch([Record()], base_offset, transactional=True, producer_id=producer_id, **fields)


def plain(base_offset: int) -> Batch:
    return Batch([Record()], base_offset)


def marker(base_offset: int, producer_id: int = 1, *, commit: bool = False) -> Batch:
    return Batch([end_marker(commit=commit)], base_offset, transactional=True, control=True, producer_id=producer_id)


def partition(root: Path, *segments: Sequence[Entry], closed: dict[int, int] | None = None) -> Path:
    """A partition directory; `closed` are the open transactions in a snapshot at the log's end."""
    directory = partition_dir(root)
    for entries in segments:
        base_offset = entries[0].last_offset
        size = sum(len(entry.encode()) for entry in entries[:-1])
        index = offset_index([(entries[-1].last_offset, size)], base_offset=base_offset)
        write_segment(directory, entries, base_offset=base_offset, index=index)
    if closed is not None:
        (directory / f"{segments[-1][-1].last_offset + 1:020d}.snapshot").write_bytes(producer_snapshot(closed))
    return directory


def offsets(path: Path, **options: Any) -> list[int]:
    read: list[int] = kafkalog_source.scan(path, columns=["offset"], **options).to_table()["offset"].to_pylist()
    return read


def states(path: Path, **options: Any) -> list[str | None]:
    read = kafkalog_source.scan(path, columns=["transactionState"], includeControlRecords=True, **options)
    found: list[str | None] = read.to_table()["transactionState"].to_pylist()
    return found


def ranges(path: Path, **options: Any) -> list[SplitRange]:
    return [each for split in kafkalog_source.scan(path, threads=1, **options).splits() for each in split.ranges]


def bytes_read(path: Path, columns: list[str], **options: Any) -> int:
    read = kafkalog_source.scan(path, columns=columns, threads=1, **options)
    read.to_table()
    found: int = read.report()["bytes_read"]
    return found


def test_nothing_is_read_twice_where_nothing_is_transactional(tmp_path: Path) -> None:
    directory = partition(tmp_path, [plain(i) for i in range(5000)], closed={})
    size = (directory / f"{0:020d}.log").stat().st_size
    # What is left after the last entry of the index is read to know where the log ends.
    assert size <= bytes_read(directory, ["offset", "transactionState"]) < size + 2000
    assert bytes_read(directory, ["offset"], **COMMITTED) < size + 2000


def test_headers_are_read_again_only_from_the_first_transaction_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "WINDOW_SIZE", 1 << 18)
    entries = [plain(i) for i in range(5000)] + [data(5000), marker(5001)] + [plain(i) for i in range(5002, 9000)]
    directory = partition(tmp_path, entries)
    (directory / f"{0:020d}.index").unlink()
    size = (directory / f"{0:020d}.log").stat().st_size
    read = bytes_read(directory, ["transactionState"], endingOffsets={"topic": {0: 5002}}, assign={"topic": [0]})
    assert read < 2 * size
    assert states(directory)[4999:5003] == [None, "aborted", "aborted", None]


def test_only_what_follows_a_window_is_read_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "AHEAD_WINDOW_SIZE", 1 << 16)
    entries: list[Entry] = []
    for i in range(0, 9000, 3):
        entries += [data(i), plain(i + 1), marker(i + 2, commit=i % 2 == 0)]
    directory = partition(tmp_path, entries, closed={})
    size = (directory / f"{0:020d}.log").stat().st_size
    assert offsets(directory, **COMMITTED) == [n for i in range(0, 9000, 3) for n in (i, i + 1)[i % 2 :]]
    assert bytes_read(directory, ["offset"], **COMMITTED) < 1.2 * size


def test_side_files_of_a_closed_log_save_every_pass(tmp_path: Path) -> None:
    entries: list[Entry] = [entry for i in range(0, 8000, 2) for entry in (data(i, i), marker(i + 1, i))]
    directory = partition(tmp_path, entries, closed={})
    index = txn_index([(i, i, i + 1, i + 2) for i in range(0, 8000, 2)])
    (directory / f"{0:020d}.txnindex").write_bytes(index)
    size = (directory / f"{0:020d}.log").stat().st_size
    assert offsets(directory, **COMMITTED) == []
    assert bytes_read(directory, ["offset"], **COMMITTED) < size + 3000
    assert bytes_read(directory, ["transactionState"]) < size + 3000


@pytest.mark.parametrize("stable", [0, 4, 5, 1 << 20])
def test_a_last_stable_offset_beyond_the_marker_ends_no_search(stable: int, tmp_path: Path) -> None:
    """A follower notes such offsets; so may a broker's be that is damaged, and then a transaction is open below it."""
    directory = partition(tmp_path, [data(0, 8), data(1), marker(2)], [plain(3), marker(4, 8)], closed={})
    (directory / f"{0:020d}.txnindex").write_bytes(txn_index([(1, 1, 2, stable)]))
    (directory / f"{3:020d}.txnindex").write_bytes(txn_index([(8, 0, 4, 5)]))
    read = kafkalog_source.scan(directory, columns=["offset"], **COMMITTED)
    assert read.to_table()["offset"].to_pylist() == [3]
    assert read.report()["warnings"] == []
    assert states(directory) == ["aborted", "aborted", "aborted", None, "aborted"]


def test_the_index_of_a_log_that_was_not_closed_may_be_older_than_the_log(tmp_path: Path) -> None:
    directory = partition(tmp_path, [data(0), marker(1), data(2), marker(3)])
    (directory / f"{0:020d}.txnindex").write_bytes(txn_index([(1, 0, 1, 2)]))
    assert offsets(directory, **COMMITTED) == []
    assert states(directory) == ["aborted"] * 4


def test_a_snapshot_saves_the_pass_over_what_is_before_it(tmp_path: Path) -> None:
    directory = partition(tmp_path, [plain(i) for i in range(5000)], [data(5000), plain(5001)])
    (directory / f"{5000:020d}.snapshot").write_bytes(producer_snapshot({}))
    sizes = [log.stat().st_size for log in sorted(directory.glob("*.log"))]
    assert offsets(directory, **COMMITTED) == list(range(5000))
    assert bytes_read(directory, ["offset"], **COMMITTED) < sizes[0] + 3 * sizes[1]


def test_behind_an_old_snapshot_the_cleaner_may_have_removed_a_marker(tmp_path: Path) -> None:
    directory = partition(tmp_path, [plain(0)], [plain(10), plain(12)], [plain(20)])
    (directory / f"{10:020d}.snapshot").write_bytes(producer_snapshot({1: 5}))
    assert offsets(directory, **COMMITTED) == [0, 10, 12, 20]


@pytest.mark.parametrize("offset", [3, 4, 21, 100])
def test_a_snapshot_of_an_offset_that_is_no_border_is_not_believed(offset: int, tmp_path: Path) -> None:
    directory = partition(tmp_path, [plain(0), data(1), marker(2)], [plain(10), plain(19)])
    (directory / f"{offset:020d}.snapshot").write_bytes(producer_snapshot({1: 0}))
    assert offsets(directory, **COMMITTED) == [0, 10, 19]


def test_a_transaction_across_segments_and_splits_is_judged_by_its_marker(tmp_path: Path) -> None:
    directory = partition(
        tmp_path, [data(0), data(1, 2)], [plain(2), data(3)], [data(4, 2), marker(5)], [marker(6, 2, commit=True)]
    )
    for cut in (1, 100, 10**6):
        assert offsets(directory, maxPartitionBytes=cut, **COMMITTED) == [1, 2, 4]
        assert states(directory, maxPartitionBytes=cut) == [
            "aborted",
            "committed",
            None,
            "aborted",
            "committed",
            "aborted",
            "committed",
        ]


def test_a_lone_segment_consults_nothing_beside_it(tmp_path: Path) -> None:
    directory = partition(tmp_path, [plain(0), data(1), plain(2)], [marker(3)], closed={})
    (directory / f"{0:020d}.txnindex").write_bytes(txn_index([(9, 0, 2, 1)]))
    (directory / f"{0:020d}.snapshot").write_bytes(producer_snapshot({}))
    assert offsets(directory, **COMMITTED) == [0, 2]
    assert offsets(directory / f"{0:020d}.log", **COMMITTED) == [0]
    assert states(directory / f"{0:020d}.log") == [None, "open", None]


def test_the_end_of_the_range_is_the_last_stable_offset(tmp_path: Path) -> None:
    directory = partition(tmp_path, [plain(0), data(1), plain(2), data(3, 2), marker(4, 2, commit=True)])
    assert {each.high for each in ranges(directory, **COMMITTED)} == {1}


def test_a_range_carries_the_transactions_that_it_needs_and_no_others(tmp_path: Path) -> None:
    entries: list[Entry] = [entry for i in range(0, 40, 2) for entry in (data(i, i), marker(i + 1, i))]
    directory = partition(tmp_path, entries)
    found = ranges(directory, maxPartitionBytes=1, **COMMITTED)
    assert len(found) == 40
    for each in found:
        assert isinstance(each.transactions, TransactionHistory)
        assert len(each.transactions.aborted) == 1
    (whole,) = ranges(directory)
    assert isinstance(whole.transactions, TransactionsAhead)
    assert len(pickle.dumps(whole)) < 1000


def test_what_the_side_files_lack_is_told(tmp_path: Path) -> None:
    directory = partition(tmp_path, [data(0), marker(1)], [plain(2)], closed={})
    (directory / f"{0:020d}.txnindex").write_bytes(b"junk")
    (directory / f"{2:020d}.snapshot").write_bytes(producer_snapshot({}))
    (directory / f"{3:020d}.snapshot").write_bytes(b"junk")
    read = kafkalog_source.scan(directory, **COMMITTED)
    assert read.to_table()["offset"].to_pylist() == [2]
    warnings = " ".join(read.report()["warnings"])
    assert f"{3:020d}.snapshot" in warnings
    assert f"{0:020d}.txnindex" in warnings


@pytest.mark.parametrize("segment", [0, 1])
def test_damage_that_hides_what_became_of_transactions_is_an_error(segment: int, tmp_path: Path) -> None:
    good = [[data(0), plain(1)], [plain(2), marker(3)]]
    good[segment].insert(1, Batch([Record()], good[segment][0].last_offset, magic=7))
    directory = partition(tmp_path, *good)
    with pytest.raises(CorruptBatchError) as raised:
        offsets(directory, **COMMITTED)
    assert raised.value.file == str(directory / f"{2 * segment:020d}.log")
    if segment == 1:
        with pytest.raises(CorruptBatchError):
            states(directory, endingOffsets={"topic": {0: 2}}, assign={"topic": [0]})


def test_a_later_segment_that_is_gone_meanwhile_is_named(tmp_path: Path) -> None:
    directory = partition(tmp_path, [data(0)], [marker(10)])
    options = parse_options({}, [str(directory)])
    (split,) = plan_read(options).splits
    (directory / f"{10:020d}.log").unlink()
    # Nothing of the range itself is lost, but the segment that it was to be followed by is.
    with pytest.raises(DataLossError, match="offsets 1 to 9 are not on disk"):
        list(read_split(split, options, ["transactionState"]))


def test_markers_are_found_where_compaction_put_them_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = partition(tmp_path, [data(0), plain(1)], [plain(2), marker(3)], [plain(4)])
    merged = encode([data(0), plain(1), marker(3)])
    options = parse_options({}, [str(directory)])
    (split,) = plan_read(options).splits
    list_one = lookahead.list_partition_again
    listed: list[int] = []

    def list_and_compact(*arguments: Any, **named: Any) -> object:
        listing = list_one(*arguments, **named)
        if not listed:
            other = directory / "cleaned"
            other.write_bytes(merged)
            other.replace(directory / f"{0:020d}.log")
            (directory / f"{2:020d}.log").unlink()
        listed.append(1)
        return listing

    monkeypatch.setattr(lookahead, "list_partition_again", list_and_compact)
    first = replace(split, ranges=split.ranges[:1])
    rows = [each for batch in read_split(first, options, ["offset", "transactionState"]) for each in batch.to_pylist()]
    assert [row["transactionState"] for row in rows] == ["aborted", None]
    assert len(listed) == 2


def test_a_segment_that_retention_removes_meanwhile_is_followed_under_its_new_name(tmp_path: Path) -> None:
    directory = partition(tmp_path, [data(0), plain(1)], [plain(2), marker(3)])
    options = parse_options(COMMITTED, [str(directory)])
    (log,) = list_logs(options.paths, wanted=options.wants).partitions
    first = directory / f"{0:020d}.log"
    first.rename(first.with_name(first.name + ".deleted"))
    followed = from_headers(PartitionOffsets(log), options, 100)
    assert followed.last_stable_offset == 100
    assert followed.history.of_segment(0) == TransactionHistory(((1, 0, 3),))
    first.with_name(first.name + ".deleted").unlink()
    with pytest.raises(DataLossError, match=first.name):
        from_headers(PartitionOffsets(log), options, 100)


def test_what_was_written_after_the_plan_does_not_count(tmp_path: Path) -> None:
    directory = partition(tmp_path, [data(0)], [data(1)])
    options = parse_options({}, [str(directory)])
    (split,) = plan_read(options).splits
    with (directory / f"{1:020d}.log").open("ab") as log:
        log.write(marker(2).encode())
    write_segment(directory, [marker(3)], base_offset=3)
    (arrow_batch, *_) = read_split(split, options, ["transactionState"])
    assert arrow_batch.column(0).to_pylist() == ["open", "open"]


def test_a_time_is_not_found_behind_the_last_stable_offset(tmp_path: Path) -> None:
    """``ListOffsets`` of a broker looks for it below, as far as a read_committed consumer could fetch."""
    entries = [Batch(base_timestamp=1000), data(1, base_timestamp=2000), Batch(base_offset=2, base_timestamp=3000)]
    directory = partition(tmp_path, entries)
    assert offsets(directory, startingTimestamp=3000) == [2]
    assert offsets(directory, startingTimestamp=1000, **COMMITTED) == [0]
    for timestamp in (2000, 3000):
        with pytest.raises(OptionError, match="at or after"):
            offsets(directory, startingTimestamp=timestamp, **COMMITTED)
        latest = {"startingOffsetsByTimestampStrategy": "latest"}
        assert offsets(directory, startingTimestamp=timestamp, **latest, **COMMITTED) == []
