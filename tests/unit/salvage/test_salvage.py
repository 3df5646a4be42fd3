"""What is copied, what is made anew, and what is left out."""

from __future__ import annotations

import os
import shutil
import struct
import uuid
from pathlib import Path

import pytest

from kafkalog_source import LogDirError, scan
from kafkalog_source.logdir.access import os_error
from kafkalog_source.logdir.names import CHECKPOINT_NAMES
from kafkalog_source.salvage import salvage
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.verifying import Severity, verify
from tests.builders import Batch, Record, end_marker
from tests.builders.index_files import (
    TOPIC_ID,
    positions,
    read_entries,
    write_checkpoint,
    write_indexed,
    write_partition,
)
from tests.builders.no_files import NO_FILES, put_no_file
from tests.builders.transactions import txn_index
from tests.builders.v07 import Message07, write_segment_07
from tests.unit.salvage.conftest import flip, salvaged, tree
from tests.unit.verifying.conftest import TIME, batches, times

FIRST, SECOND = "00000000000000000000.log", "00000000000000000030.log"
NEW_ID = uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")


def notes(path: Path) -> list[str]:
    return [str(finding) for finding in verify([str(path)]).all_findings]


def checkpoint(path: Path) -> dict[str, int]:
    lines = path.read_text().splitlines()
    assert lines[0] == "0"
    assert int(lines[1]) == len(lines) - 2
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines[2:]}


def test_a_sound_log_dir_comes_out_as_it_went_in(logs: Path) -> None:
    before = tree(logs)
    target, report = salvaged(logs)
    assert tree(logs) == before
    assert report.is_complete
    assert report.all_left_out == []
    assert report.all_warnings == []
    after = tree(target)
    made = {name for name in after if after[name][0] != before.get(name, (None, 0))[0]}
    # The indexes of the builder are denser than a broker's.
    assert {name for name in made if not name.endswith("index")} == {
        ".kafka_cleanshutdown",
        "replication-offset-checkpoint",
        "recovery-point-offset-checkpoint",
    }
    assert set(after) - set(before) == {".kafka_cleanshutdown"}
    assert notes(target) == []


def test_the_time_of_a_segment_is_kept(logs: Path) -> None:
    os.utime(logs / "orders-0" / FIRST, ns=(10**18, 10**18))
    target, _ = salvaged(logs)
    assert (target / "orders-0" / FIRST).stat().st_mtime_ns == 10**18


def test_checkpoints_are_those_of_what_was_written(logs: Path) -> None:
    target, _ = salvaged(logs)
    ends = {"orders 0": 60, "orders 1": 0, "__cluster_metadata 0": 2}
    assert checkpoint(target / "recovery-point-offset-checkpoint") == ends
    assert checkpoint(target / "replication-offset-checkpoint") == ends
    assert checkpoint(target / "log-start-offset-checkpoint") == {"orders 0": 2}
    assert checkpoint(target / "cleaner-offset-checkpoint") == {}


@pytest.mark.parametrize("number", range(10))
def test_a_damaged_batch_is_left_out_and_the_others_are_not(logs: Path, number: int) -> None:
    where = positions(batches(0, 10))
    segment = logs / "orders-0" / FIRST
    size = len(batches(0, 1)[0].encode())
    whole = segment.read_bytes()
    flip(segment, where[number] + 100)
    target, report = salvaged(logs)
    assert not report.is_complete
    (left_out,) = report.all_left_out
    assert (left_out.path, left_out.position, left_out.size) == (str(segment), where[number], size)
    assert (left_out.first_offset, left_out.last_offset) == (3 * number, 3 * number + 2)
    expected = whole[: where[number]] + whole[where[number] + size :]
    assert (target / "orders-0" / FIRST).read_bytes() == expected
    assert notes(target) in ([], [n for n in notes(target) if "offsets are missing" in n])
    offsets = [
        row["offset"]
        for row in scan(target / "orders-0", columns=["offset"], includeDeleted=True, failOnDataLoss=False)
        .to_table()
        .to_pylist()
    ]
    assert offsets == [o for o in range(60) if o // 3 != number]


def test_indexes_are_made_anew(logs: Path) -> None:
    directory = write_partition(logs, "large")
    entries = [
        Batch([Record(value=b"v" * 1000)], base_offset=at, base_timestamp=TIME + at % 7) for at in range(100, 200)
    ]
    write_indexed(directory, entries, base_offset=100)
    for index in directory.glob("*index"):
        index.write_bytes(b"nonsense" * 3)
    target, _ = salvaged(logs)
    where = positions(entries)
    index = read_entries(target / "large-0" / "00000000000000000100.index", ">ii")
    assert [where.index(position) + 100 for _, position in index] == [offset + 100 for offset, _ in index]
    gaps = [after - before for before, after in zip([0, *(p for _, p in index)], (p for _, p in index), strict=False)]
    assert all(4096 < gap <= 4096 + 1200 for gap in gaps)
    assert read_entries(target / "large-0" / "00000000000000000100.timeindex", ">qi") == [(TIME + 6, 4)]
    assert notes(target) == []


def test_segments_of_which_nothing_is_left_are_kept_as_empty_ones(logs: Path) -> None:
    directory = logs / "orders-0"
    (directory / FIRST).write_bytes(b"\xa5" * 5000)
    (directory / SECOND).write_bytes(b"\x5a" * 5000)
    target, report = salvaged(logs)
    (orders,) = [each for each in report.partitions if (each.topic, each.partition) == ("orders", 0)]
    assert (orders.segments, orders.start_offset, orders.end_offset) == (2, 0, 30)
    made = {path.name: path.stat().st_size for path in (target / "orders-0").iterdir()}
    kinds = ("log", "index", "timeindex")
    assert {name: size for name, size in made.items() if name.startswith("0")} == {
        name.replace("log", kind): 0 for name in (FIRST, SECOND) for kind in kinds
    }
    assert len([each for each in report.all_left_out if each.is_loss]) == 2
    assert checkpoint(target / "log-start-offset-checkpoint") == {"orders 0": 2}
    (finding,) = verify([str(target)]).all_findings
    assert (finding.severity, finding.problem) == (
        Severity.DAMAGE,
        "offsets are missing before the next segment: this one is empty",
    )


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_empty_segments_stay_where_they_are(logs: Path, empty: int) -> None:
    """A consumer group that committed an offset in one of them finds it within the log."""
    bases = (100, 130, 160)
    directory = write_partition(logs, "groups")
    for base in bases:
        entries = [] if base == bases[empty] else batches(base, 3)
        write_indexed(directory, entries, base_offset=base, times=times(entries))
    write_checkpoint(logs / "log-start-offset-checkpoint", {("groups", 0): 105})
    write_checkpoint(logs / "replication-offset-checkpoint", {("groups", 0): 160})
    target, report = salvaged(logs)
    (groups,) = [each for each in report.partitions if each.topic == "groups"]
    assert (groups.start_offset, groups.end_offset) == (100, 160 if empty == 2 else 169)
    names = {path.name for path in directory.iterdir() if path.name.startswith("0")}
    assert {path.name for path in (target / "groups-0").iterdir() if path.name.startswith("0")} == names
    for kind in ("log", "index", "timeindex"):
        assert (target / "groups-0" / f"{bases[empty]:020d}.{kind}").stat().st_size == 0
    assert checkpoint(target / "log-start-offset-checkpoint") == {"groups 0": 105}
    assert checkpoint(target / "replication-offset-checkpoint")["groups 0"] == 160
    assert checkpoint(target / "recovery-point-offset-checkpoint")["groups 0"] == groups.end_offset


def test_a_log_start_behind_the_end_would_delete_everything(logs: Path) -> None:
    write_checkpoint(logs / "log-start-offset-checkpoint", {("orders", 0): 999})
    target, report = salvaged(logs)
    assert checkpoint(target / "log-start-offset-checkpoint") == {"orders 0": 60}
    assert any("the log start offset was 999" in warning for warning in report.all_warnings)


def test_a_torn_end_is_cut_off_and_is_no_loss(logs: Path) -> None:
    segment = logs / "orders-0" / SECOND
    whole = segment.read_bytes()
    segment.write_bytes(whole + batches(60, 1)[0].encode()[:-5])
    target, report = salvaged(logs)
    assert (target / "orders-0" / SECOND).read_bytes() == whole
    assert report.is_complete
    assert [each.is_loss for each in report.all_left_out] == [False]


def test_a_zeroed_end_is_cut_off(logs: Path) -> None:
    segment = logs / "orders-0" / SECOND
    whole = segment.read_bytes()
    segment.write_bytes(whole + bytes(10_000))
    target, report = salvaged(logs)
    assert (target / "orders-0" / SECOND).read_bytes() == whole
    assert report.all_left_out == []


def producer(number: int, offset: int, *, marker: bool | None = None, sequence: int = 0) -> Batch:
    common = {"producer_id": number, "producer_epoch": 2, "transactional": True, "base_offset": offset}
    if marker is not None:
        return Batch([end_marker(commit=marker, coordinator_epoch=5)], control=True, **common)  # type: ignore[arg-type]
    return Batch([Record()], base_sequence=sequence, **common)  # type: ignore[arg-type]


def snapshot(path: Path) -> list[tuple[int, ...]]:
    return sorted(struct.iter_unpack(">qhiqiqiq", path.read_bytes()[10:]))


def test_producers_and_aborted_transactions(logs: Path) -> None:
    directory = write_partition(logs, "tx")
    entries = [producer(7, 0), producer(8, 1), producer(7, 2, marker=False), producer(8, 3, sequence=1), producer(9, 4)]
    write_indexed(directory, entries)
    later = [producer(8, 5, marker=False), producer(7, 6), producer(7, 7, marker=True)]
    write_indexed(directory, later, base_offset=5)
    target, report = salvaged(logs)
    assert (target / "tx-0" / "00000000000000000000.txnindex").read_bytes() == txn_index([(7, 0, 2, 1)])
    assert (target / "tx-0" / "00000000000000000005.txnindex").read_bytes() == txn_index([(8, 1, 5, 4)])
    time = entries[0].base_timestamp
    assert snapshot(target / "tx-0" / "00000000000000000008.snapshot") == [
        (7, 2, 0, 6, 0, time, 5, -1),
        (8, 2, 1, 3, 0, time, 5, -1),
        (9, 2, 0, 4, 0, time, -1, 4),
    ]
    (tx,) = [each for each in report.partitions if each.topic == "tx"]
    assert tx.open_transactions == 1
    assert notes(target) == []


def test_the_broker_remembers_what_a_lost_marker_ended(logs: Path) -> None:
    directory = write_partition(logs, "tx")
    entries = [producer(7, 0), producer(7, 1, marker=False), producer(8, 2), producer(8, 3, marker=True)]
    path = write_indexed(directory, entries)
    path.with_suffix(".txnindex").write_bytes(txn_index([(7, 0, 1, 2)]))
    flip(path, positions(entries)[1] + 70)
    target, report = salvaged(logs)
    assert (target / "tx-0" / path.with_suffix(".txnindex").name).read_bytes() == txn_index([(7, 0, 1, 2)])
    (tx,) = [each for each in report.partitions if each.topic == "tx"]
    assert tx.open_transactions == 0


def test_the_broker_remembers_what_a_lost_marker_ended_of_a_transaction_that_began_before_the_log(logs: Path) -> None:
    directory = write_partition(logs, "tx")
    entries = [producer(7, 100), producer(7, 101, marker=False), producer(8, 102), producer(8, 103, marker=True)]
    path = write_indexed(directory, entries, base_offset=100)
    path.with_suffix(".txnindex").write_bytes(txn_index([(7, 90, 101, 102)]))
    flip(path, positions(entries)[1] + 70)
    target, report = salvaged(logs)
    assert (target / "tx-0" / path.with_suffix(".txnindex").name).read_bytes() == txn_index([(7, 90, 101, 102)])
    (tx,) = [each for each in report.partitions if each.topic == "tx"]
    assert tx.open_transactions == 0


def test_a_transaction_whose_end_is_lost_is_told(logs: Path) -> None:
    directory = write_partition(logs, "tx")
    entries = [producer(7, 0), producer(7, 1, marker=True), producer(8, 2), producer(8, 3, marker=True)]
    path = write_indexed(directory, entries)
    flip(path, positions(entries)[1] + 70)
    _, report = salvaged(logs)
    assert any("1 open transaction at the end" in warning for warning in report.all_warnings)


def test_a_transaction_that_a_broker_will_take_for_a_part_of_the_next_is_told(logs: Path) -> None:
    directory = write_partition(logs, "tx")
    entries = [producer(7, 0), producer(7, 1, marker=False), producer(7, 2), producer(7, 3, marker=True)]
    path = write_indexed(directory, entries)
    flip(path, positions(entries)[1] + 70)
    _, report = salvaged(logs)
    (warning,) = [each for each in report.all_warnings if "the markers of 1 transaction," in each]
    assert "records at offsets 0 to 0, may have been left out: it is unknown whether they were aborted" in warning


def test_leader_epochs_are_made_of_the_batches_if_need_be(logs: Path) -> None:
    directory = write_partition(logs, "led")
    write_indexed(directory, [Batch(base_offset=at, leader_epoch=at // 2) for at in range(5)])
    (directory / "leader-epoch-checkpoint").write_text("nonsense")
    target, report = salvaged(logs)
    assert (target / "led-0" / "leader-epoch-checkpoint").read_text() == "0\n3\n0 0\n1 2\n2 4\n"
    assert any("leader epochs are rebuilt from the batches" in warning for warning in report.all_warnings)


def test_topic_ids_of_another_cluster(logs: Path) -> None:
    write_indexed(write_partition(logs, "other"), [Batch()])
    (logs / "orders-0" / "partition.metadata").unlink()
    target, report = salvaged(logs, topic_ids={"orders": NEW_ID})
    assert {path.name for path in target.iterdir() if path.is_dir()} == {"orders-0", "orders-1"}
    assert not (target / "meta.properties").exists()
    for name in ("orders-0", "orders-1"):
        assert (target / name / "partition.metadata").read_text() == "version: 0\ntopic_id: ASNFZ4mrze8BI0VniavN7w"
        assert (target / name / "leader-epoch-checkpoint").read_text() == "0\n0\n"
    assert report.is_complete
    assert {Path(each.path).name for each in report.all_left_out} == {"other-0", "__cluster_metadata-0"}
    assert notes(target) == []


def test_an_id_that_is_lost_is_taken_from_another_partition(logs: Path) -> None:
    (logs / "orders-0" / "partition.metadata").write_text("version: 7")
    target, report = salvaged(logs)
    assert (target / "orders-0" / "partition.metadata").read_text() == f"version: 0\ntopic_id: {TOPIC_ID}"
    assert any("taken from another partition" in warning for warning in report.all_warnings)


def test_a_partition_whose_id_nobody_knows_can_be_read(logs: Path) -> None:
    (logs / "orders-0" / "partition.metadata").unlink()
    (logs / "orders-1" / "partition.metadata").unlink()
    target, report = salvaged(logs)
    assert report.is_complete
    assert (target / "orders-0" / FIRST).read_bytes() == (logs / "orders-0" / FIRST).read_bytes()
    assert not (target / "orders-0" / "partition.metadata").exists()
    (warning,) = report.all_warnings
    assert warning.startswith("the topic id of orders is unknown, without which no broker loads it")


@pytest.mark.parametrize("bare", [True, False])
def test_one_partition_becomes_a_directory_to_read(tmp_path: Path, logs: Path, bare: bool) -> None:
    source = logs / "orders-0"
    if bare:
        source = tmp_path / "somewhere" / "orders-0"
        source.mkdir(parents=True)
        for each in (logs / "orders-0").glob("*.log"):
            shutil.copy(each, source)
    flip(source / FIRST, 100)
    target = tmp_path / "new"
    report = salvage(str(source), str(target))
    assert report.all_warnings == []
    assert [each.first_offset for each in report.all_left_out] == [0]
    assert {each.name for each in target.iterdir()} == {"orders-0", *CHECKPOINT_NAMES}
    offsets = scan(target, columns=["offset"]).to_table()["offset"].to_pylist()
    assert offsets == list(range(3, 60))


def test_a_log_dir_without_any_topic_id_becomes_a_directory_to_read(logs: Path) -> None:
    shutil.rmtree(logs / "__cluster_metadata-0")
    (logs / "meta.properties").unlink()
    for each in logs.glob("*/partition.metadata"):
        each.unlink()
    target, report = salvaged(logs)
    assert (report.is_complete, report.all_warnings) == (True, [])
    assert not (target / ".kafka_cleanshutdown").exists()
    assert {each.name for each in target.iterdir() if each.is_dir()} == {"orders-0", "orders-1"}


def test_kafka_0_7_is_left_out(logs: Path) -> None:
    write_segment_07(write_partition(logs, "old"), [Message07()])
    _, report = salvaged(logs)
    (left_out,) = report.all_left_out
    assert "Kafka 0.7" in left_out.reason
    assert left_out.is_loss


def test_what_is_not_part_of_the_log_is_left_out_and_told(logs: Path) -> None:
    (logs / "orders-0" / "00000000000000000000.log.deleted").write_bytes(b"x")
    write_partition(logs, f"orders-7.{'0' * 32}-delete".rpartition("-")[0], 0).rename(
        logs / f"orders-7.{'0' * 32}-delete"
    )
    target, report = salvaged(logs)
    assert report.is_complete
    assert sorted(Path(each.path).name for each in report.all_left_out) == [
        "00000000000000000000.log.deleted",
        f"orders-7.{'0' * 32}-delete",
    ]
    assert {path.name for path in target.iterdir() if path.is_dir()} == {"orders-0", "orders-1", "__cluster_metadata-0"}


def test_damaged_metadata_is_told_loudly(logs: Path) -> None:
    flip(logs / "__cluster_metadata-0" / FIRST, 30)
    flip(logs / "__cluster_metadata-0" / "00000000000000000000-0000000000.checkpoint", 80)
    target, report = salvaged(logs)
    assert not (target / "__cluster_metadata-0" / "00000000000000000000-0000000000.checkpoint").exists()
    assert len([each for each in report.all_left_out if each.is_loss]) == 2
    assert any("a broker may not start" in warning for warning in report.all_warnings)


def test_without_metadata_it_says_what_a_broker_will_do(logs: Path) -> None:

    shutil.rmtree(logs / "__cluster_metadata-0")
    _, report = salvaged(logs)
    assert any("sets aside all partitions" in warning for warning in report.all_warnings)


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_segment_is_left_out(logs: Path, kind: str) -> None:
    path = logs / "orders-0" / "00000000000000000099.log"
    put_no_file(kind, path, Path("/etc/passwd"))
    with pytest.raises(LogDirError, match=r"its records would be missing from the new log dir.*--skip-unreadable"):
        salvaged(logs)
    assert not (logs.parent / "new").exists()
    target, report = salvaged(logs, skip_unreadable=True)
    assert not (target / "orders-0" / path.name).exists()
    (left_out,) = report.all_left_out
    assert left_out.path == str(path)
    assert left_out.is_loss
    assert left_out.is_unreadable


@pytest.mark.parametrize("name", [FIRST, SECOND])
def test_a_segment_that_may_not_be_opened(logs: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listing may be allowed what opening is not, as on a file system that checks rights of its own."""
    path = str(logs / "orders-0" / name)

    class Denied(LocalFile):
        def __init__(self, opened: str) -> None:
            if opened == path:
                raise os_error(opened, PermissionError())
            super().__init__(opened)

    monkeypatch.setattr("kafkalog_source.salvage.partition.LocalFile", Denied)
    with pytest.raises(LogDirError, match="permission denied: its records would be missing"):
        salvaged(logs)
    assert not (logs.parent / "new").exists()
    target, report = salvaged(logs, skip_unreadable=True)
    (left_out,) = report.all_left_out
    assert (left_out.path, left_out.reason, left_out.is_unreadable) == (path, "permission denied", True)
    assert (target / "orders-0" / name).stat().st_size == 0
    (orders,) = [each for each in report.partitions if (each.topic, each.partition) == ("orders", 0)]
    assert (orders.start_offset, orders.end_offset) == (0, 60 if name == FIRST else 30)


def test_a_checkpoint_that_cannot_be_read_is_no_segment(logs: Path) -> None:
    path = logs / "replication-offset-checkpoint"
    path.unlink()
    path.mkdir()
    _, report = salvaged(logs)
    assert any("replication-offset-checkpoint" in str(each) for each in [*report.all_left_out, *report.all_warnings])


def test_no_copy_by_the_system(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "copy_file_range")
    target, _ = salvaged(logs)
    assert (target / "orders-0" / FIRST).read_bytes() == (logs / "orders-0" / FIRST).read_bytes()


def test_times_of_batches_decide_what_is_retained(logs: Path) -> None:
    """The last entry of a time index is the segment's largest time, as a broker's retention takes it."""
    entries = batches(0, 10)
    target, _ = salvaged(logs)
    (entry,) = read_entries(target / "orders-0" / "00000000000000000000.timeindex", ">qi")
    assert entry == (max(times(entries)), 29)
