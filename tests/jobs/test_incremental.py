"""Runs that read what is new: every record is written once, whatever happens in between."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from spark_jobs.log_to_parquet import main
from spark_jobs.parquet.checkpoint import positions_in
from tests.jobs.growing_log import GrowingLog, forget_last_commit

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("job_spark")]


@pytest.fixture
def log(tmp_path: Path) -> GrowingLog:
    log = GrowingLog(tmp_path / "logs")
    log.append(4)
    return log


def arguments(tmp_path: Path, *more: str) -> list[str]:
    places = ["--output", str(tmp_path / "out"), "--checkpoint", str(tmp_path / "checkpoint")]
    return [str(tmp_path / "logs"), "--mode", "incremental", *places, *more]


def places_written(output: Path) -> list[tuple[int, int]]:
    table = ds.dataset(output, partitioning="hive").to_table(columns=["partition", "offset"]).to_pydict()
    return sorted(zip(table["partition"], table["offset"], strict=True))


def test_two_runs_and_growth_in_between_give_every_record_once(
    tmp_path: Path, log: GrowingLog, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(tmp_path, "--json")) == 0, capsys.readouterr().err
    first = json.loads(capsys.readouterr().out)
    assert (first["records"], first["topics"][0]["records"]) == (80, 80)
    assert places_written(tmp_path / "out") == log.places

    log.append(3)
    assert main(arguments(tmp_path, "--dry-run", "--json")) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert 0 < plan["bytes"] < first["bytes"]
    assert main(arguments(tmp_path, "--show", "2")) == 0
    assert " 60 " in capsys.readouterr().out
    assert places_written(tmp_path / "out") == log.places

    assert main(arguments(tmp_path, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 0
    assert places_written(tmp_path / "out") == log.places


def test_a_micro_batch_that_comes_again_replaces_itself(tmp_path: Path, log: GrowingLog) -> None:
    assert main(arguments(tmp_path)) == 0
    log.append(2)
    assert main(arguments(tmp_path)) == 0
    forget_last_commit(tmp_path / "checkpoint")
    log.append(1)
    assert positions_in(str(tmp_path / "checkpoint")) == {"orders": {"0": 40, "1": 40}}
    assert main(arguments(tmp_path)) == 0
    assert places_written(tmp_path / "out") == log.places


class TestWhatDoesNotBelongTogetherIsRefused:
    @pytest.fixture(autouse=True)
    def done(self, tmp_path: Path, log: GrowingLog) -> None:
        assert main(arguments(tmp_path)) == 0

    def refused(self, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
        capsys.readouterr()
        assert main(arguments) == 2
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1)
        return printed.err

    def test_each_of_them(self, tmp_path: Path, log: GrowingLog, capsys: pytest.CaptureFixture[str]) -> None:
        written = places_written(tmp_path / "out")
        elsewhere = self.refused(capsys, arguments(tmp_path, "--output", str(tmp_path / "other")))
        assert "belongs to output" in elsewhere
        as_map = self.refused(capsys, arguments(tmp_path, "--headers", "map"))
        assert "belongs to headers array, not map" in as_map
        anew = self.refused(capsys, arguments(tmp_path, "--checkpoint", str(tmp_path / "new")))
        assert "belongs to another checkpoint" in anew
        assert not (tmp_path / "new").exists()
        batch = self.refused(capsys, [str(tmp_path / "logs"), "--output", str(tmp_path / "out")])
        assert 'mode = "incremental"' in batch
        assert places_written(tmp_path / "out") == written == log.places

        shutil.rmtree(tmp_path / "out")
        assert "does not have" in self.refused(capsys, arguments(tmp_path))
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "rows.parquet").touch()
        assert "rows of other runs" in self.refused(capsys, arguments(tmp_path))
        (tmp_path / "checkpoint" / "_kafkalog_stream.json").unlink()
        assert "was not written by this job" in self.refused(capsys, arguments(tmp_path))


@pytest.mark.slow
def test_runs_that_are_killed_give_every_record_once(tmp_path: Path) -> None:
    log = GrowingLog(tmp_path / "logs")
    bound = ["--option", "maxOffsetsPerTrigger=40"]
    command = [sys.executable, "-m", "spark_jobs.log_to_parquet", *arguments(tmp_path, *bound)]
    environment = os.environ | {"SPARK_CONF_DIR": str(ROOT / "conf"), "PYSPARK_PYTHON": sys.executable}
    chance, killed = random.Random(7), 0
    for _ in range(6):
        log.append(20)
        process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
        try:
            process.wait(chance.uniform(6, 25))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert killed > 0
    assert places_written(tmp_path / "out") == log.places
