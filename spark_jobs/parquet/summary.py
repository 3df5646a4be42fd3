"""The output of log_to_parquet: some rows, and a summary as a table or as JSON."""

from __future__ import annotations

import base64
import json
import unicodedata
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kafkalog_source.errors import printable
from spark_jobs.common.input import JobInput
from spark_jobs.common.plan import ReadPlan, print_notes
from spark_jobs.common.sink import JobOutput, read_sink
from spark_jobs.common.summary import print_json, size_text, table_text
from spark_jobs.parquet.decode import DECODED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["print_nothing_new", "print_summary", "rows_text", "summary_of"]

# Longer keys and values are cut.
_CELL_WIDTH = 40


def rows_text(spark: SparkSession, plan: ReadPlan, output: JobOutput, count: int) -> str:
    """Return a table of some rows read back from the output; this opens one file."""
    from pyspark.sql import functions as F

    topics = [topic.topic for topic in plan.topics]
    # The output may hold other topics, of other runs. The topic of a segment outside of any topic is null.
    ours = F.col("topic").isin(topics) | (F.col("topic").isNull() & F.lit(None in topics))
    frame = read_sink(spark, output).where(ours)
    value = F.to_json(DECODED).alias(DECODED) if DECODED in frame.columns else F.col("value")
    shown = frame.select(
        "topic", "partition", "offset", F.col("timestamp").cast("string").alias("timestamp"), "key", value
    )
    cells = [[_cell(value) for value in row] for row in shown.limit(count).collect()]
    return table_text(shown.columns, cells, ("partition", "offset"))


def _cell(value: object) -> str:
    """Format a value as the command kafkalog does, in quotes or base64, and cut it to the column."""
    if isinstance(value, bytes | bytearray):
        text = _as_text(bytes(value)) or f"base64:{base64.b64encode(value).decode('ascii')}"
    else:
        text = "null" if value is None else printable(str(value))
    return text if len(text) <= _CELL_WIDTH else f"{text[: _CELL_WIDTH - 1]}…"


def _as_text(value: bytes) -> str | None:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return None
    # Control characters other than tab and line ends: the value is binary data, not text.
    if any(unicodedata.category(c) == "Cc" and c not in "\t\n\r" for c in text):
        return None
    return printable(json.dumps(text, ensure_ascii=False))


def summary_of(source: JobInput, output: JobOutput, plan: ReadPlan, outcome: dict[str, Any]) -> dict[str, Any]:
    """Return the summary of a run: its input, its plan and the outcome.

    Parameters
    ----------
    source : JobInput
    output : JobOutput
    plan : ReadPlan
    outcome : dict
        The counts, with ``mode`` and ``seconds``.

    Returns
    -------
    dict
        Plain values. The ``records`` of a topic are None if they were not counted separately.
    """
    topics = [asdict(topic) | {"records": outcome.get(f"topic_{index}")} for index, topic in enumerate(plan.topics)]
    return {
        "input": list(source.paths),
        "mode": outcome["mode"],
        "format": output.format,
        "output": output.place,
        "topics": topics,
        "partitions": plan.partitions,
        "segments": plan.segments,
        "splits": plan.splits,
        "bytes": plan.bytes,
        "records": outcome["records"],
        "micro_batches": outcome.get("micro_batches"),
        "damage": outcome.get("damage"),
        "undecodable": outcome.get("undecodable", 0),
        "headers_dropped": outcome.get("headers_dropped", 0),
        "warnings": list(plan.warnings),
        "skipped": list(plan.skipped),
        "seconds": outcome["seconds"],
    }


def print_summary(plan: ReadPlan, summary: dict[str, Any], *, as_json: bool) -> None:
    """Print the summary as a table with notes, or only as JSON."""
    if as_json:
        print_json(summary)
        return
    heads = ("topic", "partitions", "segments", "records", "size")
    rows = [_row(topic["topic"] or "(no topic)", topic) for topic in summary["topics"]]
    print(table_text(heads, [*rows, _row("total", summary)]))
    print_notes(plan)
    if summary["undecodable"]:
        print(f"Values that could not be decoded: {summary['undecodable']:,}")
    if summary["headers_dropped"]:
        print(f"Headers dropped for a later one of the same name: {summary['headers_dropped']:,}")
    if summary["damage"] is not None:
        print(f"Damage: {summary['damage'] or 'none'}")
    print(f"{summary['format'].capitalize()}: {summary['output']} (topic=…/date=…), in {summary['seconds']:.1f} s")


def print_nothing_new(source: JobInput, output: JobOutput, plan: ReadPlan, *, as_json: bool) -> None:
    """Print the summary of an incremental run that had nothing to do."""
    if as_json:
        outcome = {"mode": "incremental", "records": 0, "micro_batches": 0, "seconds": 0.0}
        print_json(summary_of(source, output, plan, outcome))
        return
    print_notes(plan)
    print(f"Nothing new since the last run; {output.format.capitalize()}: {output.place} is unchanged")


def _row(name: str, counts: dict[str, Any]) -> tuple[object, ...]:
    records = "" if counts["records"] is None else counts["records"]
    return printable(name), counts["partitions"], counts["segments"], records, size_text(counts["bytes"])
