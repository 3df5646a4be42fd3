"""What a replay refuses, and its plan: all that needs no broker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spark_jobs.common.config import build, load
from spark_jobs.replay.frame import HeaderNames
from spark_jobs.replay_to_kafka import Config, Output, main

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
        ([*BROKER, "--topic", "tx-a=a b"], "cannot be the name of a topic"),
        ([*BROKER, "--topic", "tx-a=x", "--topic", "c-zstd=x"], "would both go to x"),
        ([*BROKER, "--topic", "tx-b=x"], "tx-b, of which there is nothing to read"),
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
    assert "brokers at h:1 were not asked" in capsys.readouterr().out


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("job_spark")
def test_without_the_connector_it_says_what_to_add(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE), *BROKER]) == 2
    assert "--packages org.apache.spark:spark-sql-kafka-0-10_2.13:" in capsys.readouterr().err
