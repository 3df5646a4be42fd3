"""Statistics of the batch headers in one Arrow batch."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from spark_jobs.audit.tasks.mergeable import grouped
from spark_jobs.audit.tasks.times import hours, readable

__all__ = ["BATCH_COLUMNS", "batch_cells", "completed", "producers"]

BATCH_COLUMNS = (
    *("topic", "partition", "file", "batchPosition", "batchSize", "batchBaseOffset", "batchLastOffset", "recordCount"),
    *("magic", "compression", "firstTimestamp", "maxTimestamp", "producerId", "producerEpoch"),
    *("isTransactional", "isControl", "_corrupt_record"),
)


def completed(batches: pa.Table, wrappers: pa.Table | None) -> pa.Table:
    """Complete headers that do not describe their content: those of compressed messages of formats 0 and 1.

    Parameters
    ----------
    batches : pyarrow.Table
        Rows of ``view=batches``.
    wrappers : pyarrow.Table or None
        What such messages hold, from `records.wrappers`. Without their records, it stays null.
    """
    if wrappers is not None:
        keys = zip(wrappers["file"].to_pylist(), wrappers["batchPosition"].to_pylist(), strict=True)
        rows = {key: row for row, key in enumerate(keys)}
        places = zip(batches["file"].to_pylist(), batches["batchPosition"].to_pylist(), strict=True)
        found = pa.array([rows.get(place) for place in places], pa.int64())
        for name in ("recordCount", "batchBaseOffset", "firstTimestamp"):
            filled = pc.coalesce(batches[name], wrappers[name].take(found).cast(batches[name].type))
            batches = batches.set_column(batches.column_names.index(name), name, filled)
    for name in ("firstTimestamp", "maxTimestamp"):
        batches = batches.set_column(batches.column_names.index(name), name, readable(batches[name]))
    return batches


def batch_cells(batches: pa.Table, zone: str) -> pa.Table:
    """Count batches by codec, format and hour."""
    keys = {name: batches[name] for name in ("magic", "compression")}
    table = pa.table({**keys, "hour": hours(batches["maxTimestamp"].combine_chunks(), zone), **_measures(batches)})
    return grouped(table, ("magic", "compression", "hour"))


def producers(batches: pa.Table) -> pa.Table | None:
    """Count batches by producer; None if no batch names one."""
    named = batches.filter(pc.is_valid(batches["producerId"]))
    if not len(named):
        return None
    epochs = dict.fromkeys(("first_epoch", "last_epoch"), named["producerEpoch"])
    return grouped(pa.table({"producer_id": named["producerId"], **epochs, **_measures(named)}), ("producer_id",))


def _measures(batches: pa.Table) -> dict[str, pa.ChunkedArray]:
    counts, last_time = batches["recordCount"], batches["maxTimestamp"]
    control = pc.fill_null(batches["isControl"], fill_value=False)
    transactional = pc.and_not(pc.fill_null(batches["isTransactional"], fill_value=False), control)
    only_time = pc.if_else(pc.equal(counts, 1), last_time, None)
    first_time = pc.coalesce(batches["firstTimestamp"], only_time)
    is_empty = pc.fill_null(pc.equal(counts, 0), fill_value=False)
    flags = {
        "uncounted_batches": pc.is_null(counts),
        "empty_batches": pc.and_not(is_empty, control),
        "control_batches": control,
        "transactional_batches": transactional,
        "unknown_first_times": pc.and_(pc.is_null(first_time), pc.and_not(pc.is_valid(last_time), is_empty)),
    }
    return {
        "bytes": batches["batchSize"],
        "batches": pa.repeat(pa.scalar(1, pa.int64()), len(batches)),
        "header_records": pc.if_else(control, 0, counts),
        **{name: flag.cast(pa.int64()) for name, flag in flags.items()},
        "first_time": first_time,
        "last_time": last_time,
    }
