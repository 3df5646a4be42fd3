"""What a replay refuses, its plan, and what it writes: all that needs no broker."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from kafkalog_source import scan
from spark_jobs import replay_to_kafka
from spark_jobs.common.config import build, load
from spark_jobs.replay.frame import HeaderNames
from spark_jobs.replay.target import TargetTopic
from spark_jobs.replay_to_kafka import Config, Output, main
from tests.builders import Batch, Header, Record, partition_dir, write_segment

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "spark_jobs" / "sample" / "kafka-logs"
CONFIG = ROOT / "conf" / "replay_to_kafka.toml"
BROKER = ["--bootstrap-servers", "127.0.0.1:1"]


def test_the_shipped_file_shows_the_defaults() -> None:
    config = build(Config, load(CONFIG), "file")
    assert (config.output, config.headers, config.topics) == (Output(), HeaderNames(), {})
    text = CONFIG.read_text(encoding="utf-8")
    keys = [*Output.__dataclass_fields__, *HeaderNames.__dataclass_fields__]
    assert [key for key in keys if f"\n{key} = " not in text] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no broker"),
        ([*BROKER, "--option", "includeControlRecords=true"], "its own transaction markers"),
        ([*BROKER, "--option", "mode=PERMISSIVE"], "use DROPMALFORMED"),
        ([*BROKER, "--kafka", "acks=1"], "kafka.acks must be all"),
        ([*BROKER, "--kafka", "enable.idempotence=false"], "kafka.enable.idempotence must be true"),
        ([*BROKER, "--kafka", "transactional.id=secret"], "kafka.transactional.id cannot be given"),
        ([*BROKER, "--kafka", "acks"], "NAME=VALUE"),
        ([*BROKER, "--topic", "tx-a=a b"], "is not a valid topic name"),
        ([*BROKER, "--topic", "tx-a=x", "--topic", "c-zstd=x"], "would both be written to x"),
        ([*BROKER, "--topic", "tx-b=x"], "tx-b, but the input holds no records of it"),
        ([*BROKER, "--tasks", "-1"], "must not be negative"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([str(SAMPLE), *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("replay_to_kafka: ")
    assert message in printed.err
    assert "secret" not in printed.err
    assert printed.err.count("\n") == 1


def test_a_dry_run_names_the_targets_and_asks_no_broker(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE), *BROKER, "--dry-run", "--topic", "tx-a=elsewhere"]) == 0
    printed = capsys.readouterr().out
    assert "tx-a would go to elsewhere" in printed
    assert "c-zstd would go to c-zstd-replay" in printed
    assert "tx-a-0: a transaction is open" in printed
    assert main([str(SAMPLE), *BROKER, "--dry-run", "--json", "--option", "subscribe=tx-a"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["targets"] == {"tx-a": "tx-a-replay"}
    assert told["plan"]["partitions"] == 2


def test_names_with_dots_need_no_quotes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "job.toml"
    text = (
        f'[input]\npaths = ["{SAMPLE}"]\n[kafka]\nbootstrap.servers = "h:1"\n"acks" = "all"\nssl.key.password = "p"\n'
    )
    config.write_text(text, encoding="utf-8")
    assert main(["--config", str(config), "--dry-run"]) == 0
    assert "brokers at h:1 were not contacted" in capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("job_spark")
def test_without_the_connector_it_says_what_to_add(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE), *BROKER]) == 2
    assert "--packages org.apache.spark:spark-sql-kafka-0-10_2.13:" in capsys.readouterr().err


class FilesForBrokers:
    """Takes what a replay sends, as Parquet; topics have four partitions."""

    def __init__(self, place: Path, patch: pytest.MonkeyPatch) -> None:
        self.place = place
        for name in ("target_topics", "read_target", "write_target"):
            patch.setattr(replay_to_kafka, name, getattr(self, name))
        patch.setattr(replay_to_kafka, "check_connector", lambda _: None)

    def target_topics(self, _: SparkSession, settings: Mapping[str, str], names: Sequence[str]) -> dict[str, Any]:
        assert settings["bootstrap.servers"] == BROKER[1]
        return {name: TargetTopic(4, is_empty=not self.place.exists()) for name in names}

    def read_target(self, spark: SparkSession, _: Mapping[str, str], names: Sequence[str]) -> DataFrame:
        frame = spark.read.parquet(str(self.place))
        return frame.where(frame["topic"].isin(list(names)))

    def write_target(self, frame: DataFrame, _: Mapping[str, str]) -> None:
        frame.write.mode("append").parquet(str(self.place))

    def rows(self) -> list[tuple[Any, ...]]:
        """What was sent: topic, partition, key, value, headers."""
        names = ("topic", "partition", "key", "value", "headers")
        rows = [[row[name] for name in names] for row in pq.read_table(self.place).to_pylist()]
        return sorted((*row[:-1], [(each["key"], each["value"]) for each in row[-1]]) for row in rows)


def expected(logs: Path) -> list[tuple[Any, ...]]:
    """Every record with the headers of its origin behind its own."""
    rows = []
    for row in scan(logs, includeHeaders=True).to_table().to_pylist():
        time = round(row["timestamp"].timestamp() * 1000)
        origin = zip(
            ("topic", "partition", "offset", "timestamp"),
            (row["topic"], row["partition"], row["offset"], time),
            strict=True,
        )
        headers = [(each["key"], each["value"]) for each in row["headers"] or ()]
        headers += [(f"kafkalog.{name}", str(value).encode()) for name, value in origin]
        rows.append((f"{row['topic']}-replay", row["partition"], row["key"], row["value"], headers))
    return sorted(rows)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("job_spark")
def test_a_replay_sends_every_record_once_however_often_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    brokers, logs = FilesForBrokers(tmp_path / "sent", monkeypatch), tmp_path / "logs"

    def replay() -> dict[str, Any]:
        assert main([str(logs), *BROKER, "--verify", "--json"]) == 0
        summary: dict[str, Any] = json.loads(capsys.readouterr().out)
        return summary

    def some(base_offset: int) -> list[Batch]:
        record = Record(b"key", b"%d" % base_offset, (Header(b"own", b"1"),), 7)
        return [Batch([record], base_offset), Batch([Record(b"other", None)], base_offset + 1)]

    write_segment(partition_dir(logs, "orders", 0), some(0))
    write_segment(partition_dir(logs, "orders", 3), some(100), base_offset=100)
    summary = replay()
    assert (summary["records"], summary["there"], summary["written"]) == (4, 0, 4)
    assert brokers.rows() == expected(logs)
    # The log has grown by the time of the second run.
    write_segment(partition_dir(logs, "orders", 0), some(2), base_offset=2)
    summary = replay()
    assert (summary["records"], summary["there"], summary["written"]) == (6, 4, 2)
    assert brokers.rows() == expected(logs)
