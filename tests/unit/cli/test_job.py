"""``kafkalog job``: it lists the jobs, hands them their arguments, and writes example files."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from spark_jobs.common.config import build, load
from tests.builders import Batch, partition_dir, write_segment
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]

ROOT = Path(__file__).resolve().parents[3]
JOBS = sorted(path.stem for path in (ROOT / "conf").glob("*.toml"))


def test_every_job_is_listed(kafkalog: Kafkalog) -> None:
    shown = kafkalog("job", "--help").out
    listed = shown[shown.index("Commands:") : shown.index("examples:")]
    assert [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "] == [
        *JOBS,
        "init",
    ]


@pytest.mark.parametrize("name", ["log_to_parquet", "log-to-parquet"])
def test_a_job_gets_all_arguments_after_its_name(kafkalog: Kafkalog, tmp_path: Path, name: str) -> None:
    write_segment(partition_dir(tmp_path, "orders", 0), [Batch()])
    run = kafkalog("job", name, "--output", "out", tmp_path, "--dry-run")
    assert (run.status, run.err) == (0, "")
    assert run.out.splitlines()[-1] == "Nothing was written; the Parquet would go to out"


def test_a_job_reports_its_own_errors(kafkalog: Kafkalog, tmp_path: Path) -> None:
    run = kafkalog("job", "log_to_parquet", tmp_path / "none", "--output", "out")
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("log_to_parquet: LogDirError: ")


def test_a_misspelt_job_is_suggested(kafkalog: Kafkalog) -> None:
    assert "Did you mean 'log_to_parquet'?" in kafkalog("job", "log_to_parqet").err
    run = kafkalog("job", "init", "--job", "log_to_parqet")
    assert run.status == 2
    assert "Did you mean log_to_parquet?" in run.err


@pytest.mark.parametrize("job", JOBS)
def test_an_example_is_complete_without_a_checkout(kafkalog: Kafkalog, tmp_path: Path, job: str) -> None:
    directory = tmp_path / "a b"
    run = kafkalog("job", "init", directory, "--job", job)
    assert (run.status, run.err) == (0, "")
    config = directory / f"{job}.toml"
    files = {config, *(directory / f"kafkalog-{job}.{kind}" for kind in ("crontab", "service", "timer"))}
    assert set(directory.iterdir()) == files
    assert all(f"Written: {path}\n" in run.out for path in files)
    assert run.out.splitlines()[-1] == f"  kafkalog job {job} --config {config} --dry-run"
    text = config.read_text()
    assert not [word for word in ("spark_jobs", "conf/", "build/", "spark-submit spark") if word in text]
    shipped = build(import_module(f"spark_jobs.{job}").Config, load(ROOT / "conf" / f"{job}.toml"), "shipped")
    built = build(type(shipped), load(config), "example")
    assert built.input.paths == ("/backup/broker-1/kafka-logs",)
    assert (built.input.options, built.spark) == (shipped.input.options, shipped.spark)


def test_no_file_is_overwritten(kafkalog: Kafkalog, tmp_path: Path) -> None:
    timer = tmp_path / "kafkalog-log_to_parquet.timer"
    timer.write_text("mine")
    run = kafkalog("job", "init", tmp_path)
    assert (run.status, run.out) == (2, "")
    assert run.err == f"kafkalog: {timer} exists; nothing was written\n"
    assert list(tmp_path.iterdir()) == [timer]
    assert timer.read_text() == "mine"


@pytest.mark.skipif(shutil.which("flock") is None, reason="flock is not installed")
def test_the_line_for_cron_runs_the_job(kafkalog: Kafkalog, tmp_path: Path) -> None:
    directory = tmp_path / "a b"
    kafkalog("job", "init", directory)
    lines = (directory / "kafkalog-log_to_parquet.crontab").read_text().splitlines()
    (entry,) = [line for line in lines if not line.startswith("#")]
    # cron reads a bare % as the end of the line.
    assert "%" not in entry
    done = subprocess.run(["sh", "-c", entry.split(maxsplit=5)[5]], capture_output=True, text=True, check=True)
    assert done.stdout == "log_to_parquet failed\n"
    log = (directory / "log_to_parquet.log").read_text()
    assert log.startswith("log_to_parquet: LogDirError: /backup/broker-1/kafka-logs: no such file or directory")
