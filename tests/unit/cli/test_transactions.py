"""``kafkalog transactions``: real transactions, some of them without the markers that they had."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source import scan
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]
STATE = "__transaction_state"


@pytest.fixture
def logs(fixture_case: Callable[[str], Path]) -> Path:
    return fixture_case("txn-4.4") / "log"


@pytest.fixture
def copy(logs: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return shutil.copytree(logs, tmp_path / "log")


def found(kafkalog: Kafkalog, *arguments: object) -> list[dict[str, Any]]:
    run = kafkalog("transactions", *arguments, "--json")
    assert run.status == 0
    rows: list[dict[str, Any]] = json.loads(run.out)["transactions"]
    return rows


def cut_before(log_dir: Path, transaction: dict[str, Any]) -> None:
    """Cut a partition's log off before the marker of a transaction."""
    partition = log_dir / f"{transaction['topic']}-{transaction['partition']}"
    columns = ["file", "batchPosition", "batchLastOffset"]
    for row in scan(str(partition), view="batches", columns=columns, threads=1).to_table().to_pylist():
        if row["batchLastOffset"] == transaction["markerOffset"]:
            os.truncate(row["file"], row["batchPosition"])
    for later in partition.glob("*.log"):
        if int(later.stem) > transaction["markerOffset"]:
            later.unlink()


def last_ended(rows: list[dict[str, Any]], topic: str, partition: int) -> dict[str, Any]:
    mine = [row for row in rows if (row["topic"], row["partition"]) == (topic, partition) and row["state"] != "open"]
    return max(mine, key=lambda row: int(row["markerOffset"]))


def test_all_of_them_are_listed(kafkalog: Kafkalog, logs: Path) -> None:
    rows = found(kafkalog, logs)
    states = [row["state"] for row in rows]
    text = kafkalog("transactions", logs).out.splitlines()
    assert len(text) == len(rows) + 2
    assert text[0].split()[:4] == ["TOPIC", "PARTITION", "FIRST", "LAST"]
    assert text[-1] == (
        f"{len(rows)} transactions, {states.count('committed')} committed, {states.count('aborted')} aborted, "
        f"{states.count('open')} open"
    )
    assert {row["topic"] for row in rows} == {"__consumer_offsets", "tx-a", "tx-b"}
    assert {row["topic"] for row in found(kafkalog, logs, "--subscribe", "tx-a")} == {"tx-a"}


def test_what_the_coordinator_waits_for_does_not_hang(kafkalog: Kafkalog, logs: Path) -> None:
    rows = found(kafkalog, logs, "--open")
    assert [(row["topic"], row["partition"], row["firstOffset"]) for row in rows] == [
        ("tx-a", 0, 254),
        ("tx-a", 1, 286),
        ("tx-b", 0, 324),
    ]
    for row in rows:
        assert (row["verdict"], row["coordinatorState"]) == ("ongoing", "Ongoing")
        assert row["transactionTimeoutMs"] == 800_000
        assert row["heldBackOffsets"] == row["logEndOffset"] - row["firstOffset"] > 0
    text = kafkalog("transactions", logs, "--open").out
    assert "tx-b-0@324: ongoing: the coordinator has it as Ongoing" in text
    assert "forceTerminateTransaction --transactional-id tx-30001-open" in text
    assert " abort " not in text
    assert "3 open transactions; ages as of 2026-11-21T11:56:30.366Z" in text


def test_a_marker_that_is_missing_makes_a_transaction_hang(kafkalog: Kafkalog, copy: Path) -> None:
    ended = last_ended(found(kafkalog, copy), "tx-b", 0)
    cut_before(copy, ended)
    (row,) = [row for row in found(kafkalog, copy, "--open") if row["verdict"] == "hanging"]
    for name in ("topic", "partition", "firstOffset", "producerId", "producerEpoch", "transactionalId"):
        assert row[name] == ended[name]
    assert row["reason"].startswith("the coordinator has it as ")
    assert row["pinsLastStableOffset"] is False
    assert row["heldBackOffsets"] is None
    place = ["abort", "--topic", "tx-b", "--partition", "0"]
    producer = ["--producer-id", str(row["producerId"]), "--producer-epoch", str(row["producerEpoch"])]
    assert row["abort"] == {
        "from30": [*place, "--start-offset", str(row["firstOffset"])],
        "before30": [*place, *producer, "--coordinator-epoch", "0"],
    }
    text = kafkalog("transactions", copy, "--open").out
    assert f"abort --topic tx-b --partition 0 --start-offset {row['firstOffset']}\n" in text
    assert text.splitlines()[-1].startswith("4 open transactions, 1 hanging; ")


def test_the_first_that_hangs_pins_the_last_stable_offset(kafkalog: Kafkalog, copy: Path) -> None:
    ended = last_ended(found(kafkalog, copy), "__consumer_offsets", 0)
    cut_before(copy, ended)
    (row,) = found(kafkalog, copy, "--open", "--subscribe", "__consumer_offsets")
    assert (row["verdict"], row["pinsLastStableOffset"]) == ("hanging", True)
    assert row["heldBackOffsets"] == row["logEndOffset"] - ended["firstOffset"] > 0


def test_without_all_coordinators_it_is_unknown(kafkalog: Kafkalog, copy: Path) -> None:
    for state in copy.glob(f"{STATE}-*/*.log"):
        os.truncate(state, 0)
    reasons = {row["reason"] for row in found(kafkalog, copy, "--open") if row["verdict"] == "hanging"}
    assert reasons == {"no coordinator has a transactional id with this producer id"}
    shutil.rmtree(copy / f"{STATE}-0")
    reasons = {row["reason"] for row in found(kafkalog, copy, "--open") if row["verdict"] == "unknown"}
    assert reasons == {"the 2 of 3 partitions of __transaction_state in PATH do not have it"}
    shutil.rmtree(copy / "__cluster_metadata-0")
    reasons = {row["reason"] for row in found(kafkalog, copy, "--open") if row["verdict"] == "unknown"}
    assert reasons == {"the 2 partitions of __transaction_state in PATH do not have it"}
    (row,) = found(kafkalog, copy / "tx-b-0", "--open")
    assert (row["verdict"], row["reason"]) == ("unknown", "no partition of __transaction_state is in PATH")


def test_without_transactions_there_is_one_line(kafkalog: Kafkalog, fixture_case: Callable[[str], Path]) -> None:
    run = kafkalog("transactions", fixture_case("v0-2.8") / "log", "--open")
    assert (run.status, run.out, run.err) == (0, "0 open transactions\n", "")
    run = kafkalog("transactions", fixture_case("v0-2.8") / "log")
    assert run.out == "0 transactions, 0 committed, 0 aborted, 0 open\n"


@pytest.mark.filterwarnings("always::kafkalog_source.errors.DamageWarning")
def test_damage_ends_it_unless_a_mode_is_given(kafkalog: Kafkalog, copy: Path) -> None:
    path = copy / "tx-b-0" / "00000000000000000324.log"
    data = bytearray(path.read_bytes())
    data[8] ^= 0xFF
    path.write_bytes(bytes(data))
    run = kafkalog("transactions", copy, "--open")
    assert run.status == 1
    assert path.name in run.err
    run = kafkalog("transactions", copy, "--open", "-o", "mode=DROPMALFORMED")
    assert run.status == 0
    assert "warning" in run.err
