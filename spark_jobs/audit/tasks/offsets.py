"""Missing offsets, from runs of batches that can be joined."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["RUN", "joined_runs", "missing_offsets", "run_of"]

_SUMS = ("missing_inside_batches", "missing_between_batches", "missing_between_segments", "gaps")
RUN = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("first_file", pa.string()),
        ("last_file", pa.string()),
        ("first_offset", pa.int64()),
        ("end_of_first", pa.int64()),
        ("last_offset", pa.int64()),
        *((name, pa.int64()) for name in (*_SUMS, "largest_gap")),
        ("is_unknown", pa.bool_()),
    ]
)
_FILE_07 = ".kafka"


def run_of(batches: pa.Table, topic: str | None, partition: int | None, file: str) -> pa.Table:
    """Return the run of batches of one file that follow each other.

    Parameters
    ----------
    batches : pyarrow.Table
        batchBaseOffset, batchLastOffset and recordCount of at least one batch, in their order; null if they are
        unknown.
    topic, partition, file
        Where they are.

    Returns
    -------
    pyarrow.Table
        One row, with the missing offsets in and between these batches.
    """
    first, last = batches["batchBaseOffset"].combine_chunks(), batches["batchLastOffset"].combine_chunks()
    inside = pc.subtract(pc.add(pc.subtract(last, first), 1), batches["recordCount"])
    between = pc.max_element_wise(pc.subtract(pc.subtract(first[1:], last[:-1]), 1), 0)
    run = {
        "topic": topic,
        "partition": partition,
        "first_file": file,
        "last_file": file,
        "first_offset": first[0].as_py(),
        "end_of_first": last[0].as_py(),
        "last_offset": last[-1].as_py(),
        "missing_inside_batches": pc.sum(inside).as_py() or 0,
        "missing_between_batches": pc.sum(between).as_py() or 0,
        "missing_between_segments": 0,
        "gaps": pc.sum(pc.greater(between, 0)).as_py() or 0,
        "largest_gap": pc.max(between).as_py() or 0,
        # Offsets of Kafka 0.7 are byte positions.
        "is_unknown": batches["recordCount"].null_count > 0 or file.endswith(_FILE_07),
    }
    return pa.Table.from_pylist([run], RUN)


def joined_runs(runs: pa.Table) -> pa.Table:
    """Join the runs of each partition that follow each other.

    The runs of a task must be all of those between its first and its last one.
    """
    order = [("topic", "ascending"), ("partition", "ascending"), ("end_of_first", "ascending")]
    joined: list[dict[str, Any]] = []
    for run in runs.sort_by(order).to_pylist():
        before = joined[-1] if joined else None
        if before is not None and (before["topic"], before["partition"]) == (run["topic"], run["partition"]):
            _join(before, run)
        else:
            joined.append(run)
    return pa.Table.from_pylist(joined, RUN)


def _join(run: dict[str, Any], following: dict[str, Any]) -> None:
    missing = 0
    if following["first_offset"] is not None:
        missing = max(0, following["first_offset"] - run["last_offset"] - 1)
    where = "batches" if following["first_file"] == run["last_file"] else "segments"
    for name in _SUMS:
        run[name] += following[name]
    run[f"missing_between_{where}"] += missing
    run["gaps"] += missing > 0
    run["largest_gap"] = max(run["largest_gap"], following["largest_gap"], missing)
    run["is_unknown"] |= following["is_unknown"]
    run.update(last_file=following["last_file"], last_offset=following["last_offset"])


def missing_offsets(runs: pa.Table) -> pa.Table:
    """Return a row for each partition: its first and last offset, and its missing offsets, null if they are unknown."""
    runs = joined_runs(runs)
    for name in (*_SUMS, "largest_gap"):
        known = pc.if_else(runs["is_unknown"], None, runs[name])
        runs = runs.set_column(runs.column_names.index(name), name, known)
    return runs.drop_columns(["first_file", "last_file", "end_of_first", "is_unknown"])
