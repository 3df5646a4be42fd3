"""The main job, from its config file to the Parquet."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from kafkalog_source import scan
from spark_jobs.common.config import build, load
from spark_jobs.log_to_parquet import Config, Output, Run, main
from spark_jobs.parquet.decode import Decode
from tests.builders import Batch, encode, partition_dir, write_segment

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "spark_jobs" / "sample" / "kafka-logs"
JOB = ROOT / "spark_jobs" / "log_to_parquet.py"
CONFIG = ROOT / "conf" / "log_to_parquet.toml"
RECORDS = {
    "c-zstd": 64,
    "tx-a": 512,
    "up-all-codecs": 210,
    "v0-mixcodec": 250,
    "v1-lat-gzip": 220,
    "v2-mixed": 360,
}

on_spark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("job_spark")]


def parquet_rows(output: Path) -> list[dict[str, object]]:
    table = ds.dataset(output, partitioning="hive").to_table()
    return sorted(table.to_pylist(), key=lambda row: (row["topic"], row["partition"], row["offset"]))


def test_the_shipped_config_shows_the_defaults() -> None:
    config = build(Config, load(CONFIG), "file")
    assert config.output == Output(path="build/demo")
    assert config.show == Config().show
    assert config.input.options == {}
    assert config == replace(Config(), input=config.input, output=config.output)
    text = CONFIG.read_text(encoding="utf-8")
    missing = [key for kind in (Output, Run, Decode) for key in kind.__dataclass_fields__ if f"\n{key} = " not in text]
    assert missing == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no input"),
        ([str(SAMPLE)], "no output"),
        ([str(SAMPLE), "--output", str(SAMPLE / "out")], "overlap"),
        ([str(SAMPLE), "--output", "out", "--option", "subscribe"], "must be NAME=VALUE"),
        ([str(SAMPLE), "--output", "out", "--option", "subscrib=a"], "Did you mean subscribe?"),
        ([str(SAMPLE), "--output", "out", "--option", "threads=2"], "unknown option threads"),
        ([str(SAMPLE), "--output", "out", "--show", "-1"], "must not be negative"),
        ([str(SAMPLE), "--output", "out", "--target-file-bytes", "-1"], "must not be negative"),
        ([str(SAMPLE), "--output", "out", "--checkpoint", "c"], 'needs run.mode = "incremental"'),
        ([str(SAMPLE), "--output", "out", "--mode", "incremental"], "needs --checkpoint"),
        ([str(SAMPLE), "--output", "out", "--mode", "incremental", "--checkpoint", "out/c"], "overlap"),
        ([str(SAMPLE), "--output", "out", "--mode", "incremental", "--checkpoint", str(SAMPLE / "c")], "overlap"),
        (
            [str(SAMPLE), "--output", "o", "--mode", "incremental", "--checkpoint", "c", "--when-exists", "fail"],
            "incremental runs append",
        ),
        ([str(SAMPLE), "--output", "out", "--format", "iceberg"], "needs --table"),
        ([str(SAMPLE), "--output", "out", "--table", "a.b"], "a path, not a table"),
        ([str(SAMPLE), "--output", "out", "--table", "a.b", "--format", "iceberg"], "a table, not a path"),
        (["--config", "none.toml"], "No such file"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_one_line_and_exit_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("log_to_parquet: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1


def test_an_unknown_key_of_the_config_is_one_line_that_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "job.toml"
    config.write_text('[output]\npath = "o"\ncompresion = "zstd"\n', encoding="utf-8")
    assert main(["--config", str(config)]) == 2
    assert capsys.readouterr().err.endswith("output: unknown key 'compresion'; did you mean 'compression'?\n")


def test_an_input_that_is_not_there_is_one_line_and_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nothing"), "--output", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_dry_run_prints_the_plan_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    assert main([str(SAMPLE), "--output", str(output), "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()[1:8]] == [*RECORDS, "total"]
    assert "Splits: 1" in printed
    assert not output.exists()


def test_a_dry_run_as_json_counts_what_is_on_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(SAMPLE), "--output", str(tmp_path / "out"), "--dry-run", "--json"]
    assert main([*arguments, "--option", "subscribe=tx-a"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    segments = list(SAMPLE.glob("tx-a-*/*.log"))
    size = sum(path.stat().st_size for path in segments)
    topic = {"topic": "tx-a", "partitions": 2, "segments": len(segments), "bytes": size}
    assert plan["topics"] == [topic]
    assert (plan["partitions"], plan["segments"], plan["bytes"]) == (2, len(segments), size)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("job") / "out"


class TestOnSpark:
    pytestmark = on_spark

    def run(self, output: Path, *more: str) -> int:
        return main([str(SAMPLE), "--output", str(output), *more])

    def test_the_parquet_holds_every_record_once(self, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run(output, "--show", "3") == 0
        expected = scan(str(SAMPLE)).to_table().to_pylist()
        expected.sort(key=lambda row: (row["topic"], row["partition"], row["offset"]))
        written = parquet_rows(output)
        names = ("topic", "partition", "offset", "timestampType", "key", "value")
        assert [[row[name] for name in names] for row in written] == [[row[name] for name in names] for row in expected]
        printed = capsys.readouterr().out
        assert "Damage: none" in printed
        assert f"Parquet: {output}" in printed

    def test_a_second_run_changes_nothing(self, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.run(output)
        before = parquet_rows(output)
        capsys.readouterr()
        assert self.run(output, "--json") == 0
        summary = json.loads(capsys.readouterr().out)
        assert {topic["topic"]: topic["records"] for topic in summary["topics"]} == RECORDS
        assert summary["records"] == sum(RECORDS.values())
        assert summary["damage"] == 0
        assert parquet_rows(output) == before

    def test_other_topics_stay_where_one_is_replaced(self, output: Path) -> None:
        self.run(output)
        assert self.run(output, "--option", "assign=" + json.dumps({"tx-a": [1]}), "--show", "0") == 0
        counts = Counter(row["topic"] for row in parquet_rows(output))
        assert counts["v2-mixed"] == RECORDS["v2-mixed"]

    def test_replace_all_leaves_this_read_alone(self, output: Path) -> None:
        arguments = ("--option", "subscribe=c-zstd", "--when-exists", "replace-all", "--show", "0")
        assert self.run(output, *arguments) == 0
        assert Counter(row["topic"] for row in parquet_rows(output)) == {"c-zstd": 64}

    def test_fail_stops_before_anything_is_written(self, output: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.run(output)
        before = parquet_rows(output)
        capsys.readouterr()
        assert self.run(output, "--when-exists", "fail", "--show", "0") == 1
        assert capsys.readouterr().err.count("\n") == 1
        assert parquet_rows(output) == before

    def test_a_damaged_batch_is_one_line_that_names_the_file(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        source = (SAMPLE / "c-zstd-0" / "00000000000000000000.log").read_bytes()
        damaged = tmp_path / "logs" / "t-0" / "00000000000000000000.log"
        damaged.parent.mkdir(parents=True)
        damaged.write_bytes(source[:100] + bytes([source[100] ^ 1]) + source[101:])
        assert main([str(tmp_path / "logs"), "--output", str(tmp_path / "out")]) == 1
        printed = capsys.readouterr()
        assert str(damaged) in printed.err
        assert "CorruptBatchError" in printed.err
        for mode, corrupt in (("DROPMALFORMED", 0), ("PERMISSIVE", 1)):
            output = tmp_path / mode
            arguments = [str(tmp_path / "logs"), "--output", str(output), "--option", f"mode={mode}", "--json"]
            assert main(arguments) == 0
            summary = json.loads(capsys.readouterr().out)
            assert summary["damage"] == 1
            assert summary["records"] + corrupt == len(parquet_rows(output))

    def test_what_was_left_out_is_named_before_the_error_of_a_later_segment(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        logs = partition_dir(tmp_path / "logs", "orders", 0)
        damaged = bytearray(encode([Batch(base_offset=i) for i in range(3)]))
        damaged[len(damaged) // 2] ^= 1
        write_segment(logs, bytes(damaged))
        write_segment(logs, [Batch(base_offset=9)], base_offset=9)
        arguments = [str(logs), "--output", str(tmp_path / "out"), "--option", "mode=DROPMALFORMED"]
        assert main(arguments) == 1
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 2, err
        left_out, error = err.splitlines()
        assert left_out.startswith(f"log_to_parquet: left out: {logs / f'{0:020d}.log'}, position ")
        assert left_out.endswith("bytes damaged, offset 1: the batch's checksum is wrong")
        assert "DataLossError" in error
        assert "offsets 3 to 8 are not on disk" in error

    @pytest.mark.parametrize(
        "place", [["--format", "delta", "--output", "o"], ["--format", "iceberg", "--table", "l.t"]]
    )
    def test_a_format_that_is_not_there_is_one_line_that_says_what_to_add(
        self, capsys: pytest.CaptureFixture[str], place: list[str]
    ) -> None:
        assert main([str(SAMPLE), *place]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        assert "spark-submit --packages" in printed.err


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(
    "start",
    [
        pytest.param([Path(sys.executable).parent / "spark-submit", JOB], id="spark-submit"),
        pytest.param([sys.executable, "-m", "spark_jobs.log_to_parquet"], id="python", marks=pytest.mark.slow),
    ],
)
def test_it_runs_as_a_program(tmp_path: Path, start: list[str | Path]) -> None:
    environment = os.environ | {"SPARK_CONF_DIR": str(ROOT / "conf"), "PYSPARK_PYTHON": sys.executable}
    # spark-submit brings Python's error stream, and with it warnings of other packages, to the standard output.
    environment["PYTHONWARNINGS"] = "ignore"
    command = [*start, SAMPLE, "--output", tmp_path / "out", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["records"] == sum(RECORDS.values())
