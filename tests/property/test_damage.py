"""Damage to a partition: every mode, view and plan of splits agrees on what is lost and on what is not."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

import kafkalog_source
from kafkalog_source.errors import DamageWarning, KafkaLogError
from tests.builders.disk import Entry
from tests.builders.index_files import positions
from tests.comparing import Row, table_rows
from tests.corruption.samples import OFFSET_SIZE
from tests.property.strategies import partitions
from tests.property.test_splits import SIDES, SPLIT_OPTIONS, written
from tests.reference import RefRecord

Content = list[tuple[int, list[Entry]]]
COLUMNS = ("partition", "offset", "key", "value", "headers", "timestamp")
OFFSET = COLUMNS.index("offset")
BLOCKS = st.one_of(
    st.binary(min_size=1, max_size=200),
    st.builds(bytes, st.integers(1, 300)),
    st.builds(bytes.__mul__, st.just(b"\xff"), st.integers(1, 100)),
    st.just(b"a line of text\n" * 9),
)


@st.composite
def harm(draw: st.DrawFn, data: bytes) -> bytes:
    """A change to a file, of a kind that disks and copies make."""
    kind = draw(st.sampled_from(["flip", "flip", "insert", "overwrite", "remove", "cut", "repeat", "zeros behind"]))
    at = draw(st.integers(0, max(0, len(data) - 1)))
    end = draw(st.integers(at, min(len(data), at + 200)))
    if kind == "flip" and data:
        return data[:at] + bytes([data[at] ^ 1 << draw(st.integers(0, 7))]) + data[at + 1 :]
    if kind == "insert":
        return data[:at] + draw(BLOCKS) + data[at:]
    if kind == "overwrite":
        block = draw(BLOCKS)
        return data[:at] + block + data[at + len(block) :]
    changed = {"remove": data[:at] + data[end:], "cut": data[:at], "repeat": data[:end] + data[at:]}
    return changed.get(kind, data + bytes(at))


def damage(directory: Path, data: st.DataObject) -> None:
    """Change one of the segments once or twice, or leave all as they are."""
    for _ in range(data.draw(st.sampled_from([0, 1, 1, 1, 2]))):
        log = data.draw(st.sampled_from(sorted(directory.glob("*.log"))))
        log.write_bytes(data.draw(harm(log.read_bytes())))


def read(directory: Path, **options: Any) -> tuple[list[Row], list[dict[str, Any]], str | None]:
    """Rows, damage, and the error if there is one."""
    columns = options.pop("columns", COLUMNS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        scan = kafkalog_source.scan(directory, columns=columns, includeControlRecords=True, **options)
        try:
            return table_rows(scan.to_table()), scan.report()["damage"], None
        except KafkaLogError as error:
            return [], [], type(error).__name__


def view(directory: Path, **options: Any) -> list[dict[str, Any]]:
    """The rows of the view of damage, as the report has them."""
    table = kafkalog_source.scan(directory, view="damage", includeControlRecords=True, **options).to_table()
    assert set(table["partition"].to_pylist()) <= {0}
    rows: list[dict[str, Any]] = table.drop_columns(["topic", "partition"]).to_pylist()
    return rows


@given(partitions(), SIDES, SPLIT_OPTIONS, st.data())
def test_all_modes_tell_the_same_damage_and_give_the_same_rows(
    content: Content, index_kind: str, options: dict[str, Any], data: st.DataObject
) -> None:
    with written(content, index_kind, 1) as (directory, _, _):
        damage(directory, data)
        plan = {**options, "failOnDataLoss": False}
        rows, told, error = read(directory, mode="DROPMALFORMED", **plan)
        assert error is None
        assert view(directory, **plan) == told
        both, also_told, _ = read(directory, mode="PERMISSIVE", columns=[*COLUMNS, "_corrupt_record"], **plan)
        assert also_told == told
        assert [row[:-1] for row in both if row[-1] is None] == rows
        assert len(both) - len(rows) == sum(each["kind"] == "damaged" for each in told)
        strict, strictly_told, error = read(directory, mode="FAILFAST", **plan)
        if any(each["kind"] == "damaged" for each in told):
            assert error is not None
        else:
            assert (strict, strictly_told, error) == (rows, told, None)


@given(partitions(), SIDES, SPLIT_OPTIONS, st.sampled_from(["DROPMALFORMED", "PERMISSIVE", "RECOVER"]), st.data())
def test_any_split_plan_gives_the_same_rows_of_a_damaged_partition(
    content: Content, index_kind: str, options: dict[str, Any], mode: str, data: st.DataObject
) -> None:
    with written(content, index_kind, 1) as (directory, _, __):
        damage(directory, data)
        more = ["_corrupt_record"] if mode == "PERMISSIVE" else []
        shared = {"mode": mode, "failOnDataLoss": False, "columns": [*COLUMNS, *more]}
        whole = read(directory, threads=1, **shared)
        assert read(directory, **shared, **options) == whole
        assert view(directory, mode=mode, failOnDataLoss=False, **options) == view(
            directory, mode=mode, failOnDataLoss=False, threads=1
        )


@given(partitions(), SIDES, SPLIT_OPTIONS, st.data())
def test_recover_gives_what_comes_before_the_first_bad_batch(
    content: Content, index_kind: str, options: dict[str, Any], data: st.DataObject
) -> None:
    with written(content, index_kind, 1) as (directory, _, __):
        damage(directory, data)
        kept, left_out, error = read(directory, mode="RECOVER", failOnDataLoss=False, **options)
        rows, told, _ = read(directory, mode="DROPMALFORMED", failOnDataLoss=False, **options)
        if error is None:
            assert kept == rows[: len(kept)]
            if not left_out:
                assert [each for each in told if each["kind"] == "damaged"] == []
                assert kept == rows


def offsets(records: list[RefRecord]) -> set[int]:
    return {record.offset for record in records}


@given(partitions(), SIDES, SPLIT_OPTIONS, BLOCKS, st.data())
def test_what_is_written_over_a_file_costs_no_more_than_is_told(
    content: Content, index_kind: str, options: dict[str, Any], block: bytes, data: st.DataObject
) -> None:
    """Nothing is invented either. What makes another offset of one that no checksum covers is left out."""
    with written(content, index_kind, 1) as (directory, records, _):
        right, _, _ = read(directory)
        log = data.draw(st.sampled_from(sorted(directory.glob("*.log"))))
        before = log.read_bytes()
        at = data.draw(st.integers(0, len(before)))
        over = data.draw(st.booleans())
        entries = next(each for base_offset, each in content if log.stem == f"{base_offset:020d}")
        assume(not any(only_changes_offset(before, block, at, start, over) for start in positions(entries)))
        after = block + before[at + len(block) * over :]
        # A file that ends in zeros ends where they begin, as a broker left it: nothing tells that there was more.
        assume(any(after))
        log.write_bytes(before[:at] + after)
        rows, told, error = read(directory, mode="DROPMALFORMED", failOnDataLoss=False, **options)
        assert error is None
        lost = offsets(records) - {row[OFFSET] for row in rows}
        assert [o for o in lost if not any(covers(each, o) for each in told)] == []
        wrong = [row for row in rows if row not in right]
        assert wrong == [] or told == []


def only_changes_offset(before: bytes, block: bytes, at: int, start: int, over: bool) -> bool:
    """Whether a block at this place leaves all of the entry that begins at `start` as it was but its first field."""
    if over:
        changed = [at + i for i, byte in enumerate(block) if before[at + i : at + i + 1] != bytes([byte])]
        return bool(changed) and all(start <= each < start + OFFSET_SIZE for each in changed)
    while not 0 < at - start <= OFFSET_SIZE:
        # Behind a byte like its last one a block is the same as before it.
        if at <= start or before[at - 1] != block[-1]:
            return False
        block, at = block[-1:] + block[:-1], at - 1
    return True


def covers(region: dict[str, Any], offset: int) -> bool:
    first, last = region["first_offset"], region["last_offset"]
    return bool(first <= offset and (last is None or offset <= last))
