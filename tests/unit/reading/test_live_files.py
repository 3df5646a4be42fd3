"""Files that a broker renames, removes, replaces or cuts between planning and reading, or while it is planned."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source.errors import DataLossError, LogDirError
from kafkalog_source.reading import plan
from kafkalog_source.reading.options import parse_options
from kafkalog_source.reading.plan import plan_read
from kafkalog_source.reading.read import SplitReader
from tests.builders import Batch, Record, encode, partition_dir, write_segment


def segment(base: int) -> list[Batch]:
    return [Batch([Record(), Record(offset_delta=1)], base_offset=base + 2 * i) for i in range(3)]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Offsets 0 to 17 in three segments."""
    found = partition_dir(tmp_path)
    for base in (0, 6, 12):
        write_segment(found, segment(base), base_offset=base)
    return found


def log(directory: Path, base: int, suffix: str = "") -> Path:
    return directory / f"{base:020d}.log{suffix}"


def after(directory: Path, change: Callable[[], object], **options: Any) -> tuple[list[int], list[str]]:
    """Plan, let something happen, and read: the offsets and the warnings."""
    parsed = parse_options(options, [str(directory)])
    splits = plan_read(parsed).splits
    change()
    reader = SplitReader(parsed, ["offset"])
    offsets = [offset for split in splits for rows in reader.read(split) for offset in rows.column(0).to_pylist()]
    return offsets, reader.report.warnings


def test_a_segment_marked_deleted_since_is_read_all_the_same(directory: Path) -> None:
    change = lambda: log(directory, 0).rename(log(directory, 0, ".deleted"))  # noqa: E731
    assert after(directory, change) == (list(range(18)), [])


def test_a_segment_replaced_by_compaction_is_read_as_it_was_planned(directory: Path) -> None:
    def compact() -> None:
        cleaned = log(directory, 0, ".cleaned")
        cleaned.write_bytes(encode([segment(0)[2], segment(6)[2]]))
        for base in (0, 6):
            log(directory, base).rename(log(directory, base, ".deleted"))
        cleaned.rename(log(directory, 0))

    assert after(directory, compact, maxPartitionBytes=100) == (list(range(18)), [])


@pytest.mark.parametrize("steps", [[""], ["", ".deleted"]])
def test_a_segment_planned_as_swap_is_read_under_its_later_names(directory: Path, steps: list[str]) -> None:
    log(directory, 0).rename(log(directory, 0, ".swap"))

    def change() -> None:
        path = log(directory, 0, ".swap")
        for step in steps:
            path = path.rename(log(directory, 0, step))

    assert after(directory, change)[0] == list(range(18))


def test_a_segment_that_is_gone_is_an_error_that_names_it(directory: Path) -> None:
    with pytest.raises(DataLossError, match=r"00\.log: the file is gone.*read again"):
        after(directory, log(directory, 0).unlink)


def test_without_fail_on_data_loss_a_segment_that_is_gone_is_a_warning(directory: Path) -> None:
    offsets, warnings = after(directory, log(directory, 0).unlink, failOnDataLoss=False)
    assert offsets == list(range(6, 18))
    assert len(warnings) == 1
    assert f"{log(directory, 0)}: the file is gone" in warnings[0]


def test_another_file_marked_deleted_is_not_taken_for_the_one_planned(directory: Path) -> None:
    log(directory, 0, ".deleted").write_bytes(encode(segment(0)))
    with pytest.raises(DataLossError, match="not the one that was planned"):
        after(directory, log(directory, 0).unlink)


@pytest.mark.parametrize("fail", [True, False])
@pytest.mark.parametrize("base", [0, 12])
def test_a_file_that_shrank_is_an_error_that_says_so(directory: Path, base: int, fail: bool) -> None:
    with pytest.raises(DataLossError, match=r"found \d+ bytes, expected (at least )?\d+ bytes.*read again"):
        after(directory, lambda: os.truncate(log(directory, base), 100), failOnDataLoss=fail)


@pytest.mark.parametrize("fail", [True, False])
def test_a_file_that_was_replaced_is_an_error_that_says_so(directory: Path, fail: bool) -> None:
    def replace() -> None:
        other = directory / "other"
        other.write_bytes(encode(segment(0)))
        other.replace(log(directory, 0))

    with pytest.raises(DataLossError, match=r"another file of this name.*read again"):
        after(directory, replace, failOnDataLoss=fail)


def test_what_the_last_segment_gained_since_is_not_read(directory: Path) -> None:
    def append() -> None:
        with log(directory, 12).open("ab") as file:
            file.write(encode([Batch(base_offset=18)]))
        write_segment(directory, segment(20), base_offset=20)

    assert after(directory, append) == (list(range(18)), [])


def test_planning_begins_again_when_a_listed_file_is_replaced(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    list_logs = plan.list_logs
    attempts: list[int] = []

    def list_and_replace(*arguments: Any, **named: Any) -> object:
        listing = list_logs(*arguments, **named)
        attempts.append(1)
        if len(attempts) == 1:
            log(directory, 0).unlink()
        if len(attempts) == 2:
            other = directory / "other"
            other.write_bytes(
                encode([Batch([Record(), *[Record(offset_delta=i) for i in range(1, 6)]], base_offset=6)])
            )
            other.replace(log(directory, 6))
        return listing

    monkeypatch.setattr(plan, "list_logs", list_and_replace)
    assert after(directory, lambda: None, maxPartitionBytes=100)[0] == list(range(6, 18))
    assert len(attempts) == 3


def test_planning_does_not_go_on_for_ever(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = plan.list_logs([str(directory)], wanted=lambda *_: True)
    log(directory, 0).unlink()
    monkeypatch.setattr(plan, "list_logs", lambda *_, **__: listing)
    with pytest.raises(LogDirError, match="No such file"):
        after(directory, lambda: None, maxPartitionBytes=100)
