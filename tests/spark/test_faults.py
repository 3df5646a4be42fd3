"""Tasks that die, are slow or run twice change no row: none is lost and none comes twice."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kafkalog_source
from tests.spark.cluster import Cluster, SparkFailure
from tests.spark.killing import Killer, some_kinds
from tests.spark.large_logs import write_log_dir

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc"),
]
RUNS = 50
SPLITS = {"maxPartitionBytes": "600k"}
SLOW_FILES = {"slow": 0.1, "attempts": 1000}
ROW = ("topic", "partition", "offset", "key", "value", "headers", "timestamp", "timestampType")

Table = Callable[[], pa.Table]


@pytest.fixture(scope="module")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log_dir(tmp_path_factory.mktemp("faults") / "log")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def quiet(cluster: Cluster, log_dir: Path) -> pa.Table:
    """What a read gives that nothing befalls, and that is what there is."""
    cluster.plan()
    rows = cluster.rows(log_dir, **SPLITS)
    there = kafkalog_source.scan(str(log_dir)).to_table().select(["topic", "partition", "offset"])
    assert rows.select(there.column_names).to_pylist() == in_order(there)
    assert len(cluster.events()) > 2 * 15
    return rows


def in_order(table: pa.Table) -> list[dict[str, Any]]:
    """The rows by their places."""
    return table.sort_by([(name, "ascending") for name in ("topic", "partition", "offset")]).to_pylist()


def parquet_rows(directory: Path) -> list[dict[str, Any]]:
    return in_order(pq.read_table(directory).select(ROW))


@pytest.fixture(scope="module")
def scanned(log_dir: Path) -> list[dict[str, Any]]:
    return in_order(kafkalog_source.scan(str(log_dir)).to_table().select(ROW))


def interrupted(cluster: Cluster) -> int:
    """Reads that were begun and not ended."""
    told = Counter(event["what"] for event in cluster.events())
    return told["start"] - told["end"]


def test_a_killed_worker_and_a_killed_executor_change_no_row(cluster: Cluster, log_dir: Path, quiet: pa.Table) -> None:
    cluster.plan(**SLOW_FILES)
    with Killer(cluster, ("worker", "executor"), seed=3, seconds=2) as killer:
        rows = cluster.rows(log_dir, **SPLITS)
    assert killer.killed == ["worker", "executor"]
    assert rows.equals(quiet)


def check_once(cluster: Cluster, log_dir: Path, quiet: pa.Table, scanned: list[dict[str, Any]], seed: int) -> None:
    do = ("collect", "shuffle", "write")[seed % 3]
    if do != "write":
        assert cluster.rows(log_dir, do, **SPLITS).equals(quiet), f"seed {seed}"
        return
    out = log_dir.parent / "parquet"
    cluster.write(log_dir, out, **SPLITS)
    assert parquet_rows(out) == scanned, f"seed {seed}"


@pytest.mark.faults
def test_whatever_is_killed_when_the_rows_are_those_of_the_quiet_run(
    cluster: Cluster, log_dir: Path, quiet: pa.Table, scanned: list[dict[str, Any]]
) -> None:
    start = time.monotonic()
    killed: Counter[str] = Counter()
    cut_short = 0
    for seed in range(RUNS):
        cluster.plan(**SLOW_FILES)
        with Killer(cluster, some_kinds(seed), seed, seconds=2.5) as killer:
            check_once(cluster, log_dir, quiet, scanned, seed)
        killed.update(killer.killed)
        cut_short += interrupted(cluster)
        told = f"{seed + 1} runs, killed {dict(killed)}, {cut_short} reads cut short, {time.monotonic() - start:.0f} s"
        print(told, flush=True)
    assert killed.total() >= RUNS
    assert min(killed["worker"], killed["executor"]) >= RUNS // 5
    assert cut_short >= RUNS // 5


@pytest.mark.faults
@pytest.mark.parametrize("how", [{}, {"kill": True}], ids=["raises", "is killed"])
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_task_that_ends_after_some_batches_begins_anew(
    cluster: Cluster, log_dir: Path, scanned: list[dict[str, Any]], quiet: pa.Table, batches: int, how: dict[str, bool]
) -> None:
    # Whole segments, so that there is more than one batch in a task.
    cluster.plan(batches=batches, **how)
    assert cluster.rows(log_dir, maxPartitionBytes="64m", minPartitions="2").equals(quiet)
    faults = [event for event in cluster.events() if event["what"] == "fault"]
    assert faults
    assert {event["batches"] for event in faults} == {batches}
    cluster.plan(batches=batches, **how)
    out = log_dir.parent / "parquet"
    cluster.write(log_dir, out, maxPartitionBytes="64m", minPartitions="2")
    assert parquet_rows(out) == scanned
    assert any(event["what"] == "fault" for event in cluster.events())


@pytest.fixture
def speculative(tmp_path: Path) -> Iterator[Cluster]:
    settings = {"spark.speculation": "true", "spark.speculation.interval": "100ms"}
    settings |= {"spark.speculation.multiplier": "1.2", "spark.speculation.quantile": "0.2"}
    settings |= {"spark.speculation.minTaskRuntime": "100ms"}
    with Cluster(tmp_path, hosts=True, **settings) as started:
        yield started


@pytest.mark.faults
def test_a_second_attempt_beside_a_slow_one_changes_no_row(
    speculative: Cluster, log_dir: Path, scanned: list[dict[str, Any]], quiet: pa.Table
) -> None:
    slow = {"slow": 1.5, "every": 6}
    for do in ("collect", "shuffle"):
        speculative.plan(**slow)
        assert speculative.rows(log_dir, do, **SPLITS).equals(quiet)
        assert ran_beside(speculative)
    speculative.plan(**slow)
    out = log_dir.parent / "parquet"
    speculative.write(log_dir, out, **SPLITS)
    assert parquet_rows(out) == scanned
    assert ran_beside(speculative)


def ran_beside(cluster: Cluster) -> set[int]:
    """Tasks of which a second attempt began, with no fault in the first."""
    events = cluster.events()
    assert not [event for event in events if event["what"] == "fault"]
    return {event["task"] for event in events if event["attempt"] > 0}


@pytest.fixture
def soon_failing(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path, **{"spark.task.maxFailures": "3"}) as started:
        yield started


@pytest.mark.faults
def test_a_file_that_changes_before_the_retry_fails_the_job_and_says_so(soon_failing: Cluster, tmp_path: Path) -> None:
    wanted = {
        "replace": "the file is not the one that the read was planned for (found another file of this name)",
        "cut": "the file is not the one that the read was planned for "
        "(found {half} bytes, expected at least {size} bytes)",
        "remove": "the file was removed after the read was planned",
    }
    for change, message in wanted.items():
        log_dir = write_log_dir(tmp_path / change, segments=1)
        segment = log_dir / "orders-0/00000000000000000000.log"
        size = segment.stat().st_size
        soon_failing.plan(batches=1, **{change: str(segment)})
        with pytest.raises(SparkFailure) as caught:
            soon_failing.rows(log_dir, subscribe="orders", maxPartitionBytes="64m", minPartitions="1")
        told = str(caught.value)
        assert "kafkalog_source.errors.DataLossError: " in told
        assert f"{segment}: {message.format(size=size, half=size // 2)}" in told
        assert [event["what"] for event in soon_failing.events()][:2] == ["start", "fault"]
