"""The history of lag: which rows it has, and what it cannot know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from kafkalog_source import milliseconds
from kafkalog_source.answers.groups import groups_at
from spark_jobs.common.config import ConfigError, build, load
from spark_jobs.consumer_lag import Config, main
from spark_jobs.lag.logs import pattern_of
from spark_jobs.lag.moments import parse_interval, parse_time
from tests.builders import Batch, Message, Record, end_marker, partition_dir, write_segment
from tests.builders.groups import commit, group_metadata
from tests.builders.index_files import write_partition

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = [ROOT / "spark_jobs" / "sample-groups" / disk for disk in ("disk1", "disk2")]
CONFIG = ROOT / "conf" / "consumer_lag.toml"
START = 1_700_000_040_000
"""A full minute, in milliseconds."""

on_spark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("job_spark")]


def at(second: int) -> dict[str, int]:
    return {"base_timestamp": START + 1000 * second}


def run(output: Path, *arguments: object) -> int:
    return main(["--output", str(output), *map(str, arguments)])


def table(output: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = ds.dataset(output).to_table().to_pylist()
    return sorted(rows, key=lambda row: (row["time"], row["group"], row["topic"], row["partition"]))


def short(rows: list[dict[str, Any]], topic: str) -> list[tuple[Any, ...]]:
    """Second, group, committed offset, log end, lag and seconds of lag of the rows of a topic."""
    return [
        (
            row["time"].timestamp() - START / 1000,
            row["group"],
            row["committedOffset"],
            row["logEndOffset"],
            row["lag"],
            None if row["lagMs"] is None else row["lagMs"] / 1000,
        )
        for row in rows
        if row["topic"] == topic
    ]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Topics of which one grows while it is consumed, and groups that commit in all ways."""
    root = tmp_path_factory.mktemp("lag") / "logs"
    in_transaction = {"transactional": True, "producer_id": 7, "producer_epoch": 0}
    offsets = [
        Batch([group_metadata("g", members=("m",))], 0, **at(0)),
        Batch([commit("g", "grows", 0, 0), commit("g", "deleted", 0, 5), commit("g", "elsewhere", 0, 5)], 1, **at(1)),
        Batch([commit("g", "grows", 0, 2)], 4, **at(90)),
        Batch([commit("txn", "grows", 0, 3)], 5, base_sequence=0, **in_transaction, **at(100)),  # type: ignore[arg-type]
        Batch([end_marker(commit=True)], 6, control=True, **in_transaction, **at(101)),  # type: ignore[arg-type]
        Batch([commit("txn", "grows", 0, 4)], 7, base_sequence=1, **in_transaction, **at(102)),  # type: ignore[arg-type]
        Batch([end_marker(commit=False)], 8, control=True, **in_transaction, **at(103)),  # type: ignore[arg-type]
        Batch([commit("txn", "grows", 0, 5)], 9, base_sequence=2, **in_transaction, **at(104)),  # type: ignore[arg-type]
        Batch([commit("g", "grows", 0, 6)], 10, **at(200)),
        Batch([commit("g", "deleted", 0, None)], 11, **at(210)),
        Batch([commit("g", "no.times", 0, 1)], 12, **at(220)),
    ]
    write_segment(write_partition(root, "__consumer_offsets"), offsets)
    # Two records a minute; the time of a batch is that of its last record.
    grown = [Batch([Record(), Record(timestamp_delta=1000)], 2 * n, **at(60 * n)) for n in range(4)]
    write_segment(write_partition(root, "grows"), grown)
    write_segment(write_partition(root, "deleted"), [Batch([Record()], 10, **at(150))], base_offset=10)
    write_segment(partition_dir(root, "no.times"), [Message(offset=n, magic=0) for n in range(3)])
    return root


class TestRows:
    pytestmark = on_spark

    def test_a_row_for_each_commit(self, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(tmp_path / "lag", logs, "--json") == 0
        rows = table(tmp_path / "lag")
        assert short(rows, "grows") == [
            # The first batch is there, and unread for no second: its last record is as old as the commit.
            (1, "g", 0, 2, 2, 0),
            (90, "g", 2, 4, 2, 29),
            (100, "txn", 3, 4, 1, 39),
            (200, "g", 6, 8, 2, 19),
        ]
        # Its first offset is 10, so that its end before is not known; that of the other is on no disk.
        assert short(rows, "deleted") == [(1, "g", 5, None, None, None)]
        assert short(rows, "elsewhere") == [(1, "g", 5, None, None, None)]
        assert [row[:5] for row in short(rows, "no.times")] == [(220, "g", 1, 3, 2)]
        summary = json.loads(capsys.readouterr().out)
        assert (summary["commits"], summary["rows"], summary["every"]) == (7, 7, "commit")
        assert summary["groups"] == [
            {"group": "g", "partitions": 4, "rows": 6, "greatestLag": 2, "lastLag": 4},
            {"group": "txn", "partitions": 1, "rows": 1, "greatestLag": 1, "lastLag": 1},
        ]

    def test_a_row_for_each_interval_also_without_commits(self, logs: Path, tmp_path: Path) -> None:
        assert run(tmp_path / "lag", logs, "--every", "1m", "--group", "g") == 0
        rows = table(tmp_path / "lag")
        assert short(rows, "grows") == [
            (60, "g", 0, 2, 2, 59),
            (120, "g", 2, 4, 2, 59),
            (180, "g", 2, 6, 4, 119),
        ]
        assert [row[:2] for row in short(rows, "deleted")] == [(60, "g"), (120, "g"), (180, "g")]
        assert short(rows, "deleted")[-1] == (180, "g", 5, 11, 6, 30)
        assert {row["commitTimestamp"].timestamp() for row in rows if row["topic"] == "deleted"} == {START / 1000 + 1}

    def test_times_and_groups_are_chosen(self, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        since, until = str(START + 60_000), str(START + 100_000)
        assert run(tmp_path / "lag", logs, "--since", since, "--until", until) == 0
        assert [(row["group"], row["committedOffset"]) for row in table(tmp_path / "lag")] == [("g", 2), ("txn", 3)]
        assert "Rows: 2, one for each commit" in capsys.readouterr().out
        assert run(tmp_path / "lag", logs, "--group", "nobody", "--every", "1h", "--json") == 0
        assert json.loads(capsys.readouterr().out)["rows"] == 0

    def test_a_topic_that_was_created_again_has_another_log(self, tmp_path: Path) -> None:
        disks = [tmp_path / disk.name for disk in SAMPLE]
        for source, disk in zip(SAMPLE, disks, strict=True):
            for file in (path for path in source.rglob("*") if path.is_file()):
                copy = disk / file.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
        (disks[0] / "in-a-0" / "partition.metadata").write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ")
        assert run(tmp_path / "lag", *disks, "--option", "readUpTo=highWatermark") == 0
        rows = [row for row in table(tmp_path / "lag") if row["topic"] == "in-a"]
        unknown = {row["partition"] for row in rows if row["lag"] is None}
        assert unknown == {0}
        assert {row["partition"] for row in rows} == {0, 1, 2}
        assert all(row["lag"] is None for row in rows if row["partition"] == 0)

    def test_the_last_rows_are_what_the_command_shows(self, tmp_path: Path) -> None:
        """The groups of the sample at the time of each commit, by another way."""
        assert run(tmp_path / "lag", *SAMPLE) == 0
        rows = table(tmp_path / "lag")
        assert len(rows) == 34
        for row in rows:
            time_ms = round(row["time"].timestamp() * 1000)
            (group,) = groups_at([str(disk) for disk in SAMPLE], {}, at_ms=time_ms, names=[row["group"]]).groups
            (found,) = [
                each for each in group.positions if (each.topic, each.partition) == (row["topic"], row["partition"])
            ]
            assert found.log is not None
            assert (found.offset, found.log.end, found.lag) == (row["committedOffset"], row["logEndOffset"], row["lag"])


def test_the_config_file_is_what_it_says() -> None:
    config = build(Config, load(CONFIG), str(CONFIG))
    assert config.lag == Config().lag
    assert config.input.paths == ("spark_jobs/sample-groups/disk1", "spark_jobs/sample-groups/disk2")


def test_a_dry_run_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "lag", *SAMPLE, "--dry-run", "--every", "5m", "--group", "duo") == 0
    assert f"Nothing was written; the lag of duo, every 5m, would go to {tmp_path}/lag" in capsys.readouterr().out
    assert not (tmp_path / "lag").exists()


def test_compaction_is_noted(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (logs / "cleaner-offset-checkpoint").write_text("0\n1\n__consumer_offsets 0 9\n")
    assert run(tmp_path / "lag", logs, "--dry-run") == 0
    assert "__consumer_offsets-0: compacted up to offset 9; of older commits only the latest are left" in (
        capsys.readouterr().out
    )
    (logs / "cleaner-offset-checkpoint").unlink()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--every", "often"], "every 'often' is neither commit nor an interval"),
        (["--every", "0m"], "every '0m' is neither"),
        (["--since", "soon"], "since: "),
        (["--option", "subscribe=orders"], "option subscribe cannot be given here"),
        (["--option", "isolationLevel=read_committed"], "option isolationLevel cannot be given here"),
        (["--option", "mode=PERMISSIVE"], "mode=PERMISSIVE"),
        (["--when-exists", "replace-partitions"], "when_exists must be replace-all or fail"),
    ],
)
def test_what_cannot_be_done_is_refused(
    arguments: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "lag", *SAMPLE, *arguments) == 2
    assert problem in capsys.readouterr().err


def test_without_groups_on_disk_the_error_says_what_is_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "lag", ROOT / "spark_jobs" / "sample" / "kafka-logs", "--dry-run") == 2
    assert "no partition of __consumer_offsets is in" in capsys.readouterr().err


def test_intervals_and_times() -> None:
    assert [parse_interval(text) for text in ("commit", "30s", "5m", "1h", "1d")] == [None, 30, 300, 3600, 86_400]
    assert [parse_time("since", text, milliseconds) for text in ("", "2026-11-20")] == [None, 1_795_132_800_000]
    with pytest.raises(ConfigError, match="until: "):
        parse_time("until", "2026-13-01", milliseconds)


def test_topics_are_matched_by_their_whole_names() -> None:
    assert pattern_of(["b.c", "a|b"]) == "a\\|b|b\\.c"
