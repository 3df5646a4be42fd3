"""``view=segments``: what the headers of a segment's batches say together, and what lies beside it.

Only what the columns need is read: nothing, the ends of the segment (`segment_ends`) or
all headers. Payloads are passed over unless ``verifyChecksums`` asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.columns import CORRUPT_RECORD
from kafkalog_source.errors import LogDirError
from kafkalog_source.format import CODEC_NAMES
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.side_files.index_entries import IndexEnd, read_index_end
from kafkalog_source.segment.source import LocalFile, is_gone
from kafkalog_source.views.headers import header_chunks, whole_segment
from kafkalog_source.views.segment_ends import END_COLUMNS, read_ends, what_follows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from kafkalog_source.partition.file_parts import SegmentPart
    from kafkalog_source.reporting.report import Report
    from kafkalog_source.segment.batch_headers import BatchHeaders
    from kafkalog_source.views.rows import Rows

__all__ = ["segment_rows"]

_HEADERS = (
    "last_offset",
    "record_count",
    "first_timestamp",
    "max_timestamp",
    "magic",
    "codec",
    "leader_epoch",
    "transactional",
    "control",
    "position",
    "size",
)
_OF_HEADERS = frozenset(
    (
        "validSize",
        "batchCount",
        "recordCount",
        "maxTimestamp",
        "magics",
        "compressions",
        "minLeaderEpoch",
        "maxLeaderEpoch",
        "isTransactional",
        "controlBatchCount",
        CORRUPT_RECORD,
    )
)
"""Columns that all headers are walked for: what holds of every batch, and what shows damage among them."""


@dataclass(slots=True)
class _Summary:
    """What the headers so far say together."""

    batches: int = 0
    records: int | None = 0
    last_offset: int | None = None
    valid_size: int = 0
    is_damaged: bool = False
    first_timestamp: int | None = None
    max_timestamp: int | None = None
    magics: set[int] = field(default_factory=set)
    codecs: set[int] = field(default_factory=set)
    epochs: tuple[int, int] | None = None
    is_transactional: bool = False
    control_batches: int = 0

    def add(self, headers: dict[str, pa.Array]) -> None:
        """Take the headers of some batches."""
        count = len(headers["last_offset"])
        self.batches += count
        self._add_records(headers["record_count"])
        self.last_offset = headers["last_offset"][count - 1].as_py()
        if not self.is_damaged:
            self.valid_size = headers["position"][count - 1].as_py() + headers["size"][count - 1].as_py()
        self.magics.update(headers["magic"].unique().to_pylist())
        self.codecs.update(headers["codec"].unique().to_pylist())
        self._add_times(headers["first_timestamp"], headers["max_timestamp"])
        self._add_epochs(headers["leader_epoch"])
        self.is_transactional |= bool(pc.sum(headers["transactional"]).as_py())
        self.control_batches += pc.sum(headers["control"]).as_py() or 0

    def _add_records(self, counts: pa.Array) -> None:
        # A compressed message of v0 or v1 does not say how many messages it holds.
        known = self.records is not None and not counts.null_count
        self.records = (self.records or 0) + (pc.sum(counts).as_py() or 0) if known else None

    def _add_times(self, first: pa.Array, greatest: pa.Array) -> None:
        if self.first_timestamp is None and first.null_count < len(first):
            self.first_timestamp = first.drop_null()[0].as_py()
        found = pc.max(greatest).as_py()
        if found is not None:
            self.max_timestamp = found if self.max_timestamp is None else max(self.max_timestamp, found)

    def _add_epochs(self, epochs: pa.Array) -> None:
        least, greatest = pc.min(epochs).as_py(), pc.max(epochs).as_py()
        if least is not None:
            low, high = self.epochs or (least, greatest)
            self.epochs = min(low, least), max(high, greatest)

    def columns(self, base_offset: int, end: str) -> dict[str, Any]:
        """The columns of the row that the headers give."""
        last, (low, high) = self.last_offset, self.epochs or (None, None)
        return {
            "lastOffset": last,
            "nextOffset": base_offset if last is None else last + 1,
            "validSize": self.valid_size,
            "end": end,
            "batchCount": self.batches,
            "recordCount": self.records,
            "firstTimestamp": self.first_timestamp,
            "maxTimestamp": self.max_timestamp,
            "magics": sorted(self.magics),
            "compressions": sorted(CODEC_NAMES[codec] for codec in self.codecs),
            "minLeaderEpoch": low,
            "maxLeaderEpoch": high,
            "isTransactional": self.is_transactional,
            "controlBatchCount": self.control_batches,
        }


def segment_rows(
    part: SegmentPart,
    columns: Collection[str],
    headers: BatchHeaders,
    on_damage: Callable[[Damage], None],
    report: Report,
) -> Iterator[Rows]:
    """One row.

    Parameters
    ----------
    part : SegmentPart
    columns : collection of str
        Those wanted. Only what they need is read, and only damage in that is found.
    headers : BatchHeaders
        Reads the batches' headers.
    on_damage : callable
        Called with each damaged region; headers after it count too if it returns.
    report : Report
        Takes the bytes and batches read.

    Raises
    ------
    LogDirError
        The segment or an index beside it cannot be read.
    """
    segment = part.segment
    needs_ends, needs_all = not END_COLUMNS.isdisjoint(columns), not _OF_HEADERS.isdisjoint(columns)
    index = None
    if "indexEntries" in columns or (needs_ends and not needs_all):
        # For the ends it is only a hint, without which all headers are walked.
        index = _index_end(segment.offset_index, "index", report, is_hint="indexEntries" not in columns)
    row: dict[str, Any] = {
        "baseOffset": segment.base_offset,
        "size": segment.size,
        "isActive": part.is_active,
        "modified": segment.mtime_ns // 1000,
        "indexEntries": None if index is None else index.count,
    }
    for name, path, kind in (
        ("timeIndexEntries", segment.time_index, "timeindex"),
        ("txnIndexEntries", segment.txn_index, "txnindex"),
    ):
        end = _index_end(path, kind, report) if name in columns else None
        row[name] = None if end is None else end.count
    if needs_ends and not needs_all:
        ends = read_ends(part, index, headers, columns, report)
        needs_all = ends is None
        row |= ends or {}
    if needs_all:
        row |= _walked(part, headers, on_damage, report)
    yield {name: [value] for name, value in row.items()}


def _walked(
    part: SegmentPart, headers: BatchHeaders, on_damage: Callable[[Damage], None], report: Report
) -> dict[str, Any]:
    """The columns that the headers of all batches give."""
    with LocalFile(part.path) as source:
        # What a broker has appended since the listing is not a torn end.
        source.size = min(source.size, part.segment.size)
        summary, is_torn = _Summary(), False
        span = whole_segment(part.segment, part.bound, is_last=part.is_active is not False)
        try:
            for found in header_chunks(headers, source, span, _HEADERS):
                if isinstance(found, Damage):
                    summary.is_damaged = True
                    is_torn |= found.kind is Kind.TORN
                    on_damage(found)
                else:
                    summary.add(found)
            end = "torn" if is_torn else _end_of(source, summary)
        finally:
            report.bytes_read += source.bytes_read
            report.batches += summary.batches
    return summary.columns(part.segment.base_offset, end)


def _end_of(source: LocalFile, summary: _Summary) -> str:
    """How a file ends in which nothing is torn."""
    return "clean" if summary.is_damaged else what_follows(source, summary.valid_size)


def _index_end(path: str | None, kind: str, report: Report, *, is_hint: bool = False) -> IndexEnd | None:
    """The end of an index; None if there is none, or if one that is only a hint cannot be read."""
    if path is None:
        return None
    try:
        end = read_index_end(path, kind)
    except LogDirError as error:
        # A broker may have removed it since it was listed.
        if is_hint or is_gone(error):
            return None
        raise
    report.bytes_read += end.bytes_read
    return end
