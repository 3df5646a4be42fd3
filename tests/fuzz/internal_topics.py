"""Keys and values of Kafka's own topics: any bytes give a row, its JSON is JSON, and its neighbours are as ever."""

from __future__ import annotations

import json
import random
import struct
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafkalog_source import scan
from kafkalog_source.internal_topics.columns import TOPICS, view_types
from kafkalog_source.internal_topics.view import TopicView
from tests.data.cases import INTERNAL_TOPICS
from tests.fuzz.case import Case, Outcome, Target, must, same
from tests.fuzz.mutate import mutate_bytes
from tests.fuzz.seeds import DATA

Pair = tuple[bytes | None, bytes | None]
MOST_RECORDS = 16
VIEWS_OF_A_DECODER = 64
"""Memory that is used again grows, and hides writes beyond a short column: decoders are made anew so often."""


@cache
def pairs() -> dict[str, tuple[Pair, ...]]:
    """Sound and unsound keys and values of every record type, by view."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(DATA / f"{INTERNAL_TOPICS}.tar.gz", "r:gz") as tar:
        tar.extractall(folder, filter="data")
        log = Path(folder, INTERNAL_TOPICS, "log")
        return {view: _pairs_of(log, topic) for view, topic in TOPICS.items()}


def _pairs_of(log: Path, topic: str) -> tuple[Pair, ...]:
    read = scan(str(log), subscribe=topic, columns=("key", "value")).to_table()
    return tuple(zip(read["key"].to_pylist(), read["value"].to_pylist(), strict=True))


def target(share: int) -> Target:
    decoders = Decoders()
    return Target("internal", share, make, lambda case: check(case, decoders))


def make(rng: random.Random) -> Case:
    view = rng.choice(sorted(TOPICS))
    known = pairs()[view]
    chosen = [rng.choice(known) for _ in range(rng.choice((1, 2, MOST_RECORDS)))]
    config = {
        "view": view,
        "pairs": [[_hex(_changed(rng, key, 0.2)), _hex(_changed(rng, value, 0.8))] for key, value in chosen],
        "control": rng.random() < 0.05,
        "secrets": rng.random() < 0.5,
    }
    return Case("internal", b"", config)


def _hex(content: bytes | None) -> str | None:
    return None if content is None else content.hex()


def _plain(content: str | None) -> bytes | None:
    return None if content is None else bytes.fromhex(content)


def _changed(rng: random.Random, content: bytes | None, chance: float) -> bytes | None:
    if content is None or rng.random() >= chance:
        return content
    kind = rng.randrange(6)
    if kind == 0:
        return content[: rng.randint(0, len(content))]
    if kind == 1:
        return rng.choice((None, b"", rng.randbytes(rng.randint(0, 40))))
    if kind == 2 and len(content) >= 2:
        return struct.pack(">h", rng.randint(-1, 6)) + content[2:]
    if kind == 3 and content:
        at = rng.randrange(len(content))
        return content[:at] + bytes([rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF))]) + content[at + 1 :]
    changed = bytearray(content)
    mutate_bytes(rng, changed)
    return bytes(changed)


class Decoders:
    """Decoders of each view, for all columns and for the typed ones, that have seen other records before."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, bool, bool], tuple[TopicView, int]] = {}

    def get(self, view: str, secrets: bool, has_json: bool) -> TopicView:
        """One that was used some times, or a new one."""
        decoder, used = self._made.get((view, secrets, has_json), (None, VIEWS_OF_A_DECODER))
        if decoder is None or used >= VIEWS_OF_A_DECODER:
            names = [name for name in view_types(view) if has_json or name not in ("keyJson", "valueJson")]
            decoder, used = TopicView(view, names, include_secrets=secrets), 0
        self._made[(view, secrets, has_json)] = decoder, used + 1
        return decoder


def check(case: Case, decoders: Decoders) -> Outcome:
    view, secrets, control = (case.config[name] for name in ("view", "secrets", "control"))
    given = [(_plain(key), _plain(value)) for key, value in case.config["pairs"]]
    decoder = decoders.get(view, secrets, True)
    rows = _rows(decoder, given, control)
    for row, pair in zip(rows, given, strict=True):
        _look_at(row, pair)
    same("rows in another order", rows, _rows(decoder, given[::-1], control)[::-1])
    typed = _rows(decoders.get(view, secrets, False), given, control)
    same("columns with and without JSON", [{name: row[name] for name in typed[0]} for row in rows], typed)
    return Outcome(len(rows), tuple(_kind(row["decodeError"]) for row in rows if row["decodeError"] is not None))


def _kind(error: str) -> str:
    """What is wrong, without the place and the number."""
    words = error.split(" in ")[0].split(", at")[0].split(" ")
    return "decodeError " + " ".join(word for word in words[:5] if not word.lstrip("-").isdigit())


def _look_at(row: dict[str, Any], pair: Pair) -> None:
    for name in ("keyJson", "valueJson"):
        must(row[name] is None or isinstance(json.loads(row[name]), dict), f"{name} is no JSON object")
    must(row["valueJson"] is None or row["decodeError"] is None, "JSON of a value that could not be decoded")
    must(row["isTombstone"] == (pair[1] is None), "isTombstone is not whether the value is null")
    must(row["key"] == pair[0] and row["value"] in (pair[1], None), "key or value are not as they lie")


def _rows(decoder: TopicView, rows: list[Pair], control: bool) -> list[dict[str, Any]]:
    count = len(rows)
    columns = {
        "key": _exact([key for key, _ in rows]),
        "value": _exact([value for _, value in rows]),
        "isControl": pa.array([control] * count),
        "topic": pa.array(["t"] * count),
        "partition": pa.array([0] * count, pa.int32()),
        "file": pa.array(["00000000000000000000.log"] * count),
        "offset": pa.nulls(count, pa.int64()),
        "timestamp": pa.nulls(count, pa.timestamp("us", tz="UTC")),
        "leaderEpoch": pa.nulls(count, pa.int32()),
        "transactionState": pa.nulls(count, pa.string()),
    }
    found = []
    for piece in decoder.decode(pa.RecordBatch.from_pydict(columns)):
        piece.validate(full=True)
        times = [name for name in piece.schema.names if pa.types.is_timestamp(piece.schema.field(name).type)]
        for name in times:
            # As numbers: Python's times end with the year 9999.
            at = piece.schema.get_field_index(name)
            piece = piece.set_column(at, name, piece.column(at).cast(pa.int64()))
        found += piece.to_pylist()
    must(len(found) == count, f"{len(found)} rows of {count}")
    return found


def _exact(values: list[bytes | None]) -> pa.Array:
    """An array whose data ends where the last value does, with no padding that a read beyond it could hit."""
    ends = [0]
    for value in values:
        ends.append(ends[-1] + len(value or b""))
    valid = sum(1 << row for row, value in enumerate(values) if value is not None)
    validity = valid.to_bytes(len(values) // 8 + 1, "little")
    buffers = [validity, struct.pack(f"={len(ends)}i", *ends), b"".join(value or b"" for value in values)]
    return pa.Array.from_buffers(pa.binary(), len(values), [pa.py_buffer(each) for each in buffers])
