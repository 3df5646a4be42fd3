"""Part (d): two threads of one scan against one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.bench.cases import Row
from tests.bench.process import RunError, child
from tests.bench.segments import Cache
from tests.bench.table import Block, number

PARTITIONS = 4
NOTES = (
    f"Millions of records a second of one scan over {PARTITIONS} partitions that each hold the segment, one "
    "thread and two by turns in the same process; ratio is two threads' rate over one's.",
)


def measure(cache: Cache, rows: Sequence[Row], seconds: float) -> Block:
    """The block of part (d)."""
    block = Block("Two threads against one", ("segment", "one thread", "two threads", "ratio"), NOTES)
    for row in rows:
        log_dir = cache.log_dir(row.segment, PARTITIONS)
        try:
            answer = child("child", "threads", str(log_dir), "--partitions", str(PARTITIONS), "--seconds", str(seconds))
            records = row.segment.records * PARTITIONS / 1e6
            one, two = answer["seconds"]["1"], answer["seconds"]["2"]
            cells = (row.label, number(records / one), number(records / two), number(one / two))
        except RunError as error:
            block.failures.append(f"{row.label}: {error}")
            cells = (row.label, "-", "-", "-")
        block.rows.append(cells)
        print("  ".join(cells), file=sys.stderr, flush=True)
    return block
