"""Groups out of logs made by hand: what no broker of the fixtures wrote."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import pytest

from kafkalog_source.answers.groups import GroupAnswer, Position, groups_at
from kafkalog_source.errors import CorruptBatchError, LogDirError, OptionError
from tests.builders import Batch, Message, Record, end_marker, partition_dir, write_segment
from tests.builders.groups import commit, group_metadata
from tests.builders.index_files import write_checkpoint, write_partition

TIME = 1_700_000_000_000
SAMPLE = Path(__file__).resolve().parents[3] / "spark_jobs" / "sample-groups"


def write_offsets(root: Path, *records: Record, partition: int = 0) -> None:
    """Write a partition of ``__consumer_offsets``, each record a batch and a second after the one before."""
    batches = [
        Batch([record], base_offset=at, base_timestamp=TIME + 1000 * at, max_timestamp=TIME + 1000 * at)
        for at, record in enumerate(records)
    ]
    write_segment(partition_dir(root, "__consumer_offsets", partition), batches)


def write_topic(root: Path, name: str = "orders", *, count: int = 10, start: int = 0) -> None:
    """Write partition 0 of a topic with a record a second."""
    batches = [Batch([Record()], base_offset=at, base_timestamp=TIME + 1000 * at) for at in range(start, start + count)]
    write_segment(partition_dir(root, name), batches, base_offset=start)


def groups(root: Path, **arguments: object) -> dict[str, GroupAnswer]:
    return {group.name: group for group in groups_at([str(root)], {}, **arguments).groups}  # type: ignore[arg-type]


def only(root: Path, **arguments: object) -> Position:
    """The only position of the only group."""
    (group,) = groups(root, **arguments).values()
    (position,) = group.positions
    return position


def test_lag_is_counted_to_the_end_of_the_log(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 3), commit("g", "orders", 0, 4))
    write_topic(tmp_path)
    position = only(tmp_path)
    assert position.log is not None
    assert (position.offset, position.log.start, position.log.end, position.lag) == (4, 0, 10, 6)
    assert (position.notes, position.member, position.log.high_watermark) == ((), None, None)


def test_lag_is_counted_to_the_high_watermark_if_asked(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 4))
    write_topic(tmp_path)
    write_checkpoint(tmp_path / "replication-offset-checkpoint", {("orders", 0): 8, ("__consumer_offsets", 0): 1})
    ends = [groups_at([str(tmp_path)], {"readUpTo": end}).groups[0].lag for end in ("logEnd", "highWatermark")]
    assert ends == [6, 4]


def test_commits_after_an_open_transaction_count(tmp_path: Path) -> None:
    """A consumer with read_committed would stop at the open one; a coordinator does not."""
    in_transaction = {"transactional": True, "producer_id": 7, "producer_epoch": 0}
    batches = [
        Batch([commit("txn", "orders", 0, 5)], base_offset=0, base_sequence=0, **in_transaction),  # type: ignore[arg-type]
        Batch([end_marker(commit=True)], base_offset=1, control=True, **in_transaction),  # type: ignore[arg-type]
        Batch([commit("txn", "orders", 0, 6)], base_offset=2, base_sequence=1, **in_transaction),  # type: ignore[arg-type]
        Batch([end_marker(commit=False)], base_offset=3, control=True, **in_transaction),  # type: ignore[arg-type]
        Batch([commit("txn", "orders", 0, 7)], base_offset=4, base_sequence=2, **in_transaction),  # type: ignore[arg-type]
        Batch([commit("plain", "orders", 0, 8)], base_offset=5),
    ]
    write_segment(partition_dir(tmp_path, "__consumer_offsets"), batches)
    answer = groups_at([str(tmp_path)], {})
    assert {group.name: group.positions[0].offset for group in answer.groups} == {"txn": 5, "plain": 8}
    assert answer.warnings == [
        "1 commit in open transactions left out: they count when their transactions are committed"
    ]


def test_a_partition_that_is_elsewhere_has_no_lag(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 3))
    position = only(tmp_path)
    assert (position.log, position.lag, position.notes) == (None, None, ("not on these disks",))
    assert groups(tmp_path)["g"].lag is None


def test_offsets_outside_of_the_log_are_marked(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("ahead", "orders", 0, 25), commit("behind", "orders", 0, 3))
    write_topic(tmp_path, start=10)
    found = {name: group.positions[0] for name, group in groups(tmp_path).items()}
    assert (found["ahead"].notes, found["ahead"].lag) == (("above the log end",), -5)
    assert (found["behind"].notes, found["behind"].lag) == (("below 10, the first offset on disk",), 17)


def test_a_commit_for_a_topic_that_was_created_again_has_no_lag(tmp_path: Path) -> None:
    for disk in ("disk1", "disk2"):
        shutil.copytree(SAMPLE / disk, tmp_path / disk)
    paths = [str(tmp_path / "disk1"), str(tmp_path / "disk2")]
    (before,) = groups_at(paths, {}, names=["stays"]).groups[0].positions
    assert (before.lag, before.notes) == (29, ())
    (tmp_path / "disk1/in-a-0/partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ")
    (after,) = groups_at(paths, {}, names=["stays"]).groups[0].positions
    assert (after.lag, after.notes) == (None, (f"of an earlier topic of this name, id {before.commit.topic_id}",))  # type: ignore[union-attr]


def test_deleted_offsets_and_groups_are_gone(tmp_path: Path) -> None:
    write_offsets(
        tmp_path,
        group_metadata("gone", members=("m",)),
        commit("gone", "orders", 0, 3),
        commit("kept", "orders", 0, 3),
        commit("kept", "orders", 1, 3),
        commit("gone", "orders", 0, None),
        Record(group_metadata("gone").key, None),
        commit("kept", "orders", 1, None),
    )
    assert {name: len(group.positions) for name, group in groups(tmp_path).items()} == {"kept": 1}
    earlier = groups(tmp_path, at_ms=TIME + 3999)
    assert {name: len(group.positions) for name, group in earlier.items()} == {"gone": 1, "kept": 2}
    assert [member.client_id for member in earlier["gone"].members] == ["client-m"]


def test_the_older_key_of_a_commit_is_the_same_offset(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 3), commit("g", "orders", 0, 4, legacy=True))
    assert only(tmp_path).offset == 4


def test_a_group_that_only_commits_is_simple(tmp_path: Path) -> None:
    write_offsets(
        tmp_path,
        commit("none", "orders", 0, 1),
        group_metadata("empty", protocol_type="", generation=0),
        group_metadata("left", generation=3),
        group_metadata("used", members=("m",)),
    )
    found = {name: (group.type, group.state, group.epoch) for name, group in groups(tmp_path).items()}
    assert found == {
        "none": ("simple", "Empty", None),
        "empty": ("simple", "Empty", 0),
        "left": ("classic", "Empty", 3),
        "used": ("classic", "Stable", 1),
    }


def test_the_end_of_a_log_at_a_time_is_the_first_later_record(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 1))
    write_topic(tmp_path)
    ends = {at: only(tmp_path, at_ms=TIME + at).log.end for at in (0, 999, 1000, 9000, 99_000)}  # type: ignore[union-attr]
    assert ends == {0: 1, 999: 1, 1000: 2, 9000: 10, 99_000: 10}


def test_the_end_at_a_time_whose_records_are_deleted_is_unknown(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 1))
    write_topic(tmp_path, start=10)
    position = only(tmp_path, at_ms=TIME + 5000)
    assert position.log is not None
    assert (position.log.end, position.lag) == (None, None)
    assert position.notes == ("its records of that time are deleted",)


def test_the_end_of_a_log_without_times_is_unknown_at_a_time(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 1))
    write_segment(partition_dir(tmp_path, "orders"), [Message(offset=at, magic=0) for at in range(3)])
    assert only(tmp_path).lag == 2
    assert (only(tmp_path, at_ms=TIME).lag, only(tmp_path, at_ms=TIME).notes) == (
        None,
        ("its records have no timestamps",),
    )


def test_an_offset_that_has_expired_is_marked(tmp_path: Path) -> None:
    write_offsets(
        tmp_path,
        commit("g", "orders", 0, 1, committed_ms=TIME, expires_ms=TIME + 1500),
        *[commit("later", "orders", 0, 1)] * 2,
    )
    write_topic(tmp_path)
    assert groups(tmp_path)["g"].positions[0].notes == ("expired",)
    assert groups(tmp_path, at_ms=TIME + 1499)["g"].positions[0].notes == ()


def test_a_group_in_two_partitions_is_that_of_the_later_one(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 1), commit("g", "orders", 0, 2), partition=1)
    write_offsets(tmp_path, commit("g", "orders", 0, 9))
    assert only(tmp_path).offset == 2
    assert groups_at([str(tmp_path)], {}).partitions == [0, 1]


def test_many_commits_of_one_offset_take_the_last(tmp_path: Path) -> None:
    write_offsets(tmp_path, *[commit("g", "orders", at % 3, at) for at in range(500)])
    (group,) = groups(tmp_path).values()
    assert [each.offset for each in group.positions] == [498, 499, 497]
    (group,) = groups(tmp_path, at_ms=TIME + 100_000).values()
    assert [each.offset for each in group.positions] == [99, 100, 98]


def test_records_that_cannot_be_decoded_are_counted(tmp_path: Path) -> None:
    write_offsets(
        tmp_path,
        commit("g", "orders", 0, 1),
        Record(commit("h", "orders", 0, 1).key, b"\0\3\0"),
        Record(b"\0\x63", b"\0\0"),
    )
    answer = groups_at([str(tmp_path)], {})
    assert [group.name for group in answer.groups] == ["g"]
    assert answer.undecoded == 1
    assert answer.warnings == [
        "1 record of unknown types left out: Kafka is newer than this kafkalog",
        "1 record that cannot be decoded left out; view=consumer_offsets shows them",
    ]


def test_positions_of_share_groups_need_their_topic(tmp_path: Path) -> None:
    shutil.copytree(SAMPLE / "disk1" / "__consumer_offsets-1", tmp_path / "__consumer_offsets-1")
    answer = groups_at([str(tmp_path)], {})
    assert [(group.name, group.type, group.positions) for group in answer.groups] == [("share-1", "share", [])]
    assert (
        "no partition of __share_group_state is in these paths, so the positions of share groups are not known"
        in answer.warnings
    )


def test_a_partition_directory_is_enough(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 3))
    write_topic(tmp_path)
    found = groups_at([str(tmp_path / "__consumer_offsets-0"), str(tmp_path / "orders-0")], {})
    assert [group.lag for group in found.groups] == [7]


def test_without_offsets_on_disk_the_error_says_what_is_needed(tmp_path: Path) -> None:
    write_topic(tmp_path)
    with pytest.raises(LogDirError, match="no partition of __consumer_offsets is here") as raised:
        groups_at([str(tmp_path)], {})
    assert "Give the log dirs of a broker that has it" in str(raised.value)


def test_a_group_that_is_not_here_is_an_error(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 3), partition=4)
    with pytest.raises(LogDirError, match=r"no group other in .* \(found 1 partition: 4\)"):
        groups_at([str(tmp_path)], {}, names=["g", "other"])


def test_options_that_choose_records_are_refused(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 3))
    with pytest.raises(OptionError, match="option startingOffsets does not go together with groups"):
        groups_at([str(tmp_path)], {"startingOffsets": "earliest"})


def test_damage_goes_by_mode(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 3), commit("h", "orders", 0, 3))
    log = tmp_path / "__consumer_offsets-0" / f"{0:020d}.log"
    whole = bytearray(log.read_bytes())
    whole[70] ^= 1
    log.write_bytes(whole)
    with pytest.raises(CorruptBatchError):
        groups_at([str(tmp_path)], {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [each.name for each in groups_at([str(tmp_path)], {"mode": "DROPMALFORMED"}).groups] == ["h"]


def test_a_damaged_topic_id_is_a_warning(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 3))
    (write_partition(tmp_path, "orders") / "partition.metadata").write_text("version: 1\n")
    write_topic(tmp_path)
    answer = groups_at([str(tmp_path)], {})
    assert [group.lag for group in answer.groups] == [7]
    assert [text for text in answer.warnings if "The topic id is unknown" in text]


def test_damage_in_a_consumed_topic_goes_by_mode(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 1))
    write_topic(tmp_path)
    log = tmp_path / "orders-0" / f"{0:020d}.log"
    whole = bytearray(log.read_bytes())
    whole[70] ^= 1
    log.write_bytes(whole)
    assert only(tmp_path).lag == 9
    with pytest.raises(CorruptBatchError):
        only(tmp_path, at_ms=TIME + 5000)
    answer = groups_at([str(tmp_path)], {"mode": "DROPMALFORMED"}, at_ms=TIME + 5000)
    assert answer.groups[0].lag == 5
    assert [text for text in answer.warnings if "records of the wanted time may be lost there" in text]


def test_a_high_watermark_that_is_not_known_is_a_warning(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 1), commit("h", "orders", 0, 2))
    write_topic(tmp_path)
    answer = groups_at([str(tmp_path)], {"readUpTo": "highWatermark"})
    assert [group.lag for group in answer.groups] == [9, 8]
    wanted = "the high watermark of orders-0 is unknown: lag is counted to the end of its log"
    assert answer.warnings.count(wanted) == 1


def test_before_the_first_record_there_is_no_group(tmp_path: Path) -> None:
    write_offsets(tmp_path, commit("g", "orders", 0, 1))
    answer = groups_at([str(tmp_path)], {}, at_ms=TIME - 1)
    assert (answer.groups, answer.partitions) == ([], [0])


def test_assigned_partitions_have_the_names_of_topics_on_disk() -> None:
    """The records of a consumer group have only topic ids; commits and partition.metadata have the names."""
    paths = [str(SAMPLE / disk) for disk in ("disk1", "disk2")]
    (group,) = groups_at(paths, {}, at_ms=1_795_320_798_000, names=["duo"]).groups
    assert [member.assigned for member in group.members] == [{"in-b": [0], "in-a": [0, 1, 2]}, {}]
    (group,) = groups_at(
        [str(SAMPLE / "disk2" / "__consumer_offsets-0")], {}, at_ms=1_795_320_798_000, names=["duo"]
    ).groups
    topics = {topic for member in group.members for topic in member.assigned}
    assert topics == {"mgJTSObGRXypApK3ysXLyQ", "X9T5pAOISoix6_kX4MaRaQ"}
