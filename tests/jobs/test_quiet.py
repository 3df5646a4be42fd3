"""What a job prints on standard error: its own lines, and none of Java, Spark or pyspark."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spark_jobs.environment.jvm import interrupts_later, without_noise

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "spark_jobs" / "sample" / "kafka-logs"

DAEMON = [
    "Traceback (most recent call last):\n",
    '  File "/x/pyspark.zip/pyspark/daemon.py", line 264, in manager\n',
    '  File "/x/pyspark.zip/pyspark/daemon.py", line 95, in worker\n',
    "BrokenPipeError: [Errno 32] Broken pipe\n",
]


def test_what_means_nothing_to_the_user_is_left_out() -> None:
    lines = [
        "WARNING: Using incubator modules: jdk.incubator.vector\n",
        "/x/pyspark/bin/spark-class: line 97: CMD: bad array subscript\n",
        "JAVA_HOME is not set\n",
        "kafkalog: a note of the plan\n",
        "kafkalog: left out: 7 bytes\n",
        *DAEMON,
        "12:00:00 WARN TaskSchedulerImpl: no resources\n",
    ]
    kept = list(without_noise(lines, ["kafkalog: a note of the plan"]))
    assert kept == ["kafkalog: left out: 7 bytes\n", "12:00:00 WARN TaskSchedulerImpl: no resources\n"]


def test_lines_of_other_processes_may_stand_inside_a_traceback() -> None:
    note = "kafkalog: a note of the plan\n"
    mixed = [DAEMON[0], note, *DAEMON[1:3], note, DAEMON[3], "after\n"]
    assert list(without_noise(mixed, [note.rstrip("\n")])) == ["after\n"]


def test_the_first_line_of_a_traceback_alone_is_left_out() -> None:
    assert list(without_noise([DAEMON[0], "kafkalog: left out\n", *DAEMON, "after\n"], [])) == [
        "kafkalog: left out\n",
        "after\n",
    ]


@pytest.mark.parametrize(
    "traceback",
    [
        [*DAEMON[:-1], "MemoryError: no memory\n"],
        [DAEMON[0], '  File "/x/other.py", line 1\n', *DAEMON[1:]],
    ],
)
def test_other_tracebacks_are_printed(traceback: list[str]) -> None:
    assert list(without_noise(["before\n", *traceback, "after\n"], [])) == ["before\n", *traceback, "after\n"]


def test_an_interrupt_waits_until_a_jvm_has_started() -> None:
    """Otherwise the JVM, which does not know the job yet, would never end."""
    done, before = [], signal.getsignal(signal.SIGINT)

    def start() -> None:
        with interrupts_later():
            signal.raise_signal(signal.SIGINT)
            done.append("started")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert done == ["started"]
    assert signal.getsignal(signal.SIGINT) is before


def plain_environment() -> dict[str, str]:
    """The environment of a user who has configured nothing."""
    ours = ("SPARK_CONF_DIR", "SPARK_HOME", "SPARK_LOCAL_IP", "PYSPARK_PYTHON")
    return {name: value for name, value in os.environ.items() if name not in ours}


def run(code: str, *arguments: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    # As for an installed command, the current directory is not where Python looks for packages.
    command = [sys.executable, "-P", "-c", code, *map(str, arguments)]
    environment = plain_environment() | variables
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=600)


# Several runs in one process, which start one JVM. Each argument is a command line.
RUNS = """
import json, sys
from spark_jobs.log_to_parquet import main
sys.exit(",".join(str(main(json.loads(each))) for each in sys.argv[1:]))
"""
WITHOUT_PYSPARK = "import sys; sys.modules['pyspark'] = None; from spark_jobs.log_to_parquet import main; "


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_job_prints_its_own_lines_only(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    # Without the checkpoints of the log dir, the reader warns.
    shutil.copytree(SAMPLE / "c-zstd-0", good / "c-zstd-0")
    shutil.copytree(SAMPLE / "c-zstd-0", bad / "c-zstd-0")
    damaged = bad / "c-zstd-0" / "00000000000000000000.log"
    damaged.write_bytes(damaged.read_bytes()[:100] + b"\0\0" + damaged.read_bytes()[102:])
    # Workers must not look there either: it may be a checkout that is not compiled.
    (tmp_path / "kafkalog_source").mkdir()
    (tmp_path / "kafkalog_source" / "__init__.py").write_text("raise ImportError('from the current directory')")
    runs = [
        [str(good), "--output", "batch"],
        [str(good), "--output", "incremental", "--mode", "incremental", "--checkpoint", "checkpoint"],
        [str(bad), "--output", "other", "--mode", "incremental", "--checkpoint", "other-checkpoint"],
        [str(good), "--output", "batch", "--when-exists", "fail"],
    ]
    done = run(RUNS, *map(json.dumps, runs), cwd=tmp_path)
    assert done.stderr.count("\n") == 3, done.stderr
    of_damage, of_output, statuses = done.stderr.splitlines()
    assert of_damage.startswith(f"log_to_parquet: CorruptBatchError: {damaged}, position ")
    assert of_output == 'log_to_parquet: JobError: output batch exists, and when_exists is "fail"'
    assert statuses == "0,0,1,1"
    assert done.stdout.count("Note: ") == 2
    assert [path for name in ("batch", "incremental") for path in (tmp_path / name).rglob(".*")] == []

    code = WITHOUT_PYSPARK + "sys.exit(main(sys.argv[1:]))"
    again = run(code, *runs[1], cwd=tmp_path)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.splitlines()[-1] == "Nothing new since the last run; Parquet: incremental is unchanged"
    as_json = json.loads(run(code, *runs[1], "--json", cwd=tmp_path).stdout)
    assert (as_json["records"], as_json["mode"], as_json["output"]) == (0, "incremental", "incremental")


def test_without_java_a_run_is_refused_with_one_line(tmp_path: Path) -> None:
    done = run(
        "import sys; from spark_jobs.log_to_parquet import main; sys.exit(main(sys.argv[1:]))",
        SAMPLE,
        "--output",
        "out",
        cwd=tmp_path,
        JAVA_HOME=str(tmp_path / "none"),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("log_to_parquet: ConfigError: Spark could not start Java; install Java 17")
    assert done.stderr.count("\n") == 1


def test_without_pyspark_a_run_is_refused_with_one_line(tmp_path: Path) -> None:
    done = run(WITHOUT_PYSPARK + "sys.exit(main(sys.argv[1:]))", SAMPLE, "--output", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("log_to_parquet: ConfigError: pyspark is not installed")
    assert done.stderr.count("\n") == 1
