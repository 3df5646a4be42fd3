"""``kafkalog count``: the number of records of each partition, from the headers of batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.cli.header_rows import HeaderRows
from kafkalog_source.cli.text import json_line, table
from kafkalog_source.errors import counted
from kafkalog_source.format import MAX_OFFSET
from kafkalog_source.partition.splits import SplitRange

__all__ = ["run"]

_COLUMNS = ("batchPosition", "batchBaseOffset", "batchLastOffset", "recordCount", "isControl")


def run(out: TextIO, paths: Sequence[str], given: Mapping[str, Any], *, as_json: bool) -> int:
    """Write a row for each partition, and return the exit status."""
    headers = HeaderRows(paths, given, _COLUMNS, "counting")
    counts = {(topic, partition): 0 for topic, partition, _ in headers.places()}
    for each, rows in headers:
        counts[each.topic, each.partition] += _count(headers, each, rows)
    if as_json:
        partitions = [{"topic": topic, "partition": number, "records": n} for (topic, number), n in counts.items()]
        out.write(json_line({"records": sum(counts.values()), "partitions": partitions}) + "\n")
    else:
        cells = [("-" if topic is None else topic, "-" if n is None else n, c) for (topic, n), c in counts.items()]
        total = f"{counted(sum(counts.values()), 'record')} in {counted(len(counts), 'partition')}"
        lines = table(("TOPIC", "PARTITION", "RECORDS"), cells, frozenset({"PARTITION", "RECORDS"}))
        out.writelines(line + "\n" for line in (*lines, total))
    return headers.finish()


def _count(headers: HeaderRows, each: SplitRange, rows: pa.RecordBatch) -> int:
    """The records of batches; decoded where the header does not hold their number, or not all are in the range."""
    if not headers.include_control_records:
        rows = rows.filter(pc.invert(rows.column("isControl")))
    first = pc.fill_null(rows.column("batchBaseOffset"), -1)
    is_whole = pc.and_(pc.greater_equal(first, each.low), pc.less(rows.column("batchLastOffset"), each.high))
    is_known = pc.and_(is_whole, rows.column("recordCount").is_valid())
    known = pc.sum(rows.column("recordCount").filter(is_known)).as_py() or 0
    others = rows.filter(pc.invert(is_known))
    return int(known) + (_decoded(headers, each, others) if others.num_rows else 0)


def _decoded(headers: HeaderRows, each: SplitRange, batches: pa.RecordBatch) -> int:
    first, last = batches.column("batchBaseOffset"), batches.column("batchLastOffset")
    low = each.low if first.null_count else pc.min(first).as_py()
    high = min(MAX_OFFSET, pc.max(last).as_py() + 1)
    positions = batches.column("batchPosition")
    found = headers.records(each, ("batchPosition",), low, high)
    return sum(pc.sum(pc.is_in(rows.column(0), positions)).as_py() or 0 for rows in found)
