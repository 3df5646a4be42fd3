"""The table of a compacted topic: which record of a key it holds, and what it says of what it lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pytest

from spark_jobs.common.config import ConfigError, build, load
from spark_jobs.compacted.latest_by_key import SeveralPartitions, latest_by_key
from spark_jobs.compacted.moment import Moment, parse_moment
from spark_jobs.compacted_table import Config, Output, Table, main
from tests.builders import Batch, Header, Record, end_marker, partition_dir, write_segment
from tests.builders.v2 import SOME_TIME

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "spark_jobs" / "sample" / "kafka-logs"
CONFIG = ROOT / "conf" / "compacted_table.toml"

on_spark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("job_spark")]


def entry(key: str | None, value: str | None, second: int = 0, *headers: Header) -> Record:
    """A record, so many seconds after the first one."""
    return Record(
        None if key is None else key.encode(), None if value is None else value.encode(), headers, 1000 * second
    )


def write_log(root: Path, topic: str, partition: int, *segments: list[Record], start: int = 0) -> int:
    """Write a partition of one batch for each segment; returns the offset behind the last one."""
    for records in segments:
        write_segment(partition_dir(root, topic, partition), [Batch(records, start)], base_offset=start)
        start += len(records)
    return start


def transaction(base_offset: int, producer: int, records: list[Record], *, commit: bool) -> list[Batch]:
    """A transaction of one batch, and its marker."""
    last = base_offset + len(records)
    return [
        Batch(records, base_offset, transactional=True, producer_id=producer, producer_epoch=0, base_sequence=0),
        Batch(
            [end_marker(commit=commit)], last, transactional=True, control=True, producer_id=producer, producer_epoch=0
        ),
    ]


def at(second: int) -> str:
    return str(SOME_TIME + 1000 * second)


def rows(output: Path) -> list[tuple[str, int, str, str, int]]:
    """What the table holds: topic, partition, key, value, offset."""
    names = ("topic", "partition", "key", "value", "offset")
    table = ds.dataset(output).to_table().to_pylist()
    found = [tuple(each.decode() if isinstance(each, bytes) else each for each in map(row.get, names)) for row in table]
    return sorted(found)  # type: ignore[type-var,return-value]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    root = tmp_path / "logs"
    root.mkdir()
    (root / "cleaner-offset-checkpoint").write_text("0\n0\n")
    return root


class Job:
    """Runs the job and gives its summary."""

    def __init__(self, logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._logs, self._capsys = logs, capsys
        self.output = logs.parent / "table"

    def __call__(self, *more: str) -> dict[str, object]:
        self._capsys.readouterr()
        code = main([str(self._logs), "--output", str(self.output), "--json", *more])
        printed = self._capsys.readouterr()
        assert code == 0, printed.err
        return json.loads(printed.out)  # type: ignore[no-any-return]


@pytest.fixture
def job(logs: Path, capsys: pytest.CaptureFixture[str]) -> Job:
    return Job(logs, capsys)


class TestConfig:
    def test_the_shipped_file_shows_the_defaults(self) -> None:
        config = build(Config, load(CONFIG), "file")
        assert config.table == Table()
        assert config.output == Output(path=config.output.path)
        text = CONFIG.read_text(encoding="utf-8")
        keys = [*Output.__dataclass_fields__, *Table.__dataclass_fields__]
        assert [key for key in keys if f"\n{key} = " not in text and f"\n# {key} = " not in text] == []

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--option", "startingOffsets=earliest"], "the table is made from the beginning of the log"),
            (["--option", "endingTimestamp=5"], "use as_of or as_of_offsets"),
            (["--option", "view=damage"], "the table is made from records"),
            (["--option", "mode=permissive"], "use DROPMALFORMED"),
            (["--when-exists", "replace-partitions"], "replaced as a whole"),
            (["--as-of", "yesteday"], "as_of is neither end nor a time: not a time (found 'yesteday'"),
            (["--as-of", "5", "--as-of-offsets", '{"t": {"0": 1}}'], "both given; remove one of them"),
            (["--as-of-offsets", "5"], "must be a JSON object such as"),
            (["--as-of-offsets", '{"c-zstd": {"0": -7}}'], "-7"),
        ],
    )
    def test_what_makes_no_sense_is_one_line_and_exit_2(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
    ) -> None:
        assert main([str(SAMPLE), "--output", str(tmp_path / "out"), *arguments]) == 2
        printed = capsys.readouterr()
        assert printed.err.startswith("compacted_table: ")
        assert message in printed.err
        assert printed.err.count("\n") == 1


class TestMoment:
    @pytest.mark.parametrize(
        ("as_of", "time_ms"),
        [
            ("end", None),
            ("0", 0),
            ("1700000000001", 1_700_000_000_001),
            ("1970-01-01T01:00:00.001+01:00", 1),
            ("2026-01-31T12:00:00Z", 1_769_860_800_000),
            ("2026-01-31T12:00", 1_769_860_800_000),
            ("2026-01-31", 1_769_860_800_000 - 43_200_000),
        ],
    )
    def test_it_is_the_end_or_a_time(self, as_of: str, time_ms: int | None) -> None:
        assert parse_moment(as_of, {}) == Moment(time_ms)

    def test_it_is_told_in_utc(self) -> None:
        assert parse_moment("2026-01-31T12:00:00+02:00", {}).text == "2026-01-31T10:00:00Z"

    @pytest.mark.parametrize("as_of", ["2026-01-32", "1969-12-31T23:59:59Z", "9" * 18, ""])
    def test_what_is_no_time_or_out_of_reach_is_refused(self, as_of: str) -> None:
        with pytest.raises(ConfigError):
            parse_moment(as_of, {})


class TestPlan:
    def plan_notes(self, logs: Path, capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
        capsys.readouterr()
        assert main([str(logs), "--output", str(logs.parent / "out"), "--dry-run", "--json", *more]) == 0
        assert not (logs.parent / "out").exists()
        return json.loads(capsys.readouterr().out)["plan"]["warnings"]  # type: ignore[no-any-return]

    @pytest.mark.parametrize(
        ("cleaned", "moment", "lacks"),
        [
            (4, ["--as-of", at(2)], True),
            (3, ["--as-of", at(2)], False),
            (4, ["--as-of", at(3)], False),
            (4, [], False),
            (4, ["--as-of-offsets", '{"t": {"0": 3}}'], True),
            (4, ["--as-of-offsets", '{"t": {"0": 4}}'], False),
            (4, ["--as-of-offsets", '{"t": {"0": -1}}'], False),
        ],
    )
    def test_a_moment_that_the_cleaner_has_passed_is_told(
        self, logs: Path, capsys: pytest.CaptureFixture[str], cleaned: int, moment: list[str], lacks: bool
    ) -> None:
        write_log(logs, "t", 0, [entry("a", "1", second) for second in range(4)], [entry("a", "2", 9)])
        (logs / "cleaner-offset-checkpoint").write_text(f"0\n1\nt 0 {cleaned}\n")
        notes = self.plan_notes(logs, capsys, *moment)
        assert [note for note in notes if "may be missing" in note] == (
            [f"t-0: compacted up to offset {cleaned}, and offset 3 is already later than the moment; keys that were"
             " updated since may be missing"] if lacks else []
        )  # fmt: skip

    def test_without_the_cleaners_checkpoint_nobody_knows(self, logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write_log(logs, "t", 0, [entry("a", "1", second) for second in range(4)])
        (logs / "cleaner-offset-checkpoint").unlink()
        assert self.plan_notes(logs, capsys) == []
        notes = self.plan_notes(logs, capsys, "--as-of", at(1))
        assert any("t-0: no cleaner-offset-checkpoint shows how far" in note for note in notes)

    def test_an_open_transaction_is_told(self, logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
        opened = transaction(1, 7, [entry("a", "open")], commit=True)[:1]
        write_segment(partition_dir(logs, "t", 0), [Batch([entry("a", "1")]), *opened])
        assert any("t-0: a transaction is open" in note for note in self.plan_notes(logs, capsys))
        assert self.plan_notes(logs, capsys, "--option", "isolationLevel=read_uncommitted") == []


class TestTable:
    pytestmark = on_spark

    def test_the_highest_offset_of_a_key_wins_and_a_tombstone_deletes(self, logs: Path, job: Job) -> None:
        named = Header(b"h", b"x")
        write_log(
            logs,
            "t",
            0,
            [entry("a", "1", 9), entry("b", "1"), entry(None, "no key"), entry("c", "1")],
            [entry("a", "2", 1), entry("b", None, 2), entry("d", None), entry("", "empty key")],
            [entry("d", "back"), entry("e", "", 3, named), entry("c", None)],
        )
        write_log(logs, "u", 0, [entry("a", "of another topic")])
        summary = job()
        expected = [
            ("t", 0, "", "empty key", 7),
            ("t", 0, "a", "2", 4),
            ("t", 0, "d", "back", 8),
            ("t", 0, "e", "", 9),
            ("u", 0, "a", "of another topic", 0),
        ]
        assert rows(job.output) == expected
        counted = {name: summary[name] for name in ("records", "without_key", "deleted", "rows", "later", "damage")}
        assert counted == {"records": 12, "without_key": 1, "deleted": 2, "rows": 5, "later": 0, "damage": 0}
        topics = {topic["topic"]: (topic["records"], topic["rows"]) for topic in summary["topics"]}  # type: ignore[attr-defined]
        assert topics == {"t": (11, 4), "u": (1, 1)}
        table = ds.dataset(job.output).to_table()
        assert table.column_names == ["topic", "key", "value", "headers", "partition", "offset", "timestamp"]
        headers = {row["key"]: row["headers"] for row in table.to_pylist() if row["topic"] == "t"}
        assert headers[b"a"] is None
        assert headers[b"e"] == [{"key": "h", "value": b"x"}]
        # A second run gives the same, and a key that is gone from the log is gone from the table.
        job("--option", "subscribe=t")
        assert rows(job.output) == expected[:4]

    def test_what_was_aborted_or_is_open_never_wins(self, logs: Path, job: Job) -> None:
        batches = [
            Batch([entry("a", "1"), entry("b", "1")]),
            *transaction(2, 7, [entry("a", "aborted"), entry("b", None)], commit=False),
            *transaction(5, 8, [entry("a", "committed")], commit=True),
            *transaction(7, 9, [entry("a", "open")], commit=True)[:1],
        ]
        write_segment(partition_dir(logs, "t", 0), batches)
        job()
        assert rows(job.output) == [("t", 0, "a", "committed", 5), ("t", 0, "b", "1", 1)]
        job("--option", "isolationLevel=read_uncommitted")
        assert rows(job.output) == [("t", 0, "a", "open", 7)]

    def test_a_time_chooses_records_and_offsets_choose_among_them(self, logs: Path, job: Job) -> None:
        # The clock of the producer went back: offset 2 is older than offset 1, and still the later word.
        write_log(logs, "t", 0, [entry("a", "1", 1), entry("a", "2", 5)], [entry("a", "3", 3), entry("a", "4", 7)])
        expected = {0: [], 1: [(0, "1")], 2: [(0, "1")], 4: [(2, "3")], 5: [(2, "3")], 7: [(3, "4")]}
        for second in (0, 2, 5):
            summary = job("--as-of", at(second))
            assert [(offset, value) for _, _, _, value, offset in rows(job.output)] == expected[second]
            assert summary["later"] == {0: 4, 2: 3, 5: 1}[second]
        job("--as-of-offsets", '{"t": {"0": 2}}')
        assert rows(job.output) == [("t", 0, "a", "2", 1)]

    def test_a_key_in_several_partitions_is_told_and_may_be_merged(self, logs: Path, job: Job) -> None:
        # "a" moved to partition 1 when the topic grew; "b" was deleted there.
        write_log(logs, "t", 0, [entry("a", "old", 1), entry("b", "old", 1), entry("c", "1", 1)])
        write_log(logs, "t", 1, [entry("d", "1", 2), entry("a", "new", 2), entry("b", None, 2)])
        assert job()["in_several_partitions"] == 2
        apart = [("t", 0, "a", "old", 0), ("t", 0, "b", "old", 1), ("t", 0, "c", "1", 2)]
        assert rows(job.output) == [*apart, ("t", 1, "a", "new", 1), ("t", 1, "d", "1", 0)]
        assert job("--several-partitions", "latest-timestamp")["in_several_partitions"] == 2
        assert rows(job.output) == [("t", 0, "c", "1", 2), ("t", 1, "a", "new", 1), ("t", 1, "d", "1", 0)]

    @pytest.mark.parametrize("several_partitions", ["apart", "latest-timestamp"])
    def test_records_are_moved_once_and_sorted_once(
        self, job_spark: SparkSession, several_partitions: SeveralPartitions
    ) -> None:
        columns = "topic string, key binary, partition int, offset long, timestamp timestamp, value binary"
        records = job_spark.createDataFrame([("t", b"k", 0, 0, None, b"v")], columns)
        plan = latest_by_key(records, several_partitions)._jdf.queryExecution().executedPlan().toString()
        steps = [line.strip(" :+-").split("[")[0].split("(")[0].strip() for line in plan.splitlines()]
        moved = [step for step in steps if step.startswith(("Exchange", "Sort"))]
        assert sorted(moved) == ["Exchange hashpartitioning", "Sort", "SortAggregate"]

    def test_the_summary_is_a_table_for_people(self, logs: Path, job: Job, capsys: pytest.CaptureFixture[str]) -> None:
        write_log(logs, "t", 0, [entry("a", "1"), entry("b", None), entry(None, "x")])
        assert main([str(logs), "--output", str(job.output)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].split() == ["topic", "partitions", "segments", "size", "records", "rows"]
        assert [line.split()[-2:] for line in lines[1:3]] == [["3", "1"], ["3", "1"]]
        assert "Keys whose latest record is a tombstone, left out: 1" in lines
        assert "Records without a key, left out: 1" in lines
        assert main([str(logs), "--output", str(job.output), "--when-exists", "fail"]) == 1
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize(
    "start",
    [
        pytest.param(
            [Path(sys.executable).parent / "spark-submit", ROOT / "spark_jobs" / "compacted_table.py"],
            id="spark-submit",
        ),
        pytest.param([sys.executable, "-m", "spark_jobs.compacted_table"], id="python"),
    ],
)
def test_it_runs_as_a_program(tmp_path: Path, start: list[str | Path]) -> None:
    environment = os.environ | {"SPARK_CONF_DIR": str(ROOT / "conf"), "PYSPARK_PYTHON": sys.executable}
    command = [*start, SAMPLE, "--output", tmp_path / "out", "--option", "subscribe=c-zstd", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # spark-submit writes the warnings of Python's libraries to the same stream.
    assert json.loads(done.stdout[done.stdout.index("{\n") :])["records"] == 64
