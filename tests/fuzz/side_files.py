"""Views of files over a log dir of any content: rows or an error, the same with and without the index of a segment."""

from __future__ import annotations

import json
import random
import struct
from typing import Any

import pyarrow as pa
from crc32c import crc32c

from kafkalog_source import scan
from kafkalog_source.columns import FILE_VIEWS
from kafkalog_source.errors import KafkaLogError
from tests.fuzz.case import Case, Outcome, Target, must, same
from tests.fuzz.files import Folder
from tests.fuzz.mutate import interesting, mutate_bytes, mutated
from tests.fuzz.seeds import Seed

VIEWS = sorted(FILE_VIEWS)
ENDS = ("file", "lastOffset", "nextOffset", "end", "firstTimestamp")
LOG_DIR = ("log-start-offset-checkpoint", "replication-offset-checkpoint", "meta.properties", ".kafka_cleanshutdown")
Rows = list[dict[str, Any]]


def target(seeds: tuple[Seed, ...], share: int) -> Target:
    folder = Folder()
    return Target("side", share, lambda rng: make(rng, seeds), lambda case: check(case, folder))


def make(rng: random.Random, seeds: tuple[Seed, ...]) -> Case:
    seed = rng.choice(seeds)
    data = mutated(rng, seed, rng.choice(seeds)) if rng.random() < 0.5 else b"".join(seed.entries)
    files = {
        ".index": _index(rng, seed),
        ".timeindex": _packed(rng, ">qi", 1_600_000_000_000, len(seed.entries)),
        ".txnindex": _packed(rng, ">hqqqq", 0, 7, seed.base_offset, seed.base_offset + 5, seed.base_offset + 6),
        ".snapshot": _snapshot(rng, seed),
        "leader-epoch-checkpoint": b"0\n2\n0 0\n3 %d\n" % seed.base_offset,
        "partition.metadata": b"version: 0\ntopic_id: 0F8ErRbvS3aaKgTFBQzTpA",
        "quorum-state": json.dumps({"leaderEpoch": 3, "votedId": -1, "data_version": 1, "voters": [[]]}).encode(),
        LOG_DIR[0]: b"0\n1\ntopic 0 %d\n" % rng.choice((0, seed.base_offset + 1)),
        LOG_DIR[1]: b"0\n2\ntopic 0 7\nother 3 9\n",
        LOG_DIR[2]: b"#\nversion=1\ncluster.id=x\\u0041\\:y \\\n  z\nnode.id = 4\n",
        LOG_DIR[3]: rng.choice((b"", b'{"version":0,"brokerEpoch":-1}')),
    }
    kept = {name: _changed(rng, content).hex() for name, content in files.items() if rng.random() < 0.7}
    return Case("side", data, {"base": seed.base_offset, "files": kept})


def _changed(rng: random.Random, content: bytes) -> bytes:
    if rng.random() < 0.5:
        return content
    changed = bytearray(content)
    mutate_bytes(rng, changed)
    return bytes(changed)


def _index(rng: random.Random, seed: Seed) -> bytes:
    """Entries for some batches, of which some are wrong."""
    entries, position = [], 0
    for data in seed.entries:
        (offset,) = struct.unpack_from(">q", data.ljust(8, b"\0"))
        if rng.random() < 0.3:
            entries.append(
                (offset - seed.base_offset + rng.choice((0, 0, 0, 1, -1, 9)), position + rng.choice((0, 0, 1)))
            )
        position += len(data)
    return b"".join(struct.pack(">ii", *(max(-9, min(each, 2**31 - 1)) for each in entry)) for entry in entries)


def _packed(rng: random.Random, layout: str, *usual: int) -> bytes:
    content = b""
    for _ in range(rng.randint(0, 3)):
        numbers = [number if rng.random() < 0.8 else interesting(rng, number) for number in usual]
        widths = {"h": 2, "i": 4, "q": 8}
        content += b"".join(
            (number % (1 << 8 * widths[kind])).to_bytes(widths[kind], "big")
            for number, kind in zip(numbers, layout[1:], strict=True)
        )
    return content + bytes(rng.choice((0, 0, 12, 34)))


def _snapshot(rng: random.Random, seed: Seed) -> bytes:
    """A snapshot whose checksum is right, whatever is in it."""
    entries = _packed(rng, ">qhiqiqiq", 7, 0, 3, seed.base_offset, 1, 1_600_000_000_000, 2, -1)
    body = struct.pack(">i", max(0, len(entries) // 46 + rng.choice((0, 0, 0, 1)))) + entries
    return struct.pack(">hI", rng.choice((1, 1, 1, 2)), crc32c(body)) + body


def check(case: Case, folder: Folder) -> Outcome:
    name = f"{case.config['base']:020d}"
    files = {key: bytes.fromhex(content) for key, content in case.config["files"].items()}
    beside = {(name + key if key[0] == "." else key): value for key, value in files.items() if key not in LOG_DIR}
    folder.put({f"{name}.log": case.data} | beside)
    log_dir = folder.path.parent
    for each in LOG_DIR:
        path = log_dir / each
        if each in files:
            path.write_bytes(files[each])
        else:
            path.unlink(missing_ok=True)
    count, errors = 0, []
    for view in VIEWS:
        strict, lenient = read(log_dir, view, "FAILFAST"), read(log_dir, view, "PERMISSIVE")
        must(not isinstance(lenient, str), f"{view} in mode PERMISSIVE: {lenient}")
        if isinstance(strict, str):
            errors.append(strict.split(":")[0])
            must(any(row["_corrupt_record"] for row in lenient), f"{view} hides {strict}")  # type: ignore[index]
        else:
            same(f"rows of {view} by mode", [row | {"_corrupt_record": None} for row in strict], lenient)
            count += len(strict)
    walked, ends = (
        read(log_dir, "segments", "FAILFAST", *ENDS, "batchCount"),
        read(log_dir, "segments", "FAILFAST", *ENDS),
    )
    if not isinstance(walked, str):
        same("ends of a segment", [{key: row[key] for key in ENDS} for row in walked], ends)
    return Outcome(count, tuple(errors))


def read(log_dir: Any, view: str, mode: str, *columns: str) -> Rows | str:
    """The rows with times as numbers, or the error."""
    try:
        table = scan(log_dir, view=view, mode=mode, threads=1, columns=columns or None).to_table()
    except KafkaLogError as error:
        return f"{type(error).__name__}: {error}"
    table.validate(full=True)
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(pa.int64()))
    rows: Rows = table.to_pylist()
    return rows
