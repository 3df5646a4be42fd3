"""Part (e): read_committed against read_uncommitted, over a log a tenth of which is transactional."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tests.bench.process import RunError, child
from tests.bench.segments import TOPIC, Cache
from tests.bench.table import Block, number
from tests.bench.transactional import TransactionalSegment, link

SIZE = 200 << 20
FILES = {
    "as a broker leaves it": (".log", ".index", ".txnindex", ".snapshot"),
    "no .txnindex": (".log", ".index", ".snapshot"),
    ".log alone": (".log",),
}
NOTES = (
    "Millions of records a second of one scan on one thread, the two levels by turns in the same process, best pass "
    "of each; ratio is read_committed's time over read_uncommitted's, the median of the turns.",
    "One segment; a tenth of its batches are in transactions of 10 batches by 4 producers at once, a fifth of them "
    "aborted. Without a .txnindex the headers of transactional stretches are read ahead; without a .snapshot too "
    "all headers are read before, to find transactions that are still open.",
)


def segments(*, quick: bool) -> list[TransactionalSegment]:
    """What is read."""
    rows = [("none", 100), ("none", 10), ("lz4", 100)]
    return [TransactionalSegment(codec, batch, SIZE) for codec, batch in (rows[:1] if quick else rows)]


def measure(cache: Cache, rows: Sequence[TransactionalSegment], seconds: float) -> Block:
    """The block of part (e)."""
    header = ("segment", "files", "read_uncommitted", "read_committed", "ratio")
    block = Block("read_committed", header, NOTES)
    for row in rows:
        whole = cache.transactional(row)
        for files, suffixes in FILES.items():
            label = f"v2-{row.codec}-{row.batch}-h2"
            directory = whole.parent.with_name(f"{whole.parent.name}-{len(suffixes)}") / f"{TOPIC}-0"
            link(whole, directory, suffixes)
            try:
                cells = (
                    label,
                    files,
                    *_cells(child("child", "transactions", str(directory), "--seconds", str(seconds))),
                )
            except RunError as error:
                block.failures.append(f"{label}, {files}: {error}")
                cells = (label, files, "-", "-", "-")
            block.rows.append(cells)
            print("  ".join(cells), file=sys.stderr, flush=True)
    return block


def _cells(answer: dict[str, Any]) -> tuple[str, str, str]:
    seconds, records = answer["seconds"], answer["records"]
    rates = {level: records[level] / seconds[level] / 1e6 for level in seconds}
    return number(rates["read_uncommitted"]), number(rates["read_committed"]), number(answer["ratio"])
