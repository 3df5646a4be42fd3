"""`kafkalog groups` as a user sees it, on the sample."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import Batch, Record, partition_dir, write_segment
from tests.builders.groups import commit
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]
SAMPLE = Path(__file__).resolve().parents[3] / "spark_jobs" / "sample-groups"
DISKS = (SAMPLE / "disk1", SAMPLE / "disk2")


def test_groups_are_tables_with_a_title_each(kafkalog: Kafkalog) -> None:
    run = kafkalog("groups", *DISKS)
    assert run.status == 0
    assert run.err.startswith("kafkalog: warning: 1 commit in open transactions left out")
    lines = run.out.splitlines()
    assert lines[0] == "share-1: share group, Empty, epoch 4, 0 members, lag 0"
    assert lines[6:] == [
        "stays: simple group, Empty, 0 members, lag 29",
        "GROUP  TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  COMMITTED                 MEMBER  HOST  CLIENT",
        "stays  in-a           0               1              30   29  2026-11-22T04:15:33.593Z  -       -     -",
        "",
        "2 groups, read from 2 partitions of __consumer_offsets",
    ]


@pytest.mark.parametrize("at", ["2026-11-22T04:13:18Z", "2026-11-22T05:13:18+01:00", "1795320798000"])
def test_members_and_what_is_assigned_to_them_at_a_time(kafkalog: Kafkalog, at: str) -> None:
    run = kafkalog("groups", *DISKS, "--at", at, "--group", "duo")
    title, heads, *rows, _, last = run.out.splitlines()
    assert title == "duo: consumer group, Assigning, epoch 3, 2 members, lag unknown"
    assert heads.split()[-3:] == ["MEMBER", "HOST", "CLIENT"]
    assigned = ["30", "-", "-", "CQo94Q8RQeesr8bP_cb5TQ", "/127.0.0.1", "consumer-duo-4"]
    assert [row.split()[1:] for row in rows] == [
        ["in-a", "0", "-", *assigned],
        ["in-a", "1", "-", *assigned],
        ["in-a", "2", "-", *assigned],
        ["in-b", "0", "-", *assigned],
        ["-", "-", "-", "-", "-", "-", "OSihivuRT42dJZD5dl7eyA", "/127.0.0.1", "consumer-duo-st"],
    ]
    assert last == "1 group at 2026-11-22T04:13:18.000Z, read from 2 partitions of __consumer_offsets"


def test_a_time_without_a_zone_is_in_the_zone_given(kafkalog: Kafkalog) -> None:
    run = kafkalog("groups", *DISKS, "--at", "2026-11-22T05:13:18", "--time-zone", "Europe/Berlin")
    assert run.out.splitlines()[-1].startswith("4 groups at 2026-11-22T04:13:18.000Z")


def test_json_has_the_names_of_the_views(kafkalog: Kafkalog) -> None:
    run = kafkalog("groups", *DISKS, "--at", "2026-11-22T04:13:27.500Z", "--group", "upgraded", "--json")
    document = json.loads(run.out)
    assert (document["at"], document["partitions"], document["warnings"]) == ("2026-11-22T04:13:27.500Z", [0, 1], [])
    (group,) = document["groups"]
    (offset,) = group.pop("offsets")
    assert group == {
        "group": "upgraded",
        "type": "classic",
        "state": "Empty",
        "epoch": 2,
        "protocolType": "consumer",
        "protocol": None,
        "leader": None,
        "lag": 0,
        "members": [],
    }
    assert offset == {
        "topic": "in-b",
        "partition": 0,
        "committedOffset": 30,
        "firstOffset": None,
        "logEndOffset": 30,
        "highWatermark": 30,
        "lag": 0,
        "commitTimestamp": "2026-11-22T04:13:27.352Z",
        "expireTimestamp": None,
        "committedLeaderEpoch": 0,
        "committedTopicId": "mgJTSObGRXypApK3ysXLyQ",
        "metadata": "",
        "memberId": None,
        "notes": [],
    }


def test_members_of_a_streams_group_have_the_partitions_of_their_tasks(kafkalog: Kafkalog) -> None:
    run = kafkalog("groups", *DISKS, "--at", "2026-11-22T04:14:12", "--group", "streams-1", "--json")
    (group,) = json.loads(run.out)["groups"]
    (member,) = group["members"]
    assert (group["type"], group["state"], group["epoch"]) == ("streams", "Stable", 3)
    assert member["assignedPartitions"] == [
        {"topic": "in-a", "partitions": [0, 1, 2]},
        {"topic": "streams-1-KSTREAM-REPARTITION-0000000002-repartition", "partitions": [0, 1, 2]},
    ]
    assert {each["memberId"] for each in group["offsets"]} == {member["memberId"]}


def test_a_note_is_shown_if_there_is_any(kafkalog: Kafkalog, tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path, "__consumer_offsets"), [Batch([commit("g\x1b[31m", "orders", 0, 4)])])
    run = kafkalog("groups", tmp_path)
    assert run.out.splitlines()[0] == "g\\x1b[31m: simple group, Empty, 0 members, lag unknown"
    assert run.out.splitlines()[1].split()[-1] == "NOTE"
    assert run.out.splitlines()[2].endswith("-       -     -       not on these disks")


def test_records_that_cannot_be_decoded_give_another_status(kafkalog: Kafkalog, tmp_path: Path) -> None:
    records = [commit("g", "orders", 0, 4), Record(commit("h", "orders", 0, 4).key, b"\0\3\0")]
    write_segment(partition_dir(tmp_path, "__consumer_offsets"), [Batch(records)])
    run = kafkalog("groups", tmp_path)
    assert run.status == 1
    assert "1 record that cannot be decoded left out" in run.err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--at", "soon"], "soon"),
        (["--group", "nobody"], "no group nobody in the partitions of __consumer_offsets that are here"),
        (["-o", "view=batches"], "option view does not go together with groups"),
    ],
)
def test_what_cannot_be_answered_is_an_error(kafkalog: Kafkalog, arguments: list[str], problem: str) -> None:
    run = kafkalog("groups", *DISKS, *arguments)
    assert (run.status, run.out) == (2, "")
    assert problem in run.err


def test_without_groups_on_disk_the_error_says_what_is_needed(kafkalog: Kafkalog) -> None:
    run = kafkalog("groups", SAMPLE.parent / "sample" / "kafka-logs")
    assert run.status == 2
    assert "no partition of __consumer_offsets is here" in run.err
    assert "Give the log dirs of a broker that has it" in run.err
