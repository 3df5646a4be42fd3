"""An audit on a terminal, and what its columns are called for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from kafkalog_source.errors import printable
from spark_jobs.audit.result import Profile, Row
from spark_jobs.common.summary import size_text, table_text

__all__ = ["SECTIONS", "Section", "cell", "print_profile", "topic_text"]

_MOST_LINES = 40
"""Rows of a table on a terminal; HTML, JSON and Parquet have more."""


class Section:
    """A table of the report.

    Parameters
    ----------
    table : str
        Its name in the profile.
    title, words : str
        What it is called, and what it means in a sentence or two.
    columns : sequence of (str, str, callable)
        Head, the row's key, and how its value is written.
    on_terminal : bool
        Whether it is printed, too.
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
        """Its rows."""
        found: list[Row] = getattr(profile, self.table)
        return found

    def shown_columns(self, rows: Sequence[Row]) -> list[tuple[str, str, Callable[[Any], str]]]:
        """The columns that the rows have; without a pass over the records some are missing."""
        return [column for column in self.columns if rows and column[1] in rows[0]]


def topic_text(topic: object) -> str:
    """A topic's name as it may be printed."""
    return "(no topic)" if topic is None else printable(str(topic))


def cell(row: Row, key: str, write: Callable[[Any], str]) -> str:
    """A value as text; nothing for null where there is none, and a word where it could not be learned."""
    value = row[key]
    # Segments outside of any topic have null for one.
    if value is not None or write is topic_text:
        return write(value)
    return "unknown" if _is_unknown(row, key) else ""


def _is_unknown(row: Row, key: str) -> bool:
    """Whether there is a value that headers do not tell. Messages of format 0 have no times."""
    if key == "first_time":
        return row.get("last_time") is not None
    return key in _LEARNED and bool(row.get("batches"))


def count_text(value: int) -> str:
    """A count with thousands apart."""
    return f"{value:,}"


def time_text(value: datetime) -> str:
    """A time to the second; its zone is the job's."""
    return value.strftime("%Y-%m-%d %H:%M:%S")


def name_text(value: str) -> str:
    """The name of a header, which may be empty."""
    return printable(value) if value else '""'


def ratio_text(value: float) -> str:
    """How many times larger the content is than what it takes on disk."""
    return f"{value:.2f}"


def list_text(values: Sequence[object]) -> str:
    """Values with commas between them."""
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
"""Columns that are never null where a batch is, unless nothing tells them."""

_COUNT, _SIZE, _TIME, _TEXT, _TOPIC = count_text, size_text, time_text, lambda value: printable(str(value)), topic_text

SECTIONS = (
    Section(
        "topics",
        "Topics",
        "What there is of each topic, the largest first. Records do not count transaction markers; times are those of "
        "records, the first and the last.",
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
        "Ratio is bytes of keys, values and headers over bytes on disk: above 1 the codec saves space, below 1 what "
        "batches cost beside their content shows.",
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
        "Sizes in bytes; median and 99th percentile to within 1 %. Distinct keys are estimated, to within a few per "
        "cent. A tombstone is a record without a value.",
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
        "Offsets without a record. Inside batches and between batches of a segment, compaction took them; between "
        "segments it may as well be a segment that is not there. Headers of compressed messages of formats 0 and 1 do "
        "not tell it: it is unknown where their records were not read, and in Kafka 0.7, whose offsets are positions.",
        [
            ("Topic", "topic", _TOPIC),
            ("Gaps", "gaps", _COUNT),
            ("Inside batches", "missing_inside_batches", _COUNT),
            ("Between batches", "missing_between_batches", _COUNT),
            ("Between segments", "missing_between_segments", _COUNT),
            ("Batches that do not tell", "uncounted_batches", _COUNT),
            ("Empty batches", "empty_batches", _COUNT),
        ],
        on_terminal=True,
    ),
    Section(
        "partitions",
        "Partitions",
        "The same by partition.",
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
        "Where each partition begins and ends, and what is missing in between.",
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
        "Batches by the version of their format, which is what Kafka calls magic.",
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
        "Names of headers: in how many records each one is, and how often in all. Of the content of records, this is "
        "all that is in this report.",
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
        "Idempotent and transactional producers by their ids. Other producers leave no name. Markers end transactions.",
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
        "Regions of files that are no batch, or a batch with a wrong checksum or content, with the offsets that may be "
        "lost.",
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
    """Print the tables that are for a terminal, and what there is to note."""
    for section in SECTIONS:
        rows = section.rows(profile)
        columns = section.shown_columns(rows)
        # What is only the topic's name has nothing to say of it.
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
