"""Arrow columns to lines: what is sound is written as Python writes it, and what is not is a ValueError."""

from __future__ import annotations

import random
import struct
from typing import Any

import pyarrow as pa

from kafkalog_source._core.lines import KINDS, Lines
from kafkalog_source.arrow.schema import VIEW_TYPES
from kafkalog_source.cli.layouts import json_layout, text_layouts
from tests.fuzz.case import Case, Outcome, Target, same
from tests.fuzz.mutate import mutate_bytes
from tests.property.dump_rows import json_lines, text_lines

_BITS = {
    "int32": 32,
    "timestamp_type": 32,
    "boolean": 1,
    "int64": 64,
    "time": 64,
    "quoted_time": 64,
    "milliseconds": 64,
}
_PIECES = (
    b"plain",
    b'"',
    b"\\",
    b"\n\t",
    b"\x00",
    b"\x7f",
    b"\xc2\x85",
    "é€😀\u202e\U000e0001".encode(),
    b"\xed\xa0\x80",
    b"\xf4\x90",
)


def target(share: int) -> Target:
    return Target("lines", share, make, check)


def make(rng: random.Random) -> Case:
    rows = rng.choice((0, 1, 1, 2, 9))
    config: dict[str, Any] = {"rows": rows, "seed": rng.getrandbits(32)}
    if rng.random() < 0.5:
        config["kind"] = rng.choice(KINDS[1:])
        config["first"] = rng.choice((0, 0, 1, 7, -1, 2**62))
        config["beyond"] = rng.choice((0, 0, 0, 1, -1))
    return Case("lines", _content(rng, 40 * rows), config)


def _content(rng: random.Random, most: int) -> bytes:
    content = bytearray(b"".join(rng.choices(_PIECES, k=rng.randint(0, most // 4))) if rng.random() < 0.7 else b"")
    if rng.random() < 0.5:
        content += rng.randbytes(rng.randint(0, most))
    mutate_bytes(rng, content)
    return bytes(content)


def check(case: Case) -> Outcome:
    return _check_arrays(case) if "kind" in case.config else _check_rows(case)


def _check_rows(case: Case) -> Outcome:
    """A sound record batch of the view of records, cut out of a larger one."""
    rng = random.Random(case.config["seed"])
    types = VIEW_TYPES["records"]
    count = case.config["rows"]
    columns = {
        "key": [_part(rng, case.data) for _ in range(count)],
        "value": [_part(rng, case.data) for _ in range(count)],
        "topic": [(_part(rng, case.data) or b"").decode(errors="replace") for _ in range(count)],
        "timestamp": [rng.choice((None, rng.getrandbits(51), -rng.getrandbits(63))) for _ in range(count)],
        "headers": [_headers(rng, case.data) for _ in range(count)],
        "isControl": [rng.choice((None, True, False)) for _ in range(count)],
        "valueSize": [rng.choice((None, rng.getrandbits(31))) for _ in range(count)],
    }
    arrays = [pa.array(values, pa.int64() if name == "timestamp" else types[name]) for name, values in columns.items()]
    whole = pa.RecordBatch.from_arrays(
        [array.cast(types[name]) for name, array in zip(columns, arrays, strict=True)], names=list(columns)
    )
    rows = whole.slice(rng.randint(0, count))
    same("lines of JSON", json_layout(rows.schema).lines(rows).decode(), json_lines(rows))
    text = b"".join(text_layouts(rows.schema, "records")(rows)).decode()
    same("lines of text", text, text_lines(rows, "records"))
    return Outcome(rows.num_rows)


def _part(rng: random.Random, data: bytes) -> bytes | None:
    start = rng.randint(0, len(data))
    return None if rng.random() < 0.1 else data[start : start + rng.choice((0, 3, 8, 100))]


def _headers(rng: random.Random, data: bytes) -> list[tuple[str, bytes | None]] | None:
    headers = [((_part(rng, data) or b"").decode(errors="replace"), _part(rng, data)) for _ in range(rng.randint(0, 2))]
    return headers or None


def _check_arrays(case: Case) -> Outcome:
    """Buffers that may be too short, with any bytes as offsets: lines or a ValueError."""
    rng = random.Random(case.config["seed"])
    kind, rows, first = (case.config[name] for name in ("kind", "rows", "first"))
    lines = Lines([(kind, b"x=", True, rng.choice((None, b"null")))], b"", b" ", b"\n")
    try:
        if kind.endswith("headers"):
            structs = (rng.choice((rows, 2 * rows)), 0, (rng.choice((None, rng.randbytes(2))),))
            children = (structs, _variable(rng, case.data, rows, 0), _variable(rng, case.data, rows, 0))
            array = (rows, first, (None, _offsets(rng, rows, rows)), children)
        elif kind in _BITS:
            array = (
                rows,
                first,
                (rng.choice((None, rng.randbytes(rows // 8 + 1))), case.data[: rng.choice((8, 64, 999))]),
            )
        else:
            array = _variable(rng, case.data, rows, first)
        written = lines.write([array], 0, rows + case.config["beyond"])
    except ValueError as error:
        words = [word for word in str(error).split() if not word.lstrip("-").isdigit()]
        return Outcome(0, (" ".join(words[:2]),))
    return Outcome(written.count(b"\n"))


def _variable(rng: random.Random, data: bytes, rows: int, first: int) -> tuple[Any, ...]:
    validity = rng.choice((None, rng.randbytes(rows // 8 + 1)))
    return rows, first, (validity, _offsets(rng, rows, len(data)), data)


def _offsets(rng: random.Random, rows: int, most: int) -> bytes:
    numbers = sorted(rng.randint(0, most) for _ in range(rows + rng.choice((1, 1, 1, 2, 0))))
    offsets = bytearray(struct.pack(f"={len(numbers)}i", *numbers))
    if rng.random() < 0.3:
        mutate_bytes(rng, offsets)
    return bytes(offsets)
