"""Log directories written back to a real broker, read back by Kafka's own consumer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import kafkalog_source
from spark_jobs.replay_to_kafka import main
from tests.broker.broker import NO_LOG, Broker, UnavailableError, running
from tests.broker.connector import connector_jars
from tests.builders import Batch, Header, Message, Record, end_marker, partition_dir, write_segment
from tests.builders.v2 import SOME_TIME

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.xdist_group("spark")]

ROOT = Path(__file__).resolve().parents[2]
ORIGIN = ("kafkalog.topic", "kafkalog.partition", "kafkalog.offset", "kafkalog.timestamp")

Row = tuple[str, int, str, str, list[str]]
"""Topic, partition, key, value and headers, as Replayed.java prints them."""


@pytest.fixture(scope="module")
def connector() -> list[Path]:
    try:
        return connector_jars()
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def broker(jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running(tmp_path_factory.mktemp("broker"), {"auto.create.topics.enable": "false"}) as started:
        yield started


@pytest.fixture(scope="module")
def session(connector: list[Path]) -> Iterator[None]:
    """Start a Spark that knows Kafka; the job takes the active session."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(map(str, connector)))
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    yield
    spark.stop()


class Cluster:
    """The broker with its tools, and the job against it."""

    def __init__(self, broker: Broker, jars: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.bootstrap = broker.bootstrap
        self._jars, self._capsys = jars, capsys

    def java(self, command: str, *arguments: object) -> str:
        program = Path(__file__).with_name("Replayed.java")
        line = ["java", NO_LOG, "-cp", self._jars, program, command, self.bootstrap, *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout

    def rows(self, *topics: str) -> list[Row]:
        found = []
        for line in self.java("read", *topics).splitlines():
            topic, partition, key, value, headers = line.split(" ")
            found.append((topic, int(partition), key, value, headers.split(",") if headers else []))
        # A consumer keeps the order within a partition alone, and so does a stable sort.
        return sorted(found, key=lambda row: row[:2])

    def replay(self, logs: Path, *more: str) -> dict[str, int]:
        code, out, err = self.run(logs, "--json", *more)
        assert code == 0, err
        return json.loads(out)  # type: ignore[no-any-return]

    def refused(self, logs: Path, *more: str) -> str:
        code, out, err = self.run(logs, *more)
        assert (code, out, err.count("\n")) == (1, "", 1), (code, out, err)
        return err

    def run(self, logs: Path, *more: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = main([str(logs), "--bootstrap-servers", self.bootstrap, *more])
        printed = self._capsys.readouterr()
        # Spark and Kafka's client log what they think of as worth it.
        err = "".join(line for line in printed.err.splitlines(True) if line.startswith("replay_to_kafka: "))
        return code, printed.out, err


@pytest.fixture
def cluster(broker: Broker, jars: str, session: None, capsys: pytest.CaptureFixture[str]) -> Cluster:
    return Cluster(broker, jars, capsys)


def text(content: bytes | None) -> str:
    return "-" if content is None else f"x{content.hex()}"


def expected(logs: Path, topic: str, target: str) -> list[Row]:
    """What the scan gives, in the order of offsets, with the headers of origin."""
    table = kafkalog_source.scan(logs, subscribe=topic, isolationLevel="read_committed").to_table()
    rows = []
    for row in table.sort_by([("partition", "ascending"), ("offset", "ascending")]).to_pylist():
        time_ms = None if row["timestamp"] is None else str(round(row["timestamp"].timestamp() * 1000))
        origin = dict(zip(ORIGIN, (topic, str(row["partition"]), str(row["offset"]), time_ms), strict=True))
        headers = [f"{header['key']}={text(header['value'])}" for header in row["headers"] or ()]
        headers += [f"{name}={text(value.encode())}" for name, value in origin.items() if value is not None]
        rows.append((target, row["partition"], text(row["key"]), text(row["value"]), headers))
    return rows


def plain(count: int, start: int = 0) -> Batch:
    """A batch of records whose times go up and down."""
    records = [
        Record(b"key %d" % (each % 7), b"value %d" % each, (), 1000 * (each * 5 % 11))
        for each in range(start, start + count)
    ]
    return Batch(records, start)


def aborted(base_offset: int) -> list[Batch]:
    ids = {"transactional": True, "producer_id": 7, "producer_epoch": 0}
    records = [Record(b"key 1", b"aborted")]
    return [
        Batch(records, base_offset, base_sequence=0, **ids),  # type: ignore[arg-type]
        Batch([end_marker(commit=False)], base_offset + 1, control=True, **ids),  # type: ignore[arg-type]
    ]


def test_every_record_arrives_in_its_partition_and_order_and_once_however_often_it_is_run(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.java("create", "orders-replay", 4, "old", 1)
    peculiar = [
        Record(None, b"no key"),
        Record(b"", b""),
        Record(b"deleted", None),
        Record(None, None, (Header(b"a", b"1"), Header(b"a", None), Header(b"b", b""))),
        Record(b"again", b"x", (Header(b"kafkalog.offset", b"99"),)),
    ]
    first = partition_dir(tmp_path, "orders", 0)
    write_segment(first, [Batch(peculiar), *aborted(5), plain(20, 7)])
    write_segment(first, [plain(300, 27)], base_offset=27)
    write_segment(partition_dir(tmp_path, "orders", 1), [plain(40)])
    write_segment(partition_dir(tmp_path, "orders", 3), [plain(40, 1000)], base_offset=1000)
    write_segment(
        partition_dir(tmp_path, "old", 0),
        [Message(b"k", b"without a time", 0, magic=0), Message(b"k", b"y", 1, magic=1, timestamp=SOME_TIME)],
    )
    arguments = ("--topic", "old=old", "--option", "maxPartitionBytes=2000", "--verify")
    summary = cluster.replay(tmp_path, *arguments)
    assert (summary["records"], summary["written"], summary["verified"]) == (407, 407, True)
    wanted = [*expected(tmp_path, "old", "old"), *expected(tmp_path, "orders", "orders-replay")]
    assert cluster.rows("old", "orders-replay") == wanted

    # The log has grown by the time of the second run.
    write_segment(partition_dir(tmp_path, "orders", 1), [plain(5, 40)], base_offset=40)
    summary = cluster.replay(tmp_path, *arguments)
    assert (summary["there"], summary["written"]) == (407, 5)
    wanted = [*expected(tmp_path, "old", "old"), *expected(tmp_path, "orders", "orders-replay")]
    assert cluster.rows("old", "orders-replay") == wanted
    assert cluster.replay(tmp_path, *arguments)["written"] == 0
    assert cluster.rows("old", "orders-replay") == wanted

    assert "not empty: " in cluster.refused(tmp_path, "--topic", "old=old", "--when-not-empty", "fail")
    only = ("--option", "subscribe=old", "--topic", "old=old", "--when-not-empty", "append")
    assert cluster.replay(tmp_path, *only)["written"] == 2
    assert cluster.rows("old") == expected(tmp_path, "old", "old") * 2


def test_a_target_that_will_not_do_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    cluster.java("create", "small", 2, "strange", 3, "holed", 3, "other", 3)
    write_segment(partition_dir(tmp_path, "t", 2), [plain(10)])
    assert "topic t-replay, the target of t, does not exist; create it" in cluster.refused(tmp_path)
    assert "topic small has 2 partitions" in cluster.refused(tmp_path, "--topic", "t=small")
    cluster.java("stranger", "strange")
    assert "that no replay of these topics wrote" in cluster.refused(tmp_path, "--topic", "t=strange")

    # The later half was replayed before the earlier one: what is missing cannot be put in between.
    later = ("--option", 'startingOffsets={"t": {"2": 4}}')
    assert cluster.replay(tmp_path, "--topic", "t=holed", *later)["written"] == 6
    assert "not the same records as the log: 6 of 10 records" in cluster.refused(tmp_path, "--topic", "t=holed")

    # A topic of the same name, partition and offsets, with other content.
    assert cluster.replay(tmp_path, "--topic", "t=other")["written"] == 10
    elsewhere = tmp_path / "elsewhere"
    write_segment(partition_dir(elsewhere, "t", 2), [Batch([Record(b"k", b"x")] * 12)])
    assert "with other keys, values or timestamps" in cluster.refused(elsewhere, "--topic", "t=other")


def test_brokers_that_do_not_answer_are_one_line(cluster: Cluster, tmp_path: Path) -> None:
    write_segment(partition_dir(tmp_path, "t", 0), [plain(1)])
    limits = ("--kafka", "default.api.timeout.ms=2000", "--kafka", "request.timeout.ms=1000")
    error = cluster.refused(tmp_path, "--bootstrap-servers", "127.0.0.1:1", *limits)
    assert "the brokers at 127.0.0.1:1 cannot be queried" in error


@pytest.mark.slow
def test_a_run_that_was_killed_is_taken_up_where_it_ended(
    cluster: Cluster, connector: list[Path], tmp_path: Path
) -> None:
    cluster.java("create", "large-replay", 2)
    for partition in range(2):
        batches = [plain(1000, 1000 * number) for number in range(150)]
        write_segment(partition_dir(tmp_path, "large", partition), batches)
    jars = ",".join(map(str, connector))
    environment = os.environ | {"PYSPARK_SUBMIT_ARGS": f"--master local[2] --jars {jars} pyspark-shell"}
    arguments = [str(tmp_path), "--bootstrap-servers", cluster.bootstrap, "--kafka", "linger.ms=0"]
    command = [sys.executable, "-m", "spark_jobs.replay_to_kafka", *arguments, "--kafka", "batch.size=200"]
    job = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    there: list[Row] = []
    while not there and job.poll() is None and time.monotonic() < deadline:
        there = cluster.rows("large-replay")
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    there = cluster.rows("large-replay")
    wanted = expected(tmp_path, "large", "large-replay")
    assert 0 < len(there) < len(wanted), "killed too early or too late to tell anything"
    summary = cluster.replay(tmp_path)
    assert (summary["there"], summary["written"]) == (len(there), len(wanted) - len(there))
    assert cluster.rows("large-replay") == wanted
