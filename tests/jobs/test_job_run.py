"""The frame of the jobs: flags over the config file, exit codes, and where a checkpoint stands."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, NoReturn

import pytest

from kafkalog_source.errors import (
    CorruptBatchError,
    LogDirError,
    NotASegmentError,
    OptionError,
    PermissionDeniedError,
    ReadFailedError,
    UnsupportedFormatError,
)
from spark_jobs.common.config import ConfigError
from spark_jobs.common.input import JobInput, add_range_flags, input_with_flags
from spark_jobs.common.run import JobError, config_file, job_parser, run_job, with_given
from spark_jobs.common.sink import JobOutput, add_output_flags, output_with_flags
from spark_jobs.parquet.checkpoint import is_up_to_date, positions_in

STRATEGY = "startingOffsetsByTimestampStrategy"


@dataclass(frozen=True)
class Config:
    input: JobInput = field(default_factory=JobInput)


def test_flags_win_over_the_file_and_options_are_merged_whatever_their_case(tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    file.write_text('[input]\npaths = "a"\noptions = { subscribe = ["x", "y"], mode = "PERMISSIVE" }\n')
    flags = job_parser("job", "A job.").parse_args(["--config", str(file), "--option", "MODE=FAILFAST"])
    config = config_file(Config, flags)
    assert config.input == JobInput(("a",), {"subscribe": "x,y", "mode": "PERMISSIVE"})
    merged = input_with_flags(config.input, flags)
    assert merged == JobInput(("a",), {"subscribe": "x,y", "MODE": "FAILFAST", "now": merged.option("now", "")})
    assert (merged.option("mode", "?"), merged.option("view", "records")) == ("FAILFAST", "records")
    other = job_parser("job", "A job.").parse_args(["--config", str(file), "b", "c"])
    assert input_with_flags(config.input, other).paths == ("b", "c")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("path=elsewhere", "option path cannot be given here: give a PATH"),
        ("Paths=elsewhere", "option Paths cannot be given here: give a PATH"),
        ("columns=key", "unknown option columns"),
        ("threads=2", "unknown option threads"),
    ],
)
def test_options_that_a_job_gives_itself_are_refused(option: str, message: str) -> None:
    """A path among the options would be read, and escape the check that no output lies in an input."""
    flags = job_parser("job", "A job.").parse_args(["logs", "--option", option])
    with pytest.raises(ConfigError, match=message):
        input_with_flags(JobInput(), flags)


def test_relative_times_of_a_job_refer_to_one_time_in_all_its_reads() -> None:
    flags = job_parser("job", "A job.").parse_args(["logs"])
    source = input_with_flags(JobInput(), flags)
    assert abs(int(source.option("now", "")) - time.time() * 1000) < 60_000
    assert source.milliseconds("-2h") == int(source.option("now", "")) - 7_200_000


def test_the_time_and_the_zone_of_a_job_can_be_given() -> None:
    options = ["--option", "Now=2026-11-22T23:30Z", "--option", "timezone=Europe/Berlin"]
    source = input_with_flags(JobInput(), job_parser("job", "A job.").parse_args(["logs", *options]))
    assert source.option("now", "") == "1795390200000"
    assert source.milliseconds("today") == 1_795_388_400_000


@pytest.mark.parametrize(("given", "strategy"), [({}, "latest"), ({STRATEGY: "error"}, "error")])
def test_since_and_until_are_options_of_the_reader(given: dict[str, str], strategy: str) -> None:
    """A partition without a record since then is quiet, which is no error, unless the config says so."""
    parser = job_parser("job", "A job.")
    add_range_flags(parser)
    flags = parser.parse_args(["logs", "--since", "yesterday", "--until", "today"])
    source = input_with_flags(JobInput(options={"startingtimestamp": "0", **given}), flags)
    assert source.option("startingTimestamp", "") == "yesterday"
    assert source.option("endingTimestamp", "") == "today"
    assert source.option(STRATEGY, "") == strategy


def test_without_since_the_options_are_as_they_were() -> None:
    parser = job_parser("job", "A job.")
    add_range_flags(parser)
    source = input_with_flags(JobInput(), parser.parse_args(["logs"]))
    assert set(source.options) == {"now"}


def test_an_interrupted_job_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    def work(_: argparse.Namespace) -> NoReturn:
        raise KeyboardInterrupt

    assert run_job(job_parser("name", ""), work, []) == 130
    assert capsys.readouterr().err == "name: interrupted\n"


def test_a_wrong_zone_of_a_job_is_refused() -> None:
    flags = job_parser("job", "A job.").parse_args(["logs", "--option", "timeZone=Europe/Berln"])
    with pytest.raises(OptionError, match=r"Did you mean Europe/Berlin\?"):
        input_with_flags(JobInput(), flags)


def test_what_was_not_given_changes_nothing() -> None:
    output = JobOutput(path="p", max_records_per_file=7)
    assert with_given(output, path=None, max_records_per_file=0) == JobOutput(path="p")


def test_an_output_is_put_together_and_checked() -> None:
    parser = job_parser("job", "A job.")
    add_output_flags(parser)
    flags = parser.parse_args(["--format", "iceberg", "--table", "lake.db.t"])
    assert output_with_flags(JobOutput(), flags, ["in"]).place == "lake.db.t"
    with pytest.raises(ConfigError, match="a table, not a path"):
        output_with_flags(JobOutput(path="p"), flags, ["in"])


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), 2),
        (OptionError("x"), 2),
        (LogDirError("x"), 2),
        (NotASegmentError("x"), 2),
        (PermissionDeniedError("x"), 2),
        (ReadFailedError("x"), 1),
        (CorruptBatchError("x"), 1),
        (UnsupportedFormatError("x"), 1),
        (JobError("x"), 1),
        (PermissionError(13, "x"), 1),
    ],
)
def test_what_ends_a_job_is_one_line_and_an_exit_code(
    capsys: pytest.CaptureFixture[str], error: Exception, code: int
) -> None:
    def work(_: argparse.Namespace) -> NoReturn:
        raise error

    assert run_job(job_parser("name", ""), work, []) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("name: ")
    assert printed.err.count("\n") == 1


def test_an_error_of_the_job_itself_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(_: argparse.Namespace) -> NoReturn:
        raise ZeroDivisionError

    # Spark need not be there for that.
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    with pytest.raises(ZeroDivisionError):
        run_job(job_parser("name", ""), work, [])
    assert run_job(job_parser("name", ""), lambda _: None, []) == 0


def test_a_checkpoint_stands_behind_the_last_micro_batch_that_was_finished(tmp_path: Path) -> None:
    assert positions_in(str(tmp_path / "none")) is None
    for name in ("offsets", "commits"):
        (tmp_path / name).mkdir()
    for number in (8, 9, 10):
        text = f'v1\n{{"batchWatermarkMs":0}}\n{{"t":{{"0":{number}}}}}'
        (tmp_path / "offsets" / str(number)).write_text(text, encoding="utf-8")
    assert positions_in(str(tmp_path)) is None
    for name in ("8", "9", ".9.crc"):
        (tmp_path / "commits" / name).touch()
    assert positions_in(f"file:{tmp_path}") == {"t": {"0": 9}}


class TestUpToDate:
    """What an incremental run without Spark may conclude from a checkpoint."""

    SHAPE: ClassVar = {"headers": "array"}

    @pytest.fixture
    def output(self, tmp_path: Path) -> JobOutput:
        place, checkpoint = tmp_path / "out", tmp_path / "checkpoint"
        for path in (place, checkpoint / "offsets", checkpoint / "commits"):
            path.mkdir(parents=True)
        (checkpoint / "offsets" / "0").touch()
        (checkpoint / "commits" / "0").touch()
        mark = {"owner": "a", "format": "parquet", "output": str(place), "headers": "array"}
        (checkpoint / "_kafkalog_stream.json").write_text(json.dumps(mark))
        (place / "_kafkalog_stream.json").write_text(json.dumps({"owner": "a"}))
        return JobOutput(path=str(place))

    def test_all_that_was_planned_was_written(self, tmp_path: Path, output: JobOutput) -> None:
        assert is_up_to_date(f"file:{tmp_path}/checkpoint", output, self.SHAPE)

    def test_a_micro_batch_was_not_finished(self, tmp_path: Path, output: JobOutput) -> None:
        (tmp_path / "checkpoint" / "offsets" / "1").touch()
        assert not is_up_to_date(f"{tmp_path}/checkpoint", output, self.SHAPE)

    def test_the_output_is_gone_or_of_another_checkpoint(self, tmp_path: Path, output: JobOutput) -> None:
        mark = tmp_path / "out" / "_kafkalog_stream.json"
        mark.write_text('{"owner": "b"}')
        assert not is_up_to_date(f"{tmp_path}/checkpoint", output, self.SHAPE)
        mark.unlink()
        assert not is_up_to_date(f"{tmp_path}/checkpoint", output, self.SHAPE)

    def test_the_config_has_changed(self, tmp_path: Path, output: JobOutput) -> None:
        assert not is_up_to_date(f"{tmp_path}/checkpoint", output, {"headers": "map"})
        assert not is_up_to_date(f"{tmp_path}/checkpoint", replace(output, format="delta"), self.SHAPE)

    def test_only_spark_can_read_the_checkpoint(self, tmp_path: Path, output: JobOutput) -> None:
        assert not is_up_to_date(f"hdfs://{tmp_path}/checkpoint", output, self.SHAPE)
        assert not is_up_to_date(f"{tmp_path}/new", output, self.SHAPE)


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        ("kafkalog_source.errors.LogDirError: /x: no such file or directory", 2),
        ("kafkalog_source.errors.PermissionDeniedError: /x: permission denied", 2),
        ("kafkalog_source.errors.CorruptBatchError: /x: the batch's checksum is wrong", 1),
        ("kafkalog_source.errors.exit_status: no error", 1),
        ("ValueError: x", 1),
    ],
)
def test_an_error_that_spark_wraps_has_the_status_of_the_error(
    capsys: pytest.CaptureFixture[str], raised: str, code: int
) -> None:
    from pyspark.errors import PySparkException

    def work(_: argparse.Namespace) -> NoReturn:
        raise PySparkException(f"Traceback (most recent call last):\n  File x, line 3\n{raised}\n")

    assert run_job(job_parser("name", ""), work, []) == code
    assert raised.removeprefix("kafkalog_source.errors.") in capsys.readouterr().err
