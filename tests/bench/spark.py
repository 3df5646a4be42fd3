"""Part (b): Spark over kafkalog against Spark over the same Arrow batches ready made."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.bench.cases import FEW, MANY, SPARK_TASKS, Row
from tests.bench.process import RunError, child
from tests.bench.segments import Cache
from tests.bench.table import Block, number

NOTES = (
    f"Millions of records a second of {SPARK_TASKS} tasks, from the difference between reading {MANY} "
    f"partitions and {FEW} (so the start of query and workers is taken out), best of several by turns.",
    "Ready made: a Python source that yields the same Arrow batches from memory, as fast as Spark's channel "
    "lets a Python source be. Ratio of times: kafkalog's over its.",
)


def measure(cache: Cache, rows: Sequence[Row], rounds: int) -> Block:
    """The block of part (b)."""
    header = ("segment", "query", "kafkalog", "ready made", "ratio of times")
    block = Block("Through Spark", header, NOTES)
    for row in rows:
        log_dir = cache.log_dir(row.segment, MANY)
        records = row.segment.records * (MANY - FEW) / 1e6
        try:
            best = child("spark_child", str(log_dir), "--rounds", str(rounds))["best"]
        except RunError as error:
            block.failures.append(f"{row.label}: {error}")
            block.rows.append((row.label, "-", "-", "-", "-"))
            continue
        for query, seconds in best.items():
            ours = seconds["kafkalog many"] - seconds["kafkalog few"]
            ready = seconds["ready many"] - seconds["ready few"]
            if min(ours, ready) <= 0:
                block.failures.append(f"{row.label}, {query}: more data took no longer; the machine is too busy")
                continue
            cells = (row.label, query, number(records / ours), number(records / ready), number(ours / ready))
            block.rows.append(cells)
            print("  ".join(cells), file=sys.stderr, flush=True)
    return block
