"""What Kafka's own reader saw in each packed segment."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMESTAMP_TYPES = {"NoTimestampType": -1, "CreateTime": 0, "LogAppendTime": 1}


@dataclass(frozen=True)
class OracleRecord:
    """One record as kafka-clients read it; -1 is Kafka's word for "none" and is kept."""

    offset: int
    timestamp_ms: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    sequence: int


@dataclass(frozen=True)
class OracleBatch:
    """One batch (v0 and v1: one top-level entry) and the records Kafka read from it."""

    position: int
    size: int
    magic: int
    attributes: int
    crc_ok: bool
    base_offset: int
    last_offset: int
    codec: str
    timestamp_type: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    leader_epoch: int
    is_transactional: bool
    is_control: bool
    count: int | None
    crc: int
    base_timestamp: int
    delete_horizon: int | None
    error: str | None
    records: tuple[OracleRecord, ...]

    @property
    def refused(self) -> bool:
        """True when Kafka's consumer would not have returned all of this batch."""
        return self.error is not None or not self.crc_ok


@dataclass(frozen=True)
class OracleSegment:
    """One segment file of a packed case."""

    case: str
    log: Path
    """The segment."""
    name: str
    """Its path below the case's log directory."""
    batches: tuple[OracleBatch, ...]
    stopped: str | None
    """Why Kafka's reader gave up before the end of the file."""

    @property
    def refused(self) -> bool:
        return self.stopped is not None or any(batch.refused for batch in self.batches)

    def records(self) -> Iterator[tuple[OracleBatch, OracleRecord]]:
        """Every record in file order, with its batch."""
        for batch in self.batches:
            for record in batch.records:
                yield batch, record


def json_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON lines file; a missing file is an empty result.

    Where Kafka's reader threw in the middle of a record, the dump holds only the
    beginning of its line, and the next record follows without a line feed. Such a
    beginning counts as a record read; it is given as an empty object.
    """
    if not path.exists():
        return []
    return [
        _whole(line) for line in path.read_text(encoding="utf-8").replace(':{"offset"', ':\n{"offset"').splitlines()
    ]


def _whole(line: str) -> dict[str, Any]:
    if not line.endswith("}"):
        return {}
    found: dict[str, Any] = json.loads(line)
    return found


def oracle_segments(case: Path, *, suffix: str = ".log") -> Iterator[OracleSegment]:
    """Every segment of the unpacked `case` that Kafka dumped, in path order."""
    ending = f"{suffix}.batches.jsonl"
    for dump in sorted((case / "oracle").rglob(f"*{ending}")):
        name = dump.relative_to(case / "oracle").as_posix().removesuffix(".batches.jsonl")
        log = case / "log" / name
        if log.exists():
            yield load_segment(case.name, log, name, dump)


def load_segment(case: str, log: Path, name: str, dump: Path) -> OracleSegment:
    """Join the two files of a segment's dump."""
    lines = json_lines(dump)
    records = json_lines(dump.with_name(dump.name.replace(".batches.", ".records.")))
    batches, used, stopped = [], 0, None
    for line in lines:
        if "position" not in line:
            stopped = str(line["error"])
            continue
        count = line.get("recordsRead", 0)
        read = tuple(_record(record) for record in records[used : used + count] if record)
        batches.append(_batch(line, read))
        used += count
    if used != len(records):
        raise ValueError(f"{dump} speaks of {used} records, its neighbour holds {len(records)}")
    return OracleSegment(case, log, name, tuple(batches), stopped)


def _batch(line: dict[str, Any], records: tuple[OracleRecord, ...]) -> OracleBatch:
    return OracleBatch(
        position=line["position"],
        size=line["sizeInBytes"],
        magic=line["magic"],
        attributes=line.get("attributes", 0),
        crc_ok=line.get("crcOk") is True,
        base_offset=line.get("baseOffset", -1),
        last_offset=line.get("lastOffset", -1),
        codec=line.get("codec", ""),
        timestamp_type=TIMESTAMP_TYPES[line.get("timestampType", "NoTimestampType")],
        max_timestamp=line.get("maxTimestamp", -1),
        producer_id=line.get("producerId", -1),
        producer_epoch=line.get("producerEpoch", -1),
        base_sequence=line.get("baseSequence", -1),
        leader_epoch=line.get("partitionLeaderEpoch", -1),
        is_transactional=bool(line.get("isTransactional")),
        is_control=bool(line.get("isControl")),
        count=line.get("count"),
        crc=line.get("crc", -1),
        base_timestamp=line.get("baseTimestamp", -1),
        delete_horizon=line.get("deleteHorizon"),
        error=line.get("recordsError") or (str(line["error"]) if line.get("error") else None),
        records=records,
    )


def _record(line: dict[str, Any]) -> OracleRecord:
    return OracleRecord(
        offset=line["offset"],
        timestamp_ms=line["timestamp"],
        timestamp_type=TIMESTAMP_TYPES[line["timestampType"]],
        key=_bytes(line["keyB64"]),
        value=_bytes(line["valueB64"]),
        headers=tuple(
            (base64.b64decode(name).decode("utf-8", "replace"), _bytes(value)) for name, value in line["headers"]
        ),
        sequence=line.get("sequence", -1),
    )


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
