"""Somebody in an incident, with a copy of a broker's disk: what is really on it, and what can be had back?"""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

from tests.users.conftest import GROUPS, SAMPLE, Terminal


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A disk with one bit rotten in the middle of a segment, and another segment lost."""
    disk = shutil.copytree(SAMPLE, tmp_path / "disk")
    rotten = disk / "v2-mixed-0" / "00000000000000000060.log"
    content = bytearray(rotten.read_bytes())
    content[len(content) // 2] ^= 0x10
    rotten.write_bytes(content)
    for each in (disk / "tx-a-1").glob("00000000000000000120.*"):
        each.unlink()
    return disk


LOST = [
    "lost: tx-a-1: at most 124 of 302 offsets (41.1 %): 120 to 243",
    "lost: v2-mixed-0: at most 18 of 360 offsets (5 %): 100 to 117",
]


def test_what_is_on_this_disk_and_what_can_be_had_back(terminal: Terminal, disk: Path) -> None:
    # What is there at all?
    listed = terminal("kafkalog ls disk")
    assert (listed.status, listed.err) == (0, "")
    assert ["tx-a", "1", "2", "26197", "0", "301"] in [row[:6] for row in listed.rows()]
    assert listed.lines[-1] == "6 topics, 7 partitions, 21 segments, 244394 bytes"

    # How much of what? The hole is reported, and the rest counted.
    numbers = terminal("kafkalog stat disk -h")
    assert numbers.status == 1
    assert ["tx-a", "2", "5", "175", "400"] in [row[:5] for row in numbers.rows()]
    assert "tx-a-1/00000000000000000000.log: offsets 120 to 243 are not on disk" in numbers.err
    assert "failOnDataLoss" not in numbers.err

    # How bad is it, and what next?
    verdict = terminal("kafkalog verify disk")
    assert (verdict.status, verdict.err) == (1, "")
    findings = [line for line in verdict.lines if line.startswith("damage: ")]
    assert len(findings) == 2
    assert "/tx-a-1/" in findings[0]
    assert "a segment is missing" in findings[0]
    assert "/v2-mixed-0/" in findings[1]
    assert "the batch's checksum is wrong" in findings[1]
    after = verdict.lines[verdict.lines.index(findings[-1]) + 1 :]
    assert after[0] == "not sound: 7 partitions, 21 segments, 347 batches, 1533 records; findings: 2 damage"
    assert after[1:3] == LOST
    assert after[3].startswith("lost in all: at most 142 of ")
    assert after[4].startswith("next: kafkalog export disk --rescue -o OUT.parquet")
    assert after[5].startswith("next: kafkalog salvage disk DST")

    # Get the records out, as the verdict says.
    rescued = terminal("kafkalog export disk --rescue -o out.csv --columns topic,partition,offset")
    assert rescued.status == 1
    assert rescued.lines[0].startswith("out.csv: 1486 rows")
    assert rescued.lines[1:3] == LOST
    assert [line.split(": ")[:2] for line in rescued.err.splitlines()] == [["kafkalog", "warning"]] * 2
    with (terminal.directory / "out.csv").open(newline="") as file:
        rows = [(row["topic"], int(row["partition"]), int(row["offset"])) for row in csv.DictReader(file)]
    assert len(rows) == 1486
    assert not [row for row in rows if row[:2] == ("tx-a", 1) and 120 <= row[2] <= 243]
    assert not [row for row in rows if row[0] == "v2-mixed" and 100 <= row[2] <= 117]

    # Look at the edges of the hole.
    before = terminal("kafkalog dump disk --place v2-mixed:0@98..100")
    assert (before.status, before.err) == (0, "")
    assert [line.split(" ", 1)[0] for line in before.lines] == ["v2-mixed-0@98", "v2-mixed-0@99"]

    # One topic is to be served again: its good batches, as a new log dir that a broker can start on.
    salvaged = terminal("kafkalog salvage disk mended --subscribe v2-mixed")
    assert salvaged.status == 1
    assert salvaged.lines[-1].endswith("mended: 1 partition, 29 batches, 71406 bytes; 1 loss, listed above")
    sound = terminal("kafkalog verify mended")
    assert (sound.status, sound.err) == (0, "")
    assert sound.lines[-1] == "sound: 1 partition, 5 segments, 29 batches, 342 records"


def test_who_is_stuck(terminal: Terminal, disk: Path) -> None:
    # Nobody gets what is after an open transaction.
    stuck = terminal("kafkalog transactions disk --open")
    assert (stuck.status, stuck.err) == (0, "")
    assert "tx-a-0@254: unknown: no partition of __transaction_state is in PATH" in stuck.lines
    assert stuck.lines[-1].startswith("2 open transactions, 2 unknown; ")

    # This disk has no groups; the message says which disk has.
    elsewhere = terminal("kafkalog groups disk")
    assert (elsewhere.status, elsewhere.out, elsewhere.err.count("\n")) == (2, "", 1)
    assert "Give the log dirs of a broker that has it" in elsewhere.err

    both = f"'{GROUPS}/disk1' '{GROUPS}/disk2'"
    waiting = terminal(f"kafkalog transactions {both} --open")
    assert "out-1@18: ongoing: the coordinator has it as Ongoing" in waiting.lines
    groups = terminal(f"kafkalog groups {both}")
    assert groups.status == 0
    assert "stays: simple group, Empty, 0 members, lag 29" in groups.lines
    assert ["stays", "in-a", "0", "1", "30", "29"] in [row[:6] for row in groups.rows()]

    # What did the cluster look like before it happened?
    cluster = terminal(f"kafkalog cluster {both} --at 2026-11-22T04:13Z")
    assert (cluster.status, cluster.err) == (0, "")
    assert "active controller 1, epoch 1, voters 1" in cluster.lines
    assert cluster.lines[-1] == "1 broker, 4 topics, 7 partitions"
    too_early = terminal(f"kafkalog cluster {both} --at 2026-11-21")
    assert (too_early.status, too_early.out) == (2, "")
    assert "--at is before the metadata that is on disk" in too_early.err
