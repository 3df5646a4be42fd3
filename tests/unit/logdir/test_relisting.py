"""A listing that is made again sees what changed, and costs nothing where nothing did."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source.logdir import Relisting, list_logs, relisting
from tests.builders import Batch, partition_dir, write_segment

HOUR_AGO = 3600


def at_rest(*directories: Path) -> None:
    """Make it an hour since anything changed."""
    then = time.time() - HOUR_AGO
    for directory in directories:
        os.utime(directory, (then, then))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two partitions with three segments of ten offsets each."""
    for number in (0, 1):
        directory = partition_dir(tmp_path, "t", number)
        for base in (0, 10, 20):
            write_segment(directory, [Batch(base_offset=base)], base_offset=base, index=b"")
        at_rest(directory)
    at_rest(tmp_path)
    return tmp_path


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The directories that are listed."""
    found: list[str] = []
    whole = relisting.list_partition

    def noting(path: str, *rest: Any) -> Any:
        found.append(os.path.basename(path))
        return whole(path, *rest)

    monkeypatch.setattr(relisting, "list_partition", noting)
    return found


def bases(logs: Path, relisted: Relisting, **least: int) -> dict[int | None, list[int]]:
    listing = relisted.list({("t", int(name[1:])): offset for name, offset in least.items()})
    return {log.partition: [each.base_offset for each in log.segments] for log in listing.partitions}


def watch(logs: Path | str) -> Relisting:
    return Relisting([str(logs)], lambda *_: True)


def test_it_is_the_listing_that_anybody_makes(logs: Path) -> None:
    assert watch(logs).list({}) == list_logs([str(logs)], wanted=lambda *_: True)


def test_what_is_at_rest_is_listed_once(logs: Path, looked_at: list[str]) -> None:
    watched = watch(logs)
    first = watched.list({})
    assert watched.list({}) == first
    assert sorted(looked_at) == ["t-0", "t-1"]


def test_the_last_segment_is_looked_at_each_time(logs: Path, looked_at: list[str]) -> None:
    watched = watch(logs)
    watched.list({})
    with (logs / "t-0" / f"{20:020d}.log").open("ab") as file:
        file.write(Batch(base_offset=21).encode())
    assert watched.list({}) == list_logs([str(logs)], wanted=lambda *_: True)
    assert sorted(looked_at) == ["t-0", "t-1"]


def rolled(logs: Path) -> None:
    write_segment(logs / "t-0", b"", base_offset=30)


def deleted(logs: Path) -> None:
    (logs / "t-0" / f"{0:020d}.log").rename(logs / "t-0" / f"{0:020d}.log.deleted")


def compacted(logs: Path) -> None:
    path = logs / "t-0" / f"{10:020d}.log"
    path.rename(path.with_suffix(".log.deleted"))
    path.write_bytes(b"")


def replaced_in_place(logs: Path) -> None:
    path = logs / "t-1" / f"{20:020d}.log"
    path.unlink()
    path.write_bytes(b"new")
    at_rest(logs / "t-1")


def new_partition(logs: Path) -> None:
    write_segment(partition_dir(logs, "t", 2), b"")


def gone(logs: Path) -> None:
    (logs / "t-1").rename(logs / "t-1-moved-away")


def log_start(logs: Path) -> None:
    (logs / "log-start-offset-checkpoint").write_text("0\n1\nt 0 5\n")
    at_rest(logs)


@pytest.mark.parametrize("change", [rolled, deleted, compacted, replaced_in_place, new_partition, gone, log_start])
def test_a_change_is_seen(logs: Path, change: Callable[[Path], None]) -> None:
    watched = watch(logs)
    before = watched.list({})
    change(logs)
    after = watched.list({})
    assert after != before
    assert after == list_logs([str(logs)], wanted=lambda *_: True)


def test_a_directory_that_changed_just_now_is_not_trusted(logs: Path, looked_at: list[str]) -> None:
    rolled(logs)
    watched = watch(logs)
    watched.list({})
    watched.list({})
    assert sorted(looked_at) == ["t-0", "t-0", "t-1"]


def test_nothing_is_trusted_for_longer_than_a_minute(
    logs: Path, looked_at: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = watch(logs)
    watched.list({})
    now = time.time_ns()
    monkeypatch.setattr("kafkalog_source.logdir.relisting.time.time_ns", lambda: now + 61 * 10**9)
    watched.list({})
    assert sorted(looked_at) == ["t-0", "t-0", "t-1", "t-1"]


def test_what_a_pattern_matches_is_looked_up_each_time(logs: Path) -> None:
    watched = watch(f"{logs}/t-*")
    assert bases(logs, watched).keys() == {0, 1}
    new_partition(logs)
    assert bases(logs, watched).keys() == {0, 1, 2}


@pytest.mark.parametrize(
    ("least", "expected"),
    [(0, [0, 10, 20]), (9, [0, 10, 20]), (10, [10, 20]), (25, [20]), (99, [20])],
)
def test_segments_below_an_offset_are_left_out(logs: Path, least: int, expected: list[int]) -> None:
    assert bases(logs, watch(logs), p0=least) == {0: expected, 1: [0, 10, 20]}


def test_an_offset_below_the_last_one_brings_segments_back(logs: Path) -> None:
    watched = watch(logs)
    assert bases(logs, watched, p0=20)[0] == [20]
    assert bases(logs, watched, p0=30)[0] == [20]
    assert bases(logs, watched, p0=5)[0] == [0, 10, 20]


def test_a_finished_swap_below_the_offset_still_counts(logs: Path) -> None:
    write_segment(logs / "t-0", [Batch(base_offset=12), Batch(base_offset=29)], base_offset=10)
    path = logs / "t-0" / f"{10:020d}.log"
    path.rename(path.with_suffix(".log.swap"))
    listing = watch(logs).list({("t", 0): 25})
    assert [os.path.basename(each.path) for each in listing.partitions[0].segments] == [f"{10:020d}.log.swap"]
