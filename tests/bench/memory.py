"""Part (c): the peak of a scan's memory, which must depend on its largest batch and not on the segment."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.bench.cases import MIB, Row
from tests.bench.process import RunError, child
from tests.bench.segments import Cache
from tests.bench.table import Block, number

NOTES = (
    "Peak resident memory of one scan on one thread over what the process held with pyarrow and kafkalog "
    "imported. Ratio: that peak over the largest batch, decompressed.",
)


def measure(cache: Cache, rows: Sequence[Row]) -> Block:
    """The block of part (c), one process for each segment."""
    header = ("segment", "file MiB", "largest batch MiB", "peak MiB", "ratio")
    block = Block("Memory of one scan", header, NOTES)
    for row in rows:
        partition = cache.partition(row.segment)
        size = sum(file.stat().st_size for file in partition.glob("*.log"))
        batch = row.segment.batch_bytes
        cells = [row.label, f"{size / MIB:,.0f}", f"{batch / MIB:.0f}" if batch else "under 1"]
        try:
            peak = child("child", "memory", str(partition))["peak_kib"] * 1024
            cells += [f"{peak / MIB:.0f}", number(peak / batch) if batch else "-"]
        except RunError as error:
            block.failures.append(f"{row.label}: {error}")
            cells += ["-", "-"]
        block.rows.append(tuple(cells))
        print("  ".join(cells), file=sys.stderr, flush=True)
    return block
