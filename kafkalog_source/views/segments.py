"""``view=segments``: what the headers of a segment's batches say together, and what lies beside it.

Payloads are passed over unless ``verifyChecksums`` asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.errors import LogDirError
from kafkalog_source.format import CODEC_NAMES
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.damage.tail import is_zero_to_end
from kafkalog_source.segment.side_files.side_file import read_file
from kafkalog_source.segment.source import LocalFile, is_gone
from kafkalog_source.views.headers import header_chunks, whole_segment
from kafkalog_source.views.indexes import entry_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kafkalog_source.partition.file_parts import SegmentPart
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


def segment_rows(part: SegmentPart, headers: BatchHeaders, on_damage: Callable[[Damage], None]) -> Iterator[Rows]:
    """One row.

    Parameters
    ----------
    part : SegmentPart
    headers : BatchHeaders
        Reads the batches' headers.
    on_damage : callable
        Called with each damaged region; headers after it count too if it returns.

    Raises
    ------
    LogDirError
        The segment or an index beside it cannot be read.
    """
    segment = part.segment
    with LocalFile(part.path) as source:
        summary, is_torn = _Summary(), False
        span = whole_segment(segment, part.bound, is_last=part.is_active is not False)
        for found in header_chunks(headers, source, span, _HEADERS):
            if isinstance(found, Damage):
                summary.is_damaged = True
                is_torn |= found.kind is Kind.TORN
                on_damage(found)
            else:
                summary.add(found)
        end = "torn" if is_torn else _end_of(source, summary)
        row = _row(part, summary, end)
    yield {name: [value] for name, value in row.items()}


def _end_of(source: LocalFile, summary: _Summary) -> str:
    """How a file ends in which nothing is torn."""
    if summary.valid_size == source.size or summary.is_damaged:
        return "clean"
    return "zeroed" if is_zero_to_end(source, summary.valid_size) else "torn"


def _row(part: SegmentPart, summary: _Summary, end: str) -> dict[str, Any]:
    segment, last = part.segment, summary.last_offset
    low, high = summary.epochs or (None, None)
    return {
        "baseOffset": segment.base_offset,
        "lastOffset": last,
        "nextOffset": segment.base_offset if last is None else last + 1,
        "size": segment.size,
        "validSize": summary.valid_size,
        "end": end,
        "batchCount": summary.batches,
        "recordCount": summary.records,
        "firstTimestamp": summary.first_timestamp,
        "maxTimestamp": summary.max_timestamp,
        "magics": sorted(summary.magics),
        "compressions": sorted(CODEC_NAMES[codec] for codec in summary.codecs),
        "minLeaderEpoch": low,
        "maxLeaderEpoch": high,
        "isTransactional": summary.is_transactional,
        "controlBatchCount": summary.control_batches,
        "indexEntries": _entries(segment.offset_index, "index"),
        "timeIndexEntries": _entries(segment.time_index, "timeindex"),
        "txnIndexEntries": _entries(segment.txn_index, "txnindex"),
        "isActive": part.is_active,
        "modified": segment.mtime_ns // 1000,
    }


def _entries(path: str | None, kind: str) -> int | None:
    """How many entries an index has; None if there is none."""
    if path is None:
        return None
    try:
        return entry_count(read_file(path), kind)
    except LogDirError as error:
        # A broker may have removed it since it was listed.
        if is_gone(error):
            return None
        raise
