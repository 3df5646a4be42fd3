"""What is measured: the segments, by name, and which of them each part of the report reads."""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from collections.abc import Iterable

MIB = 1 << 20
NO_LIMIT = 1 << 40
CODECS = {1: ("none", "gzip", "snappy", "lz4"), 2: ("none", "gzip", "snappy", "lz4", "zstd")}
BATCH_COUNTS = (1, 100, 1000)
SPARK_TASKS = 2
FEW, MANY = SPARK_TASKS, 6 * SPARK_TASKS
"""Partitions that Spark's short and long query read."""
SEGMENT_2_GIB = 2_147_483_000
ROW_NAME = re.compile(r"v([12])-([a-z0-9]+)-(\d+)(?:-h(\d+))?")


class UnknownRowError(ValueError):
    """A row was asked for that does not exist."""


@dataclasses.dataclass(frozen=True)
class Segment:
    """One generated segment; the fields are the options of ``Gen.java``."""

    magic: int
    codec: str
    batch: int
    records: int
    headers: int = 0
    batch_bytes: int = 0
    big_value: int = 0
    big_every: int = 0
    segment_bytes: int = 0
    max_batches: int = 0

    @property
    def name(self) -> str:
        """The directory it is kept in: every option that differs from its default."""
        extras = {
            "r": self.records if self.records < NO_LIMIT else 0,
            "b": self.batch_bytes,
            "v": self.big_value,
            "e": self.big_every,
            "s": self.segment_bytes,
            "n": self.max_batches,
        }
        batch = str(self.batch) if self.batch < NO_LIMIT else "bytes"
        start = f"v{self.magic}-{self.codec}-{batch}-h{self.headers}"
        return start + "".join(f"-{letter}{value}" for letter, value in extras.items() if value)

    def arguments(self) -> list[str]:
        """The command line of ``Gen.java`` that writes it."""
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        options = {f"--{name.replace('_', '-')}": str(value) for name, value in given.items() if value}
        return [text for option in options.items() for text in option]


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of a part: a label and the segment it reads."""

    label: str
    segment: Segment


def decode_row(label: str) -> Row:
    """The row called ``v2-lz4-100`` or, with another count of headers, ``v2-lz4-100-h0``.

    Parameters
    ----------
    label
        Format, codec, records a batch and, where it is not 2 for v2, the headers a record.

    Raises
    ------
    UnknownRowError
        The name has another form, or names a codec that the format does not have.
    """
    match = ROW_NAME.fullmatch(label)
    if match is None or match[2] not in CODECS[int(match[1])]:
        raise UnknownRowError(f"no row {label!r}: version, codec and records a batch, as in v2-lz4-100")
    magic, batch = int(match[1]), int(match[3])
    headers = int(match[4]) if match[4] else (2 if magic == 2 else 0)
    records = 150_000 if batch == 1 else 300_000
    return Row(label, Segment(magic, match[2], batch, records, headers))


def all_decode_labels() -> list[str]:
    """Every format, codec and batch size; v1 uncompressed has no batches, so it has one row."""
    v2 = [f"v2-{codec}-{count}" for codec in CODECS[2] for count in BATCH_COUNTS]
    v1 = [f"v1-{codec}-{count}" for codec in CODECS[1] if codec != "none" for count in BATCH_COUNTS]
    return [*v2, "v1-none-1", *v1]


QUICK_DECODE_LABELS = (
    *(f"v2-{codec}-100" for codec in CODECS[2]),
    "v2-none-1",
    "v2-lz4-1000",
    "v1-none-1",
    "v1-lz4-100",
    "v1-gzip-100",
)


def choose_decode_rows(patterns: Iterable[str], *, quick: bool) -> list[Row]:
    """The rows named by ``--only`` (names or ``*`` patterns), or the quick ones, or all."""
    labels: list[str] = []
    for pattern in patterns:
        found = [label for label in all_decode_labels() if fnmatch.fnmatchcase(label, pattern)]
        labels += found or [pattern]
    if not labels:
        labels = list(QUICK_DECODE_LABELS) if quick else all_decode_labels()
    return [decode_row(label) for label in dict.fromkeys(labels)]


def spark_rows() -> list[Row]:
    """What goes through Spark's channel: uncompressed, and lz4."""
    return [decode_row(label) for label in ("v2-none-100", "v2-lz4-100")]


def threads_rows(*, quick: bool) -> list[Row]:
    """What two threads read."""
    labels = ["v2-none-100", "v2-lz4-100", "v2-zstd-100", "v1-none-1", "v1-lz4-100"]
    return [decode_row(label) for label in (labels[1:2] if quick else labels)]


def dump_rows(*, quick: bool) -> list[Row]:
    """What is dumped as lines: enough records for the start of the processes to matter little."""
    rows = [decode_row(label) for label in ("v2-lz4-100", "v2-none-100", "v1-lz4-100")]
    more = [dataclasses.replace(row, segment=dataclasses.replace(row.segment, records=600_000)) for row in rows]
    return more[:1] if quick else more


def _many_batches(codec: str, size: int, *, magic: int = 2) -> Segment:
    headers = 2 if magic == 2 else 0
    return Segment(magic, codec, 100, NO_LIMIT, headers, segment_bytes=size)


def _large_batches(codec: str, size: int, *, magic: int = 2) -> Segment:
    """Batches that hold just under 64 MiB, four or five values of 10 MiB among them."""
    return Segment(
        magic,
        codec,
        NO_LIMIT,
        NO_LIMIT,
        headers=2 if magic == 2 else 0,
        batch_bytes=64 * MIB,
        big_value=10 * MIB,
        big_every=10_000,
        segment_bytes=size,
    )


def _one_batch(codec: str, size: int, *, magic: int = 2) -> Segment:
    whole = _large_batches(codec, 0, magic=magic)
    return dataclasses.replace(whole, batch_bytes=size, max_batches=1)


def memory_rows(*, quick: bool) -> list[Row]:
    """Small and large segments with ordinary batches, with batches of 64 MiB, and one larger batch alone."""
    small, large, one = 256 * MIB, SEGMENT_2_GIB, 200 * MIB
    rows = [
        Row("v2 none, 100 records a batch", _many_batches("none", small)),
        Row("v2 lz4, 64 MiB batches, 10 MiB values", _large_batches("lz4", small)),
        Row("v2 lz4, one batch of 200 MiB", _one_batch("lz4", one)),
    ]
    if quick:
        return rows
    rows.insert(1, Row("v2 none, 100 records a batch", _many_batches("none", large)))
    rows.insert(3, Row("v2 lz4, 64 MiB batches, 10 MiB values", _large_batches("lz4", large)))
    rows += [
        Row(f"v2 {codec}, 64 MiB batches, 10 MiB values", _large_batches(codec, small))
        for codec in ("none", "gzip", "snappy", "zstd")
    ]
    rows.append(Row("v1 lz4, 64 MiB batches, 10 MiB values", _large_batches("lz4", small, magic=1)))
    rows.append(Row("v2 none, one batch of 200 MiB", _one_batch("none", one)))
    rows.append(Row("v2 zstd, one batch of 200 MiB", _one_batch("zstd", one)))
    rows.append(Row("v1 lz4, one batch of 200 MiB", _one_batch("lz4", one, magic=1)))
    return rows
