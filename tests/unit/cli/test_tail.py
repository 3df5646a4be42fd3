"""`tail`: the last records, however they are spread over batches and offsets, and those that are added."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafkalog_source import scan
from kafkalog_source.cli import tail
from tests.builders import Batch, Record, end_marker, partition_dir, write_segment
from tests.unit.cli.conftest import Run

Kafkalog = Callable[..., Run]


def _offsets(run: Run) -> list[int]:
    assert run.status == 0
    # There are no records between the two segments.
    assert not run.err or ("offsets 106 to 499 are neither" in run.err and len(run.err.splitlines()) == 1)
    return [int(line.rpartition("@")[2]) for line in run.out.splitlines()]


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    """Offsets 0 to 9, 100 to 104, a marker at 105, and 500, in two segments."""
    directory = partition_dir(tmp_path, "orders", 0)
    first = [Record(b"k%d" % at, offset_delta=at) for at in range(10)]
    second = [Record(b"k%d" % at, offset_delta=at) for at in range(5)]
    marker = Batch([end_marker(commit=True)], base_offset=105, producer_id=1, transactional=True, control=True)
    write_segment(directory, [Batch(first), Batch(second, base_offset=100), marker])
    write_segment(directory, [Batch([Record(b"k5")], base_offset=500)], base_offset=500)
    return directory


ALL = [*range(10), *range(100, 105), 500]


@pytest.mark.parametrize("count", [0, 1, 2, 6, 7, 15, 16, 17, 1000])
def test_the_last_records_over_gaps_and_segments(kafkalog: Kafkalog, orders: Path, count: int) -> None:
    run = kafkalog("tail", orders, "-n", count, "--columns", "topic,partition,offset")
    assert _offsets(run) == (ALL[-count:] if count else [])


def test_ten_by_default(kafkalog: Kafkalog, orders: Path) -> None:
    assert _offsets(kafkalog("tail", orders, "--columns", "topic,partition,offset")) == ALL[-10:]


def test_filters_come_first(kafkalog: Kafkalog, orders: Path) -> None:
    assert kafkalog("tail", orders, "-n", "2", "--key", "re:^k[34]$", "--format", "%o %k\n").out == "103 k3\n104 k4\n"
    assert kafkalog("tail", orders, "-n", "3", "--key", "k9", "--columns", "offset").out == "offset=9\n"
    assert kafkalog("tail", orders, "-n", "1", "--key", "none").out == ""


def test_each_partition_has_its_own(kafkalog: Kafkalog, orders: Path) -> None:
    write_segment(partition_dir(orders.parent, "orders", 1), [Batch([Record()] * 3, base_offset=7)], base_offset=7)
    write_segment(partition_dir(orders.parent, "alone", 0), b"")
    run = kafkalog("tail", orders.parent, "-n", "2", "--json", "--columns", "partition,offset")
    assert run.out.splitlines() == [
        '{"partition": 0, "offset": 104}',
        '{"partition": 0, "offset": 500}',
        '{"partition": 1, "offset": 8}',
        '{"partition": 1, "offset": 9}',
    ]


@pytest.mark.parametrize("case", ["v2-4.4", "v0-2.8", "compact-2.8", "txn-4.4"])
@pytest.mark.parametrize("count", [1, 25])
def test_real_logs(kafkalog: Kafkalog, fixture_case: Callable[[str], Path], case: str, count: int) -> None:
    log = fixture_case(case) / "log"
    by_place: dict[tuple[str, int], list[int]] = {}
    for row in scan(log, columns=("topic", "partition", "offset")).to_table().to_pylist():
        by_place.setdefault((row["topic"], row["partition"]), []).append(row["offset"])
    run = kafkalog("tail", log, "-n", count, "--format", "%t %p %o\n")
    expected = [f"{t} {p} {offset}" for (t, p), offsets in sorted(by_place.items()) for offset in offsets[-count:]]
    assert run.out.splitlines() == expected


def test_only_committed_records(kafkalog: Kafkalog, tmp_path: Path) -> None:
    open_one = Batch([Record()], base_offset=2, producer_id=1, transactional=True)
    write_segment(partition_dir(tmp_path, "orders", 0), [Batch([Record()] * 2), open_one])
    flags = ["--columns", "topic,partition,offset"]
    assert _offsets(kafkalog("tail", tmp_path, *flags)) == [0, 1, 2]
    assert _offsets(kafkalog("tail", tmp_path, *flags, "-o", "isolationLevel=read_committed")) == [0, 1]


def test_a_batch_that_is_being_written_is_no_damage(kafkalog: Kafkalog, orders: Path) -> None:
    segment = orders / "00000000000000000500.log"
    segment.write_bytes(segment.read_bytes() + Batch([Record()] * 3, base_offset=501).encode()[:-1])
    assert _offsets(kafkalog("tail", orders, "-n", "1", "--columns", "topic,partition,offset")) == [500]


def test_damage_ends_it_or_is_reported(kafkalog: Kafkalog, orders: Path) -> None:
    segment = orders / "00000000000000000000.log"
    content = bytearray(segment.read_bytes())
    content[-1] ^= 1
    segment.write_bytes(content)
    run = kafkalog("tail", orders)
    assert run.status == 1
    assert "checksum" in run.err
    run = kafkalog("tail", orders, "-n", "2", "-o", "mode=DROPMALFORMED", "--columns", "offset")
    assert run.out == "offset=104\noffset=500\n"
    assert " bytes damaged, " in run.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["-n", "-1"], "-1"),
        (["--subscribe", "oders"], "not found: oders"),
        (["-o", "view=batches"], "view"),
        (["-o", "endingOffsets=latest"], "endingOffsets"),
        (["--format", "%q"], "%q"),
        (["--columns", "nonsense"], "nonsense"),
        (["--grep", "("], "--grep"),
    ],
)
def test_what_cannot_run_is_one_line(kafkalog: Kafkalog, orders: Path, flags: list[str], said: str) -> None:
    run = kafkalog("tail", orders.parent, *flags)
    assert (run.status, run.out, len(run.err.splitlines())) == (2, "", 1)
    assert said in run.err


def test_it_says_if_nothing_was_chosen(kafkalog: Kafkalog, orders: Path) -> None:
    run = kafkalog("tail", orders.parent, "--subscribe-pattern", "no such.*")
    assert (run.status, run.out) == (0, "")
    assert run.err == "kafkalog: warning: no partition was selected; kafkalog ls lists all of them\n"


def test_following(kafkalog: Kafkalog, orders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segment = orders / "00000000000000000500.log"
    whole = Batch([Record(b"new")] * 2, base_offset=501).encode()

    def changes() -> Iterator[None]:
        yield
        segment.write_bytes(segment.read_bytes() + whole[:-5])
        yield
        segment.write_bytes(segment.read_bytes() + whole[-5:])
        yield
        write_segment(orders, [Batch([Record(b"rolled")], base_offset=503)], base_offset=503)
        write_segment(partition_dir(orders.parent, "orders", 1), [Batch([Record(b"other")])])
        yield

    steps = changes()

    def sleep(_: float) -> None:
        if next(steps, "end") == "end":
            raise KeyboardInterrupt

    monkeypatch.setattr(tail.time, "sleep", sleep)
    run = kafkalog("tail", orders.parent, "-n", "1", "-f", "--format", "%p %o %k\n")
    assert run.out.splitlines() == ["0 500 k5", "0 501 new", "0 502 new", "0 503 rolled", "1 0 other"]
    assert (run.status, run.err) == (130, "")


def test_following_writes_at_once(orders: Path) -> None:
    command = [sys.executable, "-m", "kafkalog_source.cli", "tail", str(orders), "-n", "1", "-f", "--format", "%o\n"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "500\n"
        segment = orders / "00000000000000000500.log"
        segment.write_bytes(segment.read_bytes() + Batch([Record()], base_offset=501).encode())
        assert process.stdout.readline() == "501\n"
        process.terminate()
