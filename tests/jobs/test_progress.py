"""The line of progress of a job: on a terminal only, with the tasks of its session."""

from __future__ import annotations

import sys
import time

import pytest
from pyspark.sql import SparkSession

from spark_jobs.environment.progress import progress_line


@pytest.mark.spark
def test_the_tasks_of_a_session_are_counted(
    job_spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_line("Copying") as progress:
        assert progress.tasks() is None
        progress.follow(job_spark)
        job_spark.sparkContext.parallelize(range(3), 3).map(lambda _: time.sleep(2)).collect()
        progress.unfollow()
        assert progress.tasks() is None
    assert "Copying" in capsys.readouterr().err


def test_a_log_file_gets_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_line("Copying") as progress:
        assert progress.tasks() is None
    assert capsys.readouterr().err == ""
