"""However a partition is cut into splits, and whatever its indexes say, each row comes once and in order."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import offset_index, partition_dir, time_index, write_segment
from tests.builders.disk import Entry
from tests.comparing import Row, assert_same_rows, reference_rows, scan_rows
from tests.property.strategies import partitions
from tests.reference import RefRecord, RefSegment, decode_file

Content = list[tuple[int, list[Entry]]]
COLUMNS = ("offset", "key", "value", "headers", "timestamp", "batchPosition", "file")
SIDES = st.sampled_from(["none", "empty", "right", "zeros", "cut", "junk", "past the end", "inside a batch"])


def true_points(segment: RefSegment, every: int) -> list[tuple[int, int]]:
    """An index with an entry for each `every`-th batch; the first batch has none, as in Kafka."""
    chosen = [batch for batch in segment.batches[1::every] if batch.last_offset < batch.first_offset + 2**31]
    return [(batch.last_offset, batch.position) for batch in chosen]


def side_file(right: bytes, kind: str, entry_size: int) -> bytes | None:
    """The right index, or one damaged in the way `kind` names."""
    if kind == "none":
        return None
    if kind == "past the end":
        return bytes(b | (0x7F if i % entry_size == entry_size - 4 else 0) for i, b in enumerate(right))
    if kind == "inside a batch":
        return bytes(b ^ (5 if i % entry_size == entry_size - 1 else 0) for i, b in enumerate(right))
    changed = {"empty": b"", "zeros": right + bytes(10 * entry_size), "cut": right[:-3]}
    return changed.get(kind, bytes(b * 7 % 256 for b in b"j" + right) if kind == "junk" else right)


def running_maximum(segment: RefSegment) -> list[tuple[int, int]]:
    """Time index points: the largest time so far and the offset of the batch that has it."""
    points: list[tuple[int, int]] = []
    for batch in segment.batches:
        times = [record.timestamp_ms for record in batch.records if record.timestamp_ms is not None]
        if times and (not points or max(times) > points[-1][0]):
            points.append((max(times), batch.last_offset))
    return points


@contextmanager
def written(content: Content, index_kind: str, every: int) -> Iterator[tuple[Path, list[RefRecord], list[Row]]]:
    """The partition on disk: its directory, its records and its rows."""
    with tempfile.TemporaryDirectory() as root:
        directory = partition_dir(Path(root))
        # So that gaps between the segments are nothing to wonder about.
        (Path(root) / "cleaner-offset-checkpoint").write_text("0\n1\ntopic 0 0\n")
        records: list[RefRecord] = []
        rows: list[Row] = []
        for base_offset, entries in content:
            log = write_segment(directory, entries, base_offset=base_offset)
            segment = decode_file(log.read_bytes(), base_offset=base_offset)
            right = offset_index(true_points(segment, every), base_offset=base_offset)
            right_times = time_index(running_maximum(segment)[::every], base_offset=base_offset)
            for suffix, side in (
                (".index", side_file(right, index_kind, 8)),
                (".timeindex", side_file(right_times, index_kind, 12)),
            ):
                if side is not None:
                    log.with_suffix(suffix).write_bytes(side)
            records += segment.records
            rows += reference_rows(segment.records, log, topic="topic", partition=0, columns=COLUMNS)
        yield directory, records, rows


SPLIT_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "maxPartitionBytes": st.sampled_from([1, 60, 100, 1000, 10**6]),
        "minPartitions": st.integers(1, 20),
        "openCostInBytes": st.sampled_from([0, 1, 10**6]),
        "threads": st.integers(1, 3),
    },
)


@given(partitions(), SIDES, st.integers(1, 3), SPLIT_OPTIONS)
def test_any_split_plan_gives_each_row_once(
    content: Content, index_kind: str, every: int, options: dict[str, Any]
) -> None:
    with written(content, index_kind, every) as (directory, _, rows):
        assert_same_rows(scan_rows(directory, COLUMNS, **options), rows, COLUMNS)


@given(partitions(), SIDES, st.integers(1, 3), SPLIT_OPTIONS, st.data())
def test_an_offset_range_gives_the_rows_inside_it(
    content: Content, index_kind: str, every: int, options: dict[str, Any], data: st.DataObject
) -> None:
    with written(content, index_kind, every) as (directory, records, rows):
        lowest, past = content[0][0], max([content[-1][0], *(r.offset + 1 for r in records)])
        start = data.draw(st.integers(lowest, past))
        end = data.draw(st.integers(start, past))
        wanted = [row for row in rows if start <= row[0] < end]
        bounds = {
            "startingOffsets": json.dumps({"topic": {"0": start}}),
            "endingOffsets": json.dumps({"topic": {"0": end}}),
            "assign": json.dumps({"topic": [0]}),
            "failOnDataLoss": False,
        }
        assert_same_rows(scan_rows(directory, COLUMNS, **bounds, **options), wanted, COLUMNS)


def target_times(records: list[RefRecord]) -> st.SearchStrategy[int]:
    """Times that records have, times just beside them, and the earliest and a late one."""
    times = {record.timestamp_ms for record in records if record.timestamp_ms is not None}
    near = {time + by for time in times for by in (-1, 0, 1)}
    return st.sampled_from(sorted(time for time in near | {0, 2**42 + 1} if 0 <= time < 2**63))


def first_as_late(records: list[RefRecord], time: int, earliest: int) -> int | None:
    """What a broker's ``offsetsForTimes`` gives: the first in the order of offsets, whatever comes behind it."""
    late = (r.offset for r in records if r.timestamp_ms is not None and r.timestamp_ms >= time)
    return next((offset for offset in late if offset >= earliest), None)


@given(partitions(), SIDES, st.integers(1, 3), SPLIT_OPTIONS, st.data())
def test_times_give_the_rows_from_the_first_one_as_late_to_before_the_first_one_as_late(
    content: Content, index_kind: str, every: int, options: dict[str, Any], data: st.DataObject
) -> None:
    with written(content, index_kind, every) as (directory, records, rows):
        # A log start below the first segment is that of a tiered topic.
        earliest = data.draw(st.sampled_from([content[0][0], *(record.offset for record in records)]))
        (directory.parent / "log-start-offset-checkpoint").write_text(f"0\n1\ntopic 0 {earliest}\n")
        start, end = (data.draw(st.none() | target_times(records)) for _ in range(2))
        low = earliest if start is None else first_as_late(records, start, earliest)
        high = None if end is None else first_as_late(records, end, earliest)
        limits = {"startingTimestamp": start, "endingTimestamp": end, "startingOffsetsByTimestampStrategy": "latest"}
        given_limits = {name: limit for name, limit in limits.items() if limit is not None}
        wanted = [row for row in rows if low is not None and low <= row[0] and (high is None or row[0] < high)]
        assert_same_rows(scan_rows(directory, COLUMNS, **given_limits, **options), wanted, COLUMNS)
