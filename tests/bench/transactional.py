"""A segment a tenth of whose batches are in transactions, with the side files that a stopped broker leaves."""

from __future__ import annotations

import dataclasses
import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path

from crc32c import crc32c

from tests.builders import Batch, Header, Record, end_marker, offset_index
from tests.builders.transactions import producer_snapshot, txn_index

PRODUCERS = 4
BATCHES_A_TRANSACTION = 10
SHARE_IN_TRANSACTIONS = 0.1
SHARE_ABORTED = 0.2
INDEX_INTERVAL = 4096
TEMPLATES = 8
_NO_PRODUCER = -1


@dataclasses.dataclass(frozen=True)
class TransactionalSegment:
    """What is written: codec, records a batch, and about how many bytes."""

    codec: str
    batch: int
    size: int

    @property
    def name(self) -> str:
        return f"transactional-v2-{self.codec}-{self.batch}-s{self.size}"


@dataclasses.dataclass
class _Log:
    offset: int = 0
    position: int = 0
    indexed_to: int = 0
    points: list[tuple[int, int]] = dataclasses.field(default_factory=list)
    aborted: list[tuple[int, int, int, int]] = dataclasses.field(default_factory=list)
    begun: dict[int, int] = dataclasses.field(default_factory=dict)


def write(segment: TransactionalSegment, directory: Path) -> None:
    """Write ``.log``, ``.index``, ``.txnindex`` and the snapshot at the log's end."""
    directory.mkdir(parents=True)
    log = _Log()
    path = directory / f"{0:020d}.log"
    with path.open("wb") as file:
        for batch, count in _batches(segment, log):
            if log.position - log.indexed_to > INDEX_INTERVAL:
                log.points.append((log.offset + count - 1, log.position))
                log.indexed_to = log.position
            file.write(batch)
            log.position += len(batch)
            log.offset += count
    path.with_suffix(".index").write_bytes(offset_index(log.points))
    path.with_suffix(".txnindex").write_bytes(txn_index(log.aborted))
    (directory / f"{log.offset:020d}.snapshot").write_bytes(producer_snapshot({}, others=range(PRODUCERS)))


def link(source: Path, directory: Path, suffixes: tuple[str, ...]) -> None:
    """The same partition with only some of its files."""
    directory.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.suffix in suffixes and not (directory / file.name).exists():
            os.link(file, directory / file.name)


def _batches(segment: TransactionalSegment, log: _Log) -> Iterator[tuple[bytes, int]]:
    """Batches and their counts of offsets; every transaction is ended at last."""
    rng = random.Random(7)
    plain, within = (_templates(rng, segment, transactional) for transactional in (False, True))
    counts = dict.fromkeys(range(PRODUCERS), 0)
    while log.position < segment.size:
        if rng.random() >= SHARE_IN_TRANSACTIONS:
            yield _stamped(rng.choice(plain), log.offset, _NO_PRODUCER), segment.batch
            continue
        producer = rng.randrange(PRODUCERS)
        log.begun.setdefault(producer, log.offset)
        yield _stamped(rng.choice(within), log.offset, producer), segment.batch
        counts[producer] += 1
        if counts[producer] == BATCHES_A_TRANSACTION:
            counts[producer] = 0
            yield _marker(log, producer, commit=rng.random() >= SHARE_ABORTED), 1
    for producer in tuple(log.begun):
        yield _marker(log, producer, commit=True), 1


def _templates(rng: random.Random, segment: TransactionalSegment, transactional: bool) -> list[bytearray]:
    headers = [Header(b"trace", b"0123456789abcdef"), Header(b"source", b"bench")]
    return [
        bytearray(
            Batch(
                [
                    Record(b"key-%08d" % rng.randrange(10**8), _value(rng), headers, timestamp_delta=i)
                    for i in range(segment.batch)
                ],
                codec=segment.codec,
                transactional=transactional,
                producer_epoch=0 if transactional else -1,
            ).encode()
        )
        for _ in range(TEMPLATES)
    ]


def _value(rng: random.Random) -> bytes:
    body = "".join(rng.choice("abcdefgh ") for _ in range(rng.randint(100, 400)))
    return f'{{"id": {rng.randrange(10**9)}, "text": "{body}"}}'.encode()


def _stamped(template: bytearray, offset: int, producer: int) -> bytes:
    """The template with another base offset and producer."""
    struct.pack_into(">q", template, 0, offset)
    struct.pack_into(">q", template, 43, producer)
    struct.pack_into(">I", template, 17, crc32c(memoryview(template)[21:]))
    return bytes(template)


def _marker(log: _Log, producer: int, *, commit: bool) -> bytes:
    first = log.begun.pop(producer)
    if not commit:
        stable = min([log.offset + 1, *log.begun.values()])
        log.aborted.append((producer, first, log.offset, stable))
    return Batch(
        [end_marker(commit=commit)],
        log.offset,
        transactional=True,
        control=True,
        producer_id=producer,
        producer_epoch=0,
    ).encode()
