"""``view=transactions``: the transactions of a partition, by the headers of its batches and the markers among them.

A transaction is the batches of one producer up to its marker (``ProducerStateManager``, 4.4).
Where damage may hold a marker, the transactions that are open there stay open: their
outcome is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkalog_source.arrow.damage import utf8
from kafkalog_source.batch.checksum import checksum_rule, checksums_text
from kafkalog_source.segment.damage.description import Damage, Kind
from kafkalog_source.segment.marker import parse_marker
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.views.headers import header_chunks, whole_segment
from kafkalog_source.views.rows import known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kafkalog_source.partition.file_parts import LogPart
    from kafkalog_source.reporting.report import Report
    from kafkalog_source.segment.batch_headers import BatchHeaders
    from kafkalog_source.segment.marker import Marker
    from kafkalog_source.views.rows import Rows

__all__ = ["transaction_rows"]

_HEADERS = (
    "position",
    "size",
    "first_offset",
    "last_offset",
    "record_count",
    "first_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "control",
)
_V2 = 2


@dataclass(slots=True)
class _Transaction:
    """The batches of a producer since its last marker."""

    file: str
    producer_id: int
    producer_epoch: int | None
    first_offset: int
    first_timestamp: int | None
    last_offset: int = -1
    last_timestamp: int | None = None
    batches: int = 0
    records: int = 0
    size: int = 0

    def add(self, batch: Mapping[str, Any]) -> None:
        self.last_offset = batch["last_offset"]
        time = batch["max_timestamp"]
        if time is not None:
            self.last_timestamp = time if self.last_timestamp is None else max(time, self.last_timestamp)
        self.batches += 1
        self.records += batch["record_count"]
        self.size += batch["size"]


class _Log:
    """What became of the transactions of a partition so far."""

    def __init__(self) -> None:
        self.open: dict[int, _Transaction] = {}
        self.rows: list[dict[str, Any]] = []

    def add(self, file: str, batch: Mapping[str, Any]) -> None:
        """Take a batch of data."""
        producer = batch["producer_id"]
        found = self.open.get(producer)
        if found is None:
            found = self.open[producer] = _Transaction(
                file, producer, batch["producer_epoch"], batch["first_offset"], batch["first_timestamp"]
            )
        found.add(batch)

    def end(self, batch: Mapping[str, Any], marker: Marker) -> None:
        """Take a marker; one of a producer without data here ends nothing."""
        found = self.open.pop(batch["producer_id"], None)
        if found is not None:
            time = batch["max_timestamp"]
            self.rows.append(
                {
                    **_row(found, "committed" if marker.is_commit else "aborted"),
                    "markerOffset": batch["first_offset"],
                    "markerEpoch": batch["producer_epoch"],
                    "coordinatorEpoch": None if marker.coordinator_epoch is None else known(marker.coordinator_epoch),
                    "markerTimestamp": time,
                    "durationMs": _milliseconds(found.first_timestamp, time),
                }
            )

    def lose(self) -> None:
        """Take damage, which may hold any marker."""
        self.rows += [_row(each, "open") for each in self.open.values()]
        self.open.clear()

    def finished(self) -> list[dict[str, Any]]:
        """The rows of all transactions in the order of their first offsets."""
        self.lose()
        rows = sorted(self.rows, key=lambda row: (row["firstOffset"], row["producerId"]))
        pinned = next((row for row in rows if row["state"] == "open"), None)
        for row in rows:
            row["pinsLastStableOffset"] = row is pinned
        return rows


def transaction_rows(
    part: LogPart,
    headers: BatchHeaders,
    on_damage: Callable[[Damage], None],
    transactional_ids: Callable[[], Mapping[int, str]],
    report: Report,
) -> Iterator[Rows]:
    """The transactions of a partition.

    Parameters
    ----------
    part : LogPart
    headers : BatchHeaders
        Reads the batches' headers.
    on_damage : callable
        Called with each damaged region; transactions after it are given too if it returns.
    transactional_ids : callable
        Gives them by producer id, as far as they are known; called where there is a transaction.
    report : Report
        Takes the bytes and batches read.

    Raises
    ------
    KafkaLogError
        A segment cannot be read.
    """
    log = _Log()
    segments = part.log.segments
    for segment, bound in zip(segments, part.log.bounds, strict=True):
        if segment.is_07:
            continue
        span = whole_segment(segment, bound, is_last=segment is segments[-1])
        with LocalFile(segment.path) as source:
            try:
                for found in header_chunks(headers, source, span, (*_HEADERS, "transactional")):
                    report.batches += 0 if isinstance(found, Damage) else len(found["position"])
                    for damage in [found] if isinstance(found, Damage) else _take(log, source, found):
                        on_damage(damage)
                        if damage.kind is not Kind.TORN:
                            log.lose()
            finally:
                report.bytes_read += source.bytes_read
    rows = log.finished()
    if rows:
        ids = transactional_ids()
        for row in rows:
            row["transactionalId"] = ids.get(row["producerId"])
        names = dict.fromkeys(name for row in rows for name in row)
        yield {name: [row.get(name) for row in rows] for name in names}


def _take(log: _Log, source: LocalFile, headers: dict[str, pa.Array]) -> Iterator[Damage]:
    """Take some batches; gives markers that are damaged, in their place among them."""
    for batch in _transactional(headers):
        if not batch["control"]:
            log.add(source.path, batch)
        # Compaction leaves a batch without records in place of a marker whose transaction is gone.
        elif batch["record_count"]:
            marker = _read_marker(source, batch)
            if isinstance(marker, Damage):
                yield marker
            else:
                log.end(batch, marker)


def _transactional(headers: dict[str, pa.Array]) -> Iterable[dict[str, Any]]:
    """The batches that belong to transactions, markers among them."""
    table = pa.table({name: headers[name] for name in _HEADERS})
    mine = table.filter(pc.equal(headers["transactional"], 1))
    return mine.to_pylist() if mine.num_rows else ()


def _read_marker(source: LocalFile, batch: Mapping[str, Any]) -> Marker | Damage:
    """The marker in a control batch of a transaction, or what is wrong with it.

    Its checksum is always compared: it decides what every record of the transaction is worth.
    """
    data, rule = source.read(batch["position"], batch["size"]), checksum_rule(_V2)
    stored, computed = rule.stored(data), rule.computed(data)
    if stored == computed:
        reason, found = "a control batch of a transaction holds no COMMIT or ABORT record", None
    else:
        reason, found = "the batch's checksum is wrong", None if stored is None else checksums_text(stored, computed)
    marker = parse_marker(data) if stored == computed else None
    return marker or Damage(
        source.path,
        batch["position"],
        batch["size"],
        Kind.DAMAGED,
        reason,
        first_offset=batch["first_offset"],
        last_offset=batch["last_offset"],
        found=found,
    )


def _row(found: _Transaction, state: str) -> dict[str, Any]:
    return {
        "file": utf8(found.file),
        "producerId": found.producer_id,
        "producerEpoch": found.producer_epoch,
        "state": state,
        "firstOffset": found.first_offset,
        "lastOffset": found.last_offset,
        "firstTimestamp": found.first_timestamp,
        "lastTimestamp": found.last_timestamp,
        "batchCount": found.batches,
        "recordCount": found.records,
        "sizeInBytes": found.size,
    }


def _milliseconds(start: int | None, end: int | None) -> int | None:
    return None if start is None or end is None else (end - start) // 1000
