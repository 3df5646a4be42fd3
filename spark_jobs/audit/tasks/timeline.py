"""Counts by time for plots: intervals of a millisecond to a century, the shortest of which few hold records."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from spark_jobs.audit.tasks.times import DAY, HOUR, MINUTE, SECOND, floored

__all__ = ["STEPS", "coarsened", "counted_by_time"]

STEPS = (
    *(milliseconds * SECOND // 1000 for milliseconds in (1, 10, 100)),
    *(SECOND, 5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR),
    *(DAY, 7 * DAY, 28 * DAY, 364 * DAY, 3640 * DAY, 36_400 * DAY),
)
"""Lengths of intervals in microseconds. Each is a multiple of the one before it, so that intervals can be merged."""
_MOST = 600
"""Intervals of a topic that are kept. Empty ones do not count, so that one wrong time does not hide the others."""


def counted_by_time(topic: str | None, local_micros: pa.Array, step: int, **counts: pa.Array) -> pa.Table:
    """Count by intervals of local time.

    Parameters
    ----------
    topic : str or None
    local_micros : pyarrow.Array
        The times, from `times.local_micros`; null is left out.
    step : int
        The shortest interval that is tried, one of `STEPS`.
    **counts : pyarrow.Array
        What is summed, for each time.

    Returns
    -------
    pyarrow.Table
        topic; step and start of intervals, in microseconds; the sums.
    """
    times = pa.table({"start": local_micros, **counts}).filter(pc.is_valid(local_micros))
    return _named(_coarsened(times, step), topic)


def coarsened(table: pa.Table) -> pa.Table:
    """Merge the intervals of each topic, with the longest step among them or a longer one."""
    parts = [table.slice(0, 0)]
    for topic in pc.unique(table["topic"]).to_pylist():
        rows = table.filter(pc.is_null(table["topic"]) if topic is None else pc.equal(table["topic"], topic))
        parts.append(_named(_coarsened(rows.drop_columns(["topic", "step"]), pc.max(rows["step"]).as_py()), topic))
    return pa.concat_tables([part.select(table.column_names) for part in parts], promote_options="default")


def _coarsened(times: pa.Table, step: int) -> tuple[pa.Table, int]:
    """Sum by intervals of a step, or of the next longer one that gives few enough of them."""
    sums = [name for name in times.column_names if name != "start"]
    for longer in STEPS[STEPS.index(step) :]:
        starts = times.set_column(times.column_names.index("start"), "start", floored(times["start"], longer))
        groups = starts.group_by("start", use_threads=False).aggregate([(name, "sum") for name in sums])
        times, step = groups.rename_columns(["start", *sums]), longer
        if len(times) <= _MOST:
            break
    return times, step


def _named(found: tuple[pa.Table, int], topic: str | None) -> pa.Table:
    times, step = found
    for name, value in (("step", pa.scalar(step, pa.int64())), ("topic", pa.scalar(topic, pa.string()))):
        times = times.add_column(0, name, pa.repeat(value, len(times)))
    return times
