"""The audit on a terminal, and the titles and columns of the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from kafkalog_source.errors import printable
from spark_jobs.audit.result import Profile, Row
from spark_jobs.audit.verdict import verdict_of
from spark_jobs.common.summary import size_text, table_text

__all__ = ["SECTIONS", "Section", "cell", "print_profile", "topic_text"]

_MOST_LINES = 40
"""The most rows of a table on the terminal; HTML, JSON and Parquet have more."""


class Section:
    """A table of the report.

    Parameters
    ----------
    table : str
        Its name in the profile.
    title, words : str
        Title, and a sentence or two that explain the table.
    columns : sequence of (str, str, callable)
        Head, key of the row, and function that formats the value.
    on_terminal : bool
        Whether it is also printed.
    """

    def __init__(
        self,
        table: str,
        title: str,
        words: str,
        columns: Sequence[tuple[str, str, Callable[[Any], str]]],
        *,
        on_terminal: bool = False,
    ) -> None:
        self.table = table
        self.title = title
        self.words = words
        self.columns = tuple(columns)
        self.on_terminal = on_terminal

    def rows(self, profile: Profile) -> list[Row]:
        """Return its rows."""
        found: list[Row] = getattr(profile, self.table)
        return found

    def shown_columns(self, rows: Sequence[Row]) -> list[tuple[str, str, Callable[[Any], str]]]:
        """Return the columns that the rows have; without a pass over the records, some are missing."""
        return [column for column in self.columns if rows and column[1] in rows[0]]


def topic_text(topic: object) -> str:
    """Return a topic name for display."""
    return "(no topic)" if topic is None else printable(str(topic))


def cell(row: Row, key: str, write: Callable[[Any], str]) -> str:
    """Format a value: null is empty text if there is no value, and ``unknown`` if there is one."""
    value = row[key]
    # The topic of a segment outside of any topic is null.
    if value is not None or write is topic_text:
        return write(value)
    return "unknown" if _is_unknown(row, key) else ""


def _is_unknown(row: Row, key: str) -> bool:
    """Return whether a null stands for a value that headers do not hold. Messages of format 0 have no timestamps."""
    if key == "first_time":
        return row.get("last_time") is not None and row.get("records") != 0
    return key in _LEARNED and bool(row.get("batches"))


def count_text(value: int) -> str:
    """Format a count with thousands separators."""
    return f"{value:,}"


def time_text(value: datetime) -> str:
    """Format a time to the second, in the time zone of the job."""
    return value.strftime("%Y-%m-%d %H:%M:%S")


def name_text(value: str) -> str:
    """Format a header name, which may be empty."""
    return printable(value) if value else '""'


def ratio_text(value: float) -> str:
    """Format the ratio of content to bytes on disk."""
    return f"{value:.2f}"


def list_text(values: Sequence[object]) -> str:
    """Join values by commas."""
    return ", ".join(str(each) for each in values)


_LEARNED = frozenset(
    {
        "records",
        "first_offset",
        "missing_inside_batches",
        "missing_between_batches",
        "missing_between_segments",
        "gaps",
        "largest_gap",
    }
)
"""Columns that are null in a row with batches only if their value is unknown."""

_COUNT, _SIZE, _TIME, _TEXT, _TOPIC = count_text, size_text, time_text, lambda value: printable(str(value)), topic_text

SECTIONS = (
    Section(
        "topics",
        "Topics",
        "All topics, the largest first. Records do not include transaction markers; First and Last are timestamps of "
        "records.",
        [
            ("Topic", "topic", _TOPIC),
            ("Partitions", "partitions", _COUNT),
            ("Segments", "segments", _COUNT),
            ("On disk", "bytes", _SIZE),
            ("Batches", "batches", _COUNT),
            ("Records", "records", _COUNT),
            ("Codecs", "codecs", list_text),
            ("Formats", "magics", list_text),
            ("First", "first_time", _TIME),
            ("Last", "last_time", _TIME),
        ],
        on_terminal=True,
    ),
    Section(
        "codecs",
        "Codecs",
        "Ratio is bytes of keys, values and headers divided by bytes on disk: above 1 the codec saves space, below 1 "
        "the overhead of batches is larger than the savings.",
        [
            ("Topic", "topic", _TOPIC),
            ("Codec", "compression", _TEXT),
            ("On disk", "bytes", _SIZE),
            ("Batches", "batches", _COUNT),
            ("Records", "records", _COUNT),
            ("Content", "content_bytes", _SIZE),
            ("Ratio", "ratio", ratio_text),
        ],
        on_terminal=True,
    ),
    Section(
        "topics",
        "Keys and values",
        "Sizes in bytes; median and 99th percentile to within 1 %. Distinct keys are an estimate, to within a few "
        "percent. A tombstone is a record without a value.",
        [
            ("Topic", "topic", _TOPIC),
            ("Distinct keys", "distinct_keys", _COUNT),
            ("Null keys", "null_keys", _COUNT),
            ("Tombstones", "tombstones", _COUNT),
            ("Key min", "key_min", _COUNT),
            ("median", "key_median", _COUNT),
            ("p99", "key_p99", _COUNT),
            ("max", "key_max", _COUNT),
            ("Value min", "value_min", _COUNT),
            ("median", "value_median", _COUNT),
            ("p99", "value_p99", _COUNT),
            ("max", "value_max", _COUNT),
        ],
        on_terminal=True,
    ),
    Section(
        "topics",
        "Missing offsets",
        "Offsets without a record. Inside of batches and between batches of a segment, compaction removed them; "
        "between segments, a segment may also be missing. Headers of compressed messages of formats 0 and 1 do not "
        "hold the counts: unknown if the records were not read, and in Kafka 0.7, whose offsets are byte positions.",
        [
            ("Topic", "topic", _TOPIC),
            ("Gaps", "gaps", _COUNT),
            ("Inside batches", "missing_inside_batches", _COUNT),
            ("Between batches", "missing_between_batches", _COUNT),
            ("Between segments", "missing_between_segments", _COUNT),
            ("Uncounted batches", "uncounted_batches", _COUNT),
            ("Empty batches", "empty_batches", _COUNT),
        ],
        on_terminal=True,
    ),
    Section(
        "partitions",
        "Partitions",
        "The same for each partition.",
        [
            ("Topic", "topic", _TOPIC),
            ("Partition", "partition", _COUNT),
            ("Segments", "segments", _COUNT),
            ("On disk", "bytes", _SIZE),
            ("Batches", "batches", _COUNT),
            ("Records", "records", _COUNT),
            ("Distinct keys", "distinct_keys", _COUNT),
            ("Tombstones", "tombstones", _COUNT),
            ("First", "first_time", _TIME),
            ("Last", "last_time", _TIME),
        ],
    ),
    Section(
        "partitions",
        "Offsets",
        "First and last offset of each partition, and missing offsets between them.",
        [
            ("Topic", "topic", _TOPIC),
            ("Partition", "partition", _COUNT),
            ("First", "first_offset", _COUNT),
            ("Last", "last_offset", _COUNT),
            ("Missing inside batches", "missing_inside_batches", _COUNT),
            ("between batches", "missing_between_batches", _COUNT),
            ("between segments", "missing_between_segments", _COUNT),
            ("Gaps", "gaps", _COUNT),
            ("Largest", "largest_gap", _COUNT),
        ],
    ),
    Section(
        "formats",
        "Formats",
        "Batches by format version, which Kafka calls magic.",
        [
            ("Topic", "topic", _TOPIC),
            ("Format", "magic", _COUNT),
            ("On disk", "bytes", _SIZE),
            ("Batches", "batches", _COUNT),
            ("Records", "records", _COUNT),
        ],
    ),
    Section(
        "headers",
        "Headers",
        "Header names: the number of records with each, and of all occurrences. Of the content of records, only these "
        "names are in this report.",
        [
            ("Topic", "topic", _TOPIC),
            ("Name", "name", name_text),
            ("Records", "records", _COUNT),
            ("Occurrences", "occurrences", _COUNT),
        ],
    ),
    Section(
        "producers",
        "Producers",
        "Idempotent and transactional producers by id. Other producers have no id. Markers end transactions.",
        [
            ("Topic", "topic", _TOPIC),
            ("Producer", "producer_id", str),
            ("Epochs from", "first_epoch", str),
            ("to", "last_epoch", str),
            ("Partitions", "partitions", _COUNT),
            ("Batches", "batches", _COUNT),
            ("in transactions", "transactional_batches", _COUNT),
            ("Markers", "control_batches", _COUNT),
            ("Records", "records", _COUNT),
            ("First", "first_time", _TIME),
            ("Last", "last_time", _TIME),
        ],
    ),
    Section(
        "damage",
        "Damage",
        "Regions of files that are not a batch, or a batch with a wrong checksum or invalid content, and the offsets "
        "that may be lost.",
        [
            ("Topic", "topic", _TOPIC),
            ("Partition", "partition", _COUNT),
            ("File", "file", _TEXT),
            ("Position", "position", _COUNT),
            ("Bytes", "size", _COUNT),
            ("First offset lost", "first_offset", _COUNT),
            ("Last", "last_offset", _COUNT),
            ("Reason", "reason", _TEXT),
        ],
        on_terminal=True,
    ),
)


def print_profile(profile: Profile) -> None:
    """Print the tables that are for the terminal, and the notes."""
    for section in SECTIONS:
        rows = section.rows(profile)
        columns = section.shown_columns(rows)
        # A table with no other column than the topic is skipped.
        if section.on_terminal and len(columns) > 1:
            heads = [head for head, _, _ in columns]
            lines = [[cell(row, key, write) for _, key, write in columns] for row in rows[:_MOST_LINES]]
            print(f"{section.title}\n{table_text(heads, lines)}")
            left = profile.cut.get(section.table, len(rows)) - len(lines)
            print(f"… and {left:,} more\n" if left > 0 else "")
    for warning in profile.warnings:
        print(f"Note: {printable(warning)}")
    for path in profile.skipped:
        print(f"Left out: {printable(path)}")
    print(f"Damage: {profile.damaged_regions or 'none'}")
    verdict = verdict_of(profile)
    for line in (verdict.words, *verdict.findings):
        print(line)
    for command in verdict.commands:
        print(f"Next: {command}")
