"""Directories that a broker changes while they are listed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafkalog_source.errors import LogDirError
from kafkalog_source.logdir import Listing
from tests.unit.logdir.conftest import Write, batch_v2, listed, log, places


def while_listed(monkeypatch: pytest.MonkeyPatch, *changes: Callable[[], object]) -> None:
    """Make one change behind each of the first listings of a partition directory."""
    scandir, waiting = os.scandir, list(changes)

    @contextmanager
    def changing(path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        with scandir(path) as entries:
            found = list(entries)
        if path.endswith("t-0") and waiting:
            for entry in found:
                entry.stat()
            waiting.pop(0)()
        yield iter(found)

    monkeypatch.setattr(os, "scandir", changing)


def bases(listing: Listing) -> list[int]:
    return [segment.base_offset for segment in listing.partitions[0].segments]


def test_a_segment_that_vanishes_while_it_is_listed_is_left_out(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write(f"t-0/{log(base)}") for base in (0, 5, 9)]
    while_listed(monkeypatch, paths[0].unlink, paths[1].unlink)
    assert bases(listed(tmp_path)) == [9]


def test_a_listing_that_saw_half_of_a_compaction_is_made_again(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = [write(f"t-0/{log(base)}") for base in (0, 5, 9)]
    cleaned = write(f"t-0/{log(0)}.cleaned", content=batch_v2(0, 8))

    def replace() -> None:
        for path in old[:2]:
            path.rename(f"{path}.deleted")
        cleaned.rename(old[0])

    while_listed(monkeypatch, replace)
    listing = listed(tmp_path)
    assert bases(listing) == [0, 9]
    assert listing.partitions[0].segments[0].size == len(batch_v2(0, 8))
    assert listing.warnings == ()


def test_a_swap_that_goes_while_it_is_looked_into_is_listed_under_its_new_name(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(f"t-0/{log(5)}", f"t-0/{log(9)}")
    swap = write(f"t-0/{log(0)}.swap", content=batch_v2(0, 8))
    while_listed(monkeypatch, lambda: None, lambda: swap.rename(tmp_path / "t-0" / log(0)))
    assert 0 in bases(listed(tmp_path))


def test_a_segment_that_grew_before_the_next_began_has_its_last_size(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write(f"t-0/{log(0)}", content=b"1234")

    def roll() -> None:
        first.write_bytes(b"123456")
        write(f"t-0/{log(6)}")

    while_listed(monkeypatch, roll)
    found = listed(tmp_path).partitions[0].segments
    assert [(each.base_offset, each.size) for each in found] == [(0, 6), (6, 0)]


def test_a_size_seen_too_early_is_seen_again(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write(f"t-0/{log(0)}", content=b"1234")
    write(f"t-0/{log(6)}")
    while_listed(monkeypatch, lambda: first.write_bytes(b"123456"))
    assert listed(tmp_path).partitions[0].segments[0].size == 6


def test_a_directory_that_never_settles_is_an_error(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(f"t-0/{log(0)}")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    names = (f"t-0/{number}.tmp" for number in range(10**6))
    while_listed(monkeypatch, *[lambda: write(next(names))] * 1000)
    with pytest.raises(LogDirError, match=r"t-0: files were created or removed during each of 20 attempts.*try again"):
        listed(tmp_path)


def test_a_partition_that_is_renamed_while_it_is_listed_is_passed_over(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(f"t-0/{log(0)}", f"t-1/{log(0)}")
    deleted = tmp_path / f"t-0.{'0' * 32}-delete"
    while_listed(monkeypatch, lambda: (tmp_path / "t-0").rename(deleted))
    listing = listed(tmp_path)
    assert places(listing) == [("t", 1)]
    assert "was removed" in listing.skipped[0].reason
