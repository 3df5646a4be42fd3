"""The engineer of a nightly copy: yesterday's records to Parquet, with cron, and an alert by the exit status."""

from __future__ import annotations

import datetime
import json
import shutil
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from tests.builders import Batch, Record, partition_dir, write_segment
from tests.users.conftest import SAMPLE, Terminal

DAY = 86_400_000


def at_noon(days: int) -> int:
    """Noon of a day in UTC, counted from today, in milliseconds."""
    today = datetime.datetime.now(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return int(today.timestamp() * 1000) + days * DAY + DAY // 2


def batch(offset: int, days: int) -> Batch:
    """Ten records of one day."""
    records = [Record(offset_delta=n, timestamp_delta=n, value=b"value %d" % (offset + n)) for n in range(10)]
    return Batch(records, base_offset=offset, base_timestamp=at_noon(days))


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """The sample, and orders of the last three days."""
    disk = shutil.copytree(SAMPLE, tmp_path / "disk")
    orders = partition_dir(disk, "orders", 0)
    write_segment(orders, [batch(0, -3), batch(10, -2)])
    write_segment(orders, [batch(20, -1)], base_offset=20)
    return disk


def configure(config: Path, disk: Path) -> None:
    """Edit what init wrote, as with an editor; each key to set is there once."""
    text = config.read_text(encoding="utf-8")
    for line, new in (
        ('paths = ["/backup/broker-1/kafka-logs"]', f'paths = ["{disk}"]'),
        ("[input.options]", '[input.options]\nsubscribe = "orders"'),
        ('mode = "batch"', 'mode = "incremental"'),
        ('checkpoint = ""', 'checkpoint = "checkpoint"'),
        ('path = "output/demo"', 'path = "lake"'),
        ("rows = 5", "rows = 0"),
    ):
        assert text.count(f"\n{line}\n") == 1
        text = text.replace(f"\n{line}\n", f"\n{new}\n")
    config.write_text(text, encoding="utf-8")


def offsets(lake: Path) -> list[int]:
    """What a reader of the table finds."""
    return sorted(ds.dataset(lake, partitioning="hive").to_table(columns=["offset"])["offset"].to_pylist())


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_three_nights(terminal: Terminal, disk: Path) -> None:
    job = "kafkalog job log_to_parquet --config nightly/log_to_parquet.toml --since yesterday"
    lake = terminal.directory / "lake"

    # Set up, and look before the first run.
    written = terminal("kafkalog job init nightly --job log_to_parquet")
    assert (written.status, written.err) == (0, "")
    configure(terminal.directory / "nightly" / "log_to_parquet.toml", disk)
    plan = terminal(f"{job} --dry-run")
    assert (plan.status, plan.err) == (0, "")
    assert plan.lines[-1] == "Nothing was written; the Parquet would go to lake"
    yesterday = datetime.datetime.fromtimestamp(at_noon(-1) / 1000, datetime.UTC).date()
    assert f"startingTimestamp: {yesterday}T00:00:00Z" in plan.lines

    # The first night finds a damaged segment: cron gets a status and one line, and nothing is written.
    segment = disk / "orders-0" / "00000000000000000020.log"
    good = segment.read_bytes()
    segment.write_bytes(good[: len(good) // 2] + b"\xff" + good[len(good) // 2 + 1 :])
    failed = terminal(job)
    assert (failed.status, failed.out) == (1, "")
    assert failed.err.count("\n") == 1
    assert failed.err.startswith(f"log_to_parquet: CorruptBatchError: {segment}, position ")
    assert not list(lake.rglob("*.parquet"))

    # How much is it?
    verdict = terminal("kafkalog verify disk --subscribe orders")
    assert (verdict.status, verdict.err) == (1, "")
    assert any(line.startswith("lost: orders-0: at most 10 of 30 offsets (33.3 %)") for line in verdict.lines)

    # The segment comes back from a replica, and the same command copies yesterday and nothing older.
    segment.write_bytes(good)
    copied = terminal(job)
    assert (copied.status, copied.err) == (0, "")
    assert ["orders", "1", "1", "10"] in [row[:4] for row in copied.rows()]
    assert copied.lines[-1].startswith("Parquet: lake (topic=…/date=…), in ")
    assert offsets(lake) == list(range(20, 30))
    assert [path.name for path in lake.glob("topic=orders/*")] == [f"date={yesterday}"]

    # The second night has nothing new, which is no failure.
    nothing = terminal(job)
    assert (nothing.status, nothing.err) == (0, "")
    assert nothing.lines == ["Nothing new since the last run; Parquet: lake is unchanged"]

    # The third one has, and adds each record once.
    write_segment(disk / "orders-0", [batch(30, 0)], base_offset=30)
    added = terminal(f"{job} --json")
    assert (added.status, added.err) == (0, "")
    assert json.loads(added.out)["records"] == 10
    assert offsets(lake) == list(range(20, 40))


def test_what_is_wrong_in_the_setup_is_another_status(terminal: Terminal, disk: Path) -> None:
    misspelt = terminal("kafkalog job log_to_parquet disk --output lake --since yesterdy")
    assert (misspelt.status, misspelt.out) == (2, "")
    assert "yesterdy" in misspelt.err
    gone = terminal("kafkalog job log_to_parquet dsk --output lake")
    assert (gone.status, gone.out, gone.err.count("\n")) == (2, "", 1)
    assert gone.err.startswith("log_to_parquet: LogDirError: dsk: no such file or directory")
    no_checkpoint = terminal("kafkalog job log_to_parquet disk --output lake --mode incremental")
    assert (no_checkpoint.status, no_checkpoint.out, no_checkpoint.err.count("\n")) == (2, "", 1)
    assert "checkpoint" in no_checkpoint.err
