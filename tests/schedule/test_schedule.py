"""The script that schedulers start, and the examples for cron and Airflow that start it."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEDULE = ROOT / "conf" / "schedule"
SCRIPT = SCHEDULE / "run_job.sh"
CRONTAB = SCHEDULE / "kafkalog.crontab"
DAG = SCHEDULE / "airflow_dag.py"
STILL_AT_WORK = 75

needs_flock = pytest.mark.skipif(shutil.which("flock") is None, reason="flock is not installed")


@pytest.fixture
def submit(tmp_path: Path) -> Path:
    """In the place of spark-submit: notes how it was called, and ends as the lines of ``statuses`` say."""
    program = tmp_path / "submit"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "$PWD|$SPARK_CONF_DIR|$*" >>"{tmp_path}/calls"\n'
        f'number=$(wc -l <"{tmp_path}/calls")\n'
        f'exit "$(sed -n "${{number}}p" "{tmp_path}/statuses")"\n'
    )
    program.chmod(0o755)
    return program


def run(submit: Path, *statuses: int, job: tuple[str, ...] = ("log_to_parquet",)) -> tuple[int, list[str], str]:
    """Give the script's exit status, the calls of spark-submit, and what the script said."""
    (submit.parent / "statuses").write_text("".join(f"{status}\n" for status in statuses))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    environment |= {"SPARK_SUBMIT": f"{submit} --master local", "RETRY_SECONDS": "0", "LOCK_DIR": str(submit.parent)}
    done = subprocess.run([SCRIPT, *job], env=environment, capture_output=True, text=True, check=False, cwd="/")
    calls = submit.parent / "calls"
    return done.returncode, calls.read_text().splitlines() if calls.exists() else [], done.stderr


@needs_flock
class TestScript:
    def test_it_starts_the_job_with_its_config_from_the_top_level(self, submit: Path) -> None:
        status, calls, _ = run(submit, 0, job=("log_to_parquet", "--option", "subscribe=a b"))
        job = "--master local spark_jobs/log_to_parquet.py --config conf/log_to_parquet.toml --option subscribe=a b"
        assert calls == [f"{ROOT}|{ROOT}/conf|{job}"]
        assert status == 0

    def test_a_failure_is_tried_again(self, submit: Path) -> None:
        status, calls, said = run(submit, 1, 1, 0)
        assert (status, len(calls)) == (0, 3)
        assert "attempt 3 of 3" in said

    def test_it_gives_up_with_the_status_of_the_last_attempt(self, submit: Path) -> None:
        status, calls, _ = run(submit, 1, 1, 137, 0)
        assert (status, len(calls)) == (137, 3)

    def test_a_config_that_makes_no_sense_is_not_tried_again(self, submit: Path) -> None:
        status, calls, _ = run(submit, 2, 0)
        assert (status, len(calls)) == (2, 1)

    def test_it_does_nothing_while_a_run_of_the_job_is_at_work(self, submit: Path) -> None:
        lock = submit.parent / "kafkalog-log_to_parquet.lock"
        with subprocess.Popen(["flock", lock, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdin is not None
            assert holder.stdout is not None
            holder.stdin.write(b"locked\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == b"locked\n"
            status, calls, said = run(submit, 0)
            other, other_calls, _ = run(submit, 0, job=("compacted_table",))
            holder.stdin.close()
        assert (status, calls) == (STILL_AT_WORK, [])
        assert "still at work" in said
        assert (other, len(other_calls)) == (0, 1)
        assert run(submit, 0, 0)[0] == 0

    def test_without_a_job_it_says_how_it_is_used(self, submit: Path) -> None:
        status, calls, said = run(submit, 0, job=())
        assert status != 0
        assert "usage" in said
        assert calls == []


def crontab_commands() -> list[str]:
    lines = [line for line in CRONTAB.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    entries = [line for line in lines if not re.match(r"\w+=", line)]
    assert all(re.match(r"([\d*/,-]+ ){5} *\S", entry) for entry in entries)
    return [entry.split(maxsplit=5)[5] for entry in entries]


def test_the_crontab_starts_what_exists() -> None:
    commands = crontab_commands()
    assert commands
    for command in commands:
        subprocess.run(["sh", "-n", "-c", command], check=True)
        # cron reads a bare % as the end of the line.
        assert "%" not in command
    programs = [shlex.split(command)[:2] for command in commands]
    assert (ROOT / programs[0][0].removeprefix("/opt/kafkalog/")).samefile(SCRIPT)
    assert (ROOT / "spark_jobs" / f"{programs[0][1]}.py").exists()
    assert (ROOT / "conf" / f"{programs[0][1]}.toml").exists()


def test_the_dag_compiles_and_starts_what_exists() -> None:
    source = DAG.read_text(encoding="utf-8")
    tree = ast.parse(source, DAG.name)
    compile(source, DAG.name, "exec")
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {"__future__", "datetime", "airflow.providers.standard.operators.bash", "airflow.sdk"}
    strings = " ".join(
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value.__class__ is str
    )
    for path in re.findall(r"\b(?:conf|spark_jobs)/[\w/]+\.\w+", strings):
        assert (ROOT / path).exists(), path
    for job in re.findall(r"spark_jobs\.(\w+)|run_job\.sh (\w+)", strings):
        assert (ROOT / "spark_jobs" / f"{''.join(job)}.py").exists(), job


def test_the_dag_and_the_script_agree_on_the_exit_status() -> None:
    assert f"exit {STILL_AT_WORK}\n" in SCRIPT.read_text(encoding="utf-8")
    assert f"\nSTILL_AT_WORK = {STILL_AT_WORK}\n" in DAG.read_text(encoding="utf-8")


def test_the_dag_is_one_of_airflow() -> None:
    pytest.importorskip("airflow.providers.standard", reason="Airflow is not installed")
    names: dict[str, object] = {"__name__": "dag"}
    exec(compile(DAG.read_text(encoding="utf-8"), DAG.name, "exec"), names)
    dag = names["log_to_parquet"].dag  # type: ignore[attr-defined]
    assert {task.task_id: task.upstream_task_ids for task in dag.tasks} == {"plan": set(), "log_to_parquet": {"plan"}}
    assert dag.max_active_runs == 1
