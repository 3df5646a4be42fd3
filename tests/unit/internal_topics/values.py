"""Keys and values of Kafka's own topics made by hand, and what becomes of them."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from kafkalog_source.internal_topics.columns import view_types
from kafkalog_source.internal_topics.view import TopicView

TOPIC_ID = bytes(range(16))
COMMIT_KEY = b"\0\1\0\1g\0\6orders\0\0\0\7"
"""Group g, topic orders, partition 7."""
COMMIT_TIME = 1_700_000_000_000


def text(content: bytes | None) -> bytes:
    """A string of a version that is not flexible."""
    return struct.pack(">h", -1) if content is None else struct.pack(">h", len(content)) + content


def varint(number: int) -> bytes:
    """An unsigned varint."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def compact(content: bytes | None) -> bytes:
    """A string or bytes of a flexible version."""
    return b"\0" if content is None else varint(len(content) + 1) + content


def commit(metadata: bytes = b"m", tags: bytes = b"\0") -> bytes:
    """An OFFSET_COMMIT of version 4: offset 42, leader epoch 3."""
    return struct.pack(">hqi", 4, 42, 3) + compact(metadata) + struct.pack(">q", COMMIT_TIME) + tags


def tagged(*fields: tuple[int, bytes]) -> bytes:
    """A struct's tagged fields."""
    return varint(len(fields)) + b"".join(varint(tag) + varint(len(content)) + content for tag, content in fields)


def records(rows: Sequence[tuple[bytes | None, bytes | None]], control: bool = False, **more: Any) -> pa.RecordBatch:
    """A batch of records with these keys and values."""
    count = len(rows)
    columns = {
        "key": pa.array([key for key, _ in rows], pa.binary()),
        "value": pa.array([value for _, value in rows], pa.binary()),
        "isControl": pa.array([control] * count, pa.bool_()),
        "topic": pa.array(["__topic"] * count),
        "partition": pa.array([0] * count, pa.int32()),
        "file": pa.array(["/d/00000000000000000000.log"] * count),
        "offset": pa.array(range(count), pa.int64()),
        "timestamp": pa.array([0] * count, pa.timestamp("us", tz="UTC")),
        "leaderEpoch": pa.array([0] * count, pa.int32()),
        "transactionState": pa.nulls(count, pa.string()),
    }
    return pa.RecordBatch.from_pydict(columns | more)


def decoded(view: str, batch: pa.RecordBatch, columns: Sequence[str] = (), **options: Any) -> list[dict[str, Any]]:
    """The rows that come out, after Arrow has checked them; all columns if none is named."""
    found = []
    for piece in TopicView(view, columns or tuple(view_types(view)), **options).decode(batch):
        piece.validate(full=True)
        found += piece.to_pylist()
    assert len(found) == len(batch)
    return found


def decode(view: str, key: bytes | None, value: bytes | None, control: bool = False, **options: Any) -> dict[str, Any]:
    """The row that one record becomes; JSON as values."""
    row = decoded(view, records([(key, value)], control), **options)[0]
    for name in ("keyJson", "valueJson"):
        row[name] = None if row[name] is None else json.loads(row[name])
    return row
