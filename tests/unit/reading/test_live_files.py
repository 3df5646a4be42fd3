"""Files that a broker renames, removes, replaces or cuts between planning and reading, or while it is planned."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source.errors import DataLossError, LogDirError
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.partition.splits import SplitRange
from kafkalog_source.planning import plan
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading import read
from kafkalog_source.reading.read import SplitReader
from kafkalog_source.segment.source import FileChangedError, LocalFile
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
    with pytest.raises(DataLossError, match=r"00\.log: the file was removed or replaced after .* planned.*read again"):
        after(directory, log(directory, 0).unlink)


def test_without_fail_on_data_loss_a_segment_that_is_gone_is_a_warning(directory: Path) -> None:
    offsets, warnings = after(directory, log(directory, 0).unlink, failOnDataLoss=False)
    assert offsets == list(range(6, 18))
    assert len(warnings) == 1
    assert f"{log(directory, 0)}: the file was removed" in warnings[0]


def test_another_file_marked_deleted_is_not_taken_for_the_one_planned(directory: Path) -> None:
    log(directory, 0, ".deleted").write_bytes(encode(segment(0)))
    with pytest.raises(DataLossError, match=r"the file was removed or replaced.*offsets 0 to 5 in no segment"):
        after(directory, log(directory, 0).unlink)


@pytest.mark.parametrize("fail", [True, False])
@pytest.mark.parametrize("base", [0, 12])
def test_a_file_that_shrank_is_an_error_that_says_so(directory: Path, base: int, fail: bool) -> None:
    with pytest.raises(DataLossError, match=r"found \d+ bytes, expected (at least )?\d+ bytes.*read again"):
        after(directory, lambda: os.truncate(log(directory, base), 100), failOnDataLoss=fail)


def put(directory: Path, base: int, entries: list[Batch]) -> None:
    """Put another file in the place of a segment, as the cleaner does."""
    other = directory / "other"
    other.write_bytes(encode(entries))
    other.replace(log(directory, base))


@pytest.mark.parametrize("options", [{}, {"maxPartitionBytes": 100}, {"maxRecordsPerPartition": 1}])
@pytest.mark.parametrize("base", [0, 6])
def test_offsets_are_looked_up_in_the_file_that_took_the_place_of_another(
    directory: Path, base: int, options: dict[str, Any]
) -> None:
    assert after(directory, lambda: put(directory, base, segment(base)), **options) == (list(range(18)), [])


def checkpoint(directory: Path, name: str, offset: int) -> None:
    (directory.parent / name).write_text(f"0\n1\ntopic 0 {offset}\n")


@pytest.mark.parametrize("options", [{}, {"maxPartitionBytes": 100}, {"startingOffsets": '{"topic":{"0":3}}'}])
def test_what_compaction_removed_since_is_gone_as_it_would_be_for_a_consumer(
    directory: Path, options: dict[str, Any]
) -> None:
    checkpoint(directory, "cleaner-offset-checkpoint", 12)

    def compact() -> None:
        put(directory, 0, [segment(0)[1], segment(6)[2]])
        log(directory, 6).unlink()

    offsets, warnings = after(directory, compact, **options)
    assert offsets == [each for each in (2, 3, 10, 11, *range(12, 18)) if "startingOffsets" not in options or each > 2]
    assert all("compacted" in each for each in warnings)


def test_of_another_log_under_the_same_name_no_row_is_read(directory: Path) -> None:
    def recreate() -> None:
        directory.rename(directory.with_name("topic-0.0123456789abcdef0123456789abcdef-delete"))
        partition_dir(directory.parent)
        write_segment(directory, segment(0), base_offset=0)
        write_segment(directory, segment(6), base_offset=6)

    with pytest.raises(DataLossError, match=r"directory was replaced.*read again"):
        after(directory, recreate, endingOffsets='{"topic":{"0":9}}')


@pytest.mark.parametrize("fail", [True, False])
def test_the_last_file_replaced_is_an_error_where_its_end_was_never_looked_up(directory: Path, fail: bool) -> None:
    with pytest.raises(DataLossError, match=r"another file of this name.*read again"):
        after(directory, lambda: put(directory, 12, segment(12)), failOnDataLoss=fail)


@pytest.fixture
def indexed(directory: Path) -> Path:
    """The same with an index of the last segment, in which nothing is noted yet."""
    log(directory, 12).with_suffix(".index").write_bytes(b"")
    return directory


@pytest.mark.parametrize("options", [{}, {"maxPartitionBytes": 100}, {"view": "damage"}, {"mode": "PERMISSIVE"}])
def test_a_preallocated_segment_may_lose_its_unused_end(indexed: Path, options: dict[str, Any]) -> None:
    last = log(indexed, 12)
    size = last.stat().st_size
    os.truncate(last, 100_000)
    found = after_columns(indexed, lambda: os.truncate(last, size), **options)
    assert found == ([] if "view" in options else list(range(18)), [])


def after_columns(directory: Path, change: Callable[[], object], **options: Any) -> tuple[list[int], list[str]]:
    """As `after`, with a column that every view has."""
    parsed = parse_options(options, [str(directory)])
    splits = plan_read(parsed).splits
    change()
    column = "first_offset" if options.get("view") == "damage" else "offset"
    reader = SplitReader(parsed, [column])
    offsets = [offset for split in splits for rows in reader.read(split) for offset in rows.column(0).to_pylist()]
    return offsets, reader.report.warnings


@pytest.mark.parametrize("size", [0, 100])
def test_records_that_a_cut_took_from_the_last_segment_are_data_loss(indexed: Path, size: int) -> None:
    last = log(indexed, 12)
    with pytest.raises(DataLossError, match=rf"offsets {12 if size == 0 else 14} to 17 in no segment"):
        after(indexed, lambda: os.truncate(last, size))
    last.write_bytes(encode(segment(12)))
    offsets, warnings = after(indexed, lambda: os.truncate(last, size), failOnDataLoss=False)
    assert offsets == list(range(12 if size == 0 else 14))
    assert len(warnings) == 1


def test_an_end_that_is_cut_off_while_it_is_read_loses_nothing(indexed: Path) -> None:
    last = log(indexed, 12)
    size = last.stat().st_size
    os.truncate(last, 3 << 20)
    parsed = parse_options({}, [str(indexed)])
    (split,) = plan_read(parsed).splits
    reader = SplitReader(parsed, ["offset"])
    reading = reader.read(split)
    open_planned = read.open_planned

    def open_and_cut(each: SplitRange) -> LocalFile:
        source = open_planned(each)
        if each.path == str(last):
            os.truncate(last, size)
        return source

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "open_planned", open_and_cut)
        offsets = [offset for rows in reading for offset in rows.column(0).to_pylist()]
    assert offsets == list(range(18))


def test_what_came_after_the_plan_is_not_read_from_another_file_either(indexed: Path) -> None:
    assert after(indexed, lambda: put(indexed, 12, [*segment(12), Batch(base_offset=18)])) == (list(range(18)), [])


def test_files_that_change_each_time_are_an_error_in_the_end(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_again = lambda each: put(directory, 0, segment(0))  # noqa: E731
    looked_up: list[int] = []
    look_up_again = read.look_up_again

    def look_up_and_replace(each: SplitRange, *rest: Any) -> Any:
        looked_up.append(1)
        found = look_up_again(each, *rest)
        put_again(each)
        return found

    monkeypatch.setattr(read, "look_up_again", look_up_and_replace)
    with pytest.raises(DataLossError, match="another file of this name"):
        after(directory, lambda: put(directory, 0, segment(0)))
    assert len(looked_up) == 5


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


def test_a_change_that_is_met_while_a_window_is_decoded_does_not_read_its_rows_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = partition_dir(tmp_path)
    write_segment(directory, [Batch([Record()], 0), Batch([Record()], 1, transactional=True, producer_id=1)])
    asked: list[int] = []

    def find(*_: object) -> None:
        asked.append(1)
        raise FileChangedError("a later segment changed", file="later")

    monkeypatch.setattr("kafkalog_source.transactions.lookahead.Lookahead.find", find)
    parsed = parse_options({"endingOffsets": {"topic": {0: 2}}}, [str(tmp_path)])
    (split,) = plan_read(parsed).splits
    with pytest.raises(DataLossError, match="a later segment changed"):
        list(SplitReader(parsed, ["offset", "transactionState"]).read(split))
    assert asked == [1]
