"""``kafkalog stat``: what the headers of batches say about each topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from kafkalog_source.cli.cells import iso_utc
from kafkalog_source.cli.header_rows import HeaderRows
from kafkalog_source.cli.statistics import COLUMNS, Statistics, TopicStatistics
from kafkalog_source.cli.text import complain, json_line, table
from kafkalog_source.errors import counted, size_text

__all__ = ["run"]

_HEADS = ("TOPIC", "PARTITIONS", "SEGMENTS", "BATCHES", "RECORDS", "{size}", "FIRST TIME", "LAST TIME", "CODECS")
_BATCH_HEADS = (
    "TOPIC",
    "RECORDS/BATCH",
    "{size} P50",
    "P90",
    "P99",
    "MAX",
    "FORMATS",
    "TRANSACTIONAL",
    "CONTROL",
    "PRODUCERS",
)
_LEFT = frozenset({"TOPIC", "FIRST TIME", "LAST TIME", "CODECS", "FORMATS"})


def run(out: TextIO, paths: Sequence[str], given: Mapping[str, Any], *, as_json: bool, sizes_for_people: bool) -> int:
    """Write two tables or a JSON object, and return the exit status."""
    headers = HeaderRows(paths, given, COLUMNS, "reading headers")
    statistics = Statistics(headers.places())
    for _, rows in headers:
        statistics.add(rows)
    topics = statistics.topics()
    if as_json:
        out.write(json_line({"topics": [each.to_dict() for each in topics]}) + "\n")
    else:
        out.writelines(line + "\n" for line in _lines(topics, sizes_for_people=sizes_for_people))
    unknown = sum(each.uncounted_batches for each in topics)
    if unknown and not as_json:
        noun = counted(unknown, "compressed batch")
        complain(
            f"warning: the headers of {noun} of format 0 or 1 do not hold the number of records; kafkalog count "
            "decodes them"
        )
    return headers.finish()


def _lines(topics: Sequence[TopicStatistics], *, sizes_for_people: bool) -> list[str]:
    size = size_text if sizes_for_people else str
    word = "SIZE" if sizes_for_people else "BYTES"
    heads, batch_heads = ([head.replace("{size}", word) for head in each] for each in (_HEADS, _BATCH_HEADS))
    rows = [
        (
            each.topic or "-",
            each.partitions,
            each.segments,
            each.batches,
            _known(each.records),
            size(each.bytes),
            _time(each.first_time_us),
            _time(each.last_time_us),
            ",".join(each.codecs),
        )
        for each in topics
    ]
    batch_rows = [
        (
            each.topic or "-",
            _known(None if each.records is None or not each.batches else round(each.records / each.batches, 1)),
            *(size(each.batch_bytes[name]) for name in ("p50", "p90", "p99", "max")),
            ",".join(map(str, each.formats)),
            each.transactional_batches,
            each.control_batches,
            each.producers,
        )
        for each in topics
    ]
    bytes_all = sum(each.bytes for each in topics)
    total = (
        f"{counted(len(topics), 'topic')}, {counted(sum(each.partitions for each in topics), 'partition')}, "
        f"{counted(sum(each.batches for each in topics), 'batch')}, "
        + (size_text(bytes_all) if sizes_for_people else counted(bytes_all, "byte"))
    )
    return [
        *table(heads, rows, frozenset(heads) - _LEFT),
        "",
        *table(batch_heads, batch_rows, frozenset(batch_heads) - _LEFT),
        "",
        total,
    ]


def _known(value: float | None) -> str:
    return "?" if value is None else str(value)


def _time(time_us: int | None) -> str:
    return "?" if time_us is None else iso_utc(time_us)
