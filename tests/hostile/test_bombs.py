"""A few bytes that decompress to very many: told as too large, for no more memory than the limit allows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source._core.framing import view_of
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import KafkaLogError
from tests.builders import Batch, Message, Wrapper, partition_dir, write_segment
from tests.builders.compress import CODEC_NUMBERS
from tests.builders.disk import Entry
from tests.builders.v07 import Message07, Set07, write_segment_07
from tests.hostile.bombs import BOMBS, CLAIMS, MIB, lz4_bomb
from tests.hostile.measured import Reading, measure

SMALL_CAP = 32
DEFAULT_CAP = 256
BESIDE_MIB = 64
"""What a reading may take beside the limit."""
ZSTD_SIZE = 10 << 30
WAYS: tuple[dict[str, Any], ...] = ({}, {"mode": "DROPMALFORMED"}, {"view": "damage"}, {"verify": True})


def bomb(name: str, cap: int, base_offset: int = 0) -> Batch:
    """A batch that decompresses to four times the cap, or of zstd to 10 GiB."""
    codec, make = BOMBS[name]
    return Batch(codec=codec, payload=make(ZSTD_SIZE if codec == "zstd" else 4 * cap * MIB), base_offset=base_offset)


def just_below(name: str, cap: int, base_offset: int) -> Batch:
    """A batch of zeros that decompresses to the cap, which is allowed, and is no records."""
    codec, make = BOMBS[name]
    return Batch(codec=codec, payload=make((cap - 4) * MIB), base_offset=base_offset)


def readings(path: Path, cap: int, ways: Sequence[dict[str, Any]] = WAYS) -> Iterator[dict[str, Any]]:
    for way in ways:
        yield {"path": path, "maxDecompressedBatchBytes": cap * MIB, **way}


def check(read: Sequence[Reading], *, rows: int, damaged: int, cap: int, error: str = "LimitError") -> None:
    """What the four ways of `WAYS` have to say of a file with so many good rows and bad batches."""
    failfast, dropping, view, verified = read
    assert failfast.error == error, failfast
    assert (dropping.error, dropping.rows, dropping.damage) == (None, rows, damaged), dropping
    assert (view.error, view.rows, view.damage) == (None, damaged, damaged), view
    assert (verified.error, verified.rows) == (None, rows), verified
    assert verified.damage >= damaged
    for each in read:
        assert each.peak_mib <= cap + BESIDE_MIB, each


def write(root: Path, entries: Sequence[Entry], name: str = "topic") -> Path:
    return write_segment(partition_dir(root, name), entries)


def check_bombs(root: Path, cap: int) -> None:
    paths = [write(root, [bomb(name, cap), Batch(base_offset=9)], f"t{i}") for i, name in enumerate(BOMBS)]
    found = measure([reading for path in paths for reading in readings(path, cap)])
    for read in itertools.batched(found, len(WAYS)) if hasattr(itertools, "batched") else _four_by_four(found):
        check(read, rows=1, damaged=1, cap=cap)


def _four_by_four(found: Sequence[Reading]) -> Iterator[Sequence[Reading]]:
    for start in range(0, len(found), len(WAYS)):
        yield found[start : start + len(WAYS)]


def test_a_bomb_costs_its_batch_alone(tmp_path: Path) -> None:
    check_bombs(tmp_path, SMALL_CAP)


@pytest.mark.hostile
def test_a_bomb_costs_its_batch_alone_at_the_default_limit(tmp_path: Path) -> None:
    check_bombs(tmp_path, DEFAULT_CAP)


def mixed(cap: int) -> list[Entry]:
    """Bombs of all kinds in turn, with payloads just below the limit between them, in the windows of one segment."""
    offsets = itertools.count()
    names = ["zstd", "lz4", "gzip", "zstd wide", "snappy stream", "gzip members", "zstd frames", "lz4", "zstd"]
    entries: list[Entry] = []
    for name in names:
        entries.append(bomb(name, cap, next(offsets)))
        entries.append(just_below(name, cap, next(offsets)))
    # Small enough to be decompressed without Python, into memory of its own.
    small_lz4 = lz4_bomb(cap * MIB)[: (1 << 18) - 1000]
    for name in ("zstd", "gzip"):
        entries.append(just_below(name, cap, next(offsets)))
        entries.append(Batch(codec="lz4", payload=small_lz4, base_offset=next(offsets)))
    # A run of small batches, and the bomb that ends it is not the first that is decompressed.
    for name in ("zstd", "snappy stream", "gzip", "lz4"):
        entries += [Batch(codec=BOMBS[name][0], base_offset=next(offsets)) for _ in range(5)]
        entries.append(bomb(name, cap, next(offsets)))
    return entries


@pytest.mark.parametrize(
    "cap", [pytest.param(SMALL_CAP, id="small"), pytest.param(DEFAULT_CAP, id="default", marks=pytest.mark.hostile)]
)
def test_bombs_do_not_add_up(tmp_path: Path, cap: int) -> None:
    entries = mixed(cap)
    path = write(tmp_path, entries)
    bad = sum(isinstance(entry, Batch) and entry.payload is not None for entry in entries)
    check(measure(list(readings(path, cap))), rows=len(entries) - bad, damaged=bad, cap=cap)


@pytest.mark.parametrize("magic", [0, 1])
def test_bombs_in_wrappers_do_not_add_up_either(tmp_path: Path, magic: int) -> None:
    cap, entries = SMALL_CAP, list[Entry]()
    for number, name in enumerate(["gzip", "lz4", "snappy stream", "gzip members", "lz4"]):
        codec, make = BOMBS[name]
        for size in (4 * cap, cap - 4):
            payload = make(size * MIB)
            offset = 2 * number + (size < cap)
            entries.append(Wrapper(codec=codec, magic=magic, offset=offset, compress=lambda _, p=payload: p))
    bad = len(entries)
    path = write(tmp_path, [*entries, Message(offset=90, magic=magic)])
    check(measure(list(readings(path, cap))), rows=1, damaged=bad, cap=cap)


def test_sets_inside_sets_are_bounded_all_together(tmp_path: Path) -> None:
    """In Kafka 0.7 a set may hold another: a bomb in a bomb, each below the limit, and both just below it."""
    cap = SMALL_CAP
    outer = [Message07(bytes(cap * MIB // 2)), Set07((), compress=lambda _: BOMBS["gzip"][1]((cap - 8) * MIB))]
    sets = [Set07(outer), Set07((), "snappy", lambda _: BOMBS["snappy stream"][1](4 * cap * MIB)), Set07(outer[1:])]
    path = write_segment_07(partition_dir(tmp_path), [*sets, Message07(b"good")])
    for each in measure(list(readings(path, cap))):
        assert each.error == "LimitError" or (each.error is None and each.damage >= 3), each
        assert each.peak_mib <= cap + BESIDE_MIB, each


@pytest.mark.parametrize("name", CLAIMS)
def test_a_small_stream_that_claims_to_be_large_is_refused(name: str) -> None:
    codec, payload = CLAIMS[name]
    with pytest.raises(KafkaLogError):
        Decompressor(1 << 40)(CODEC_NUMBERS[codec], 2, view_of(payload))


def test_claims_take_no_memory(tmp_path: Path) -> None:
    entries: list[Entry] = [
        Batch(codec=codec, payload=payload, base_offset=i) for i, (codec, payload) in enumerate(CLAIMS.values())
    ]
    path = write(tmp_path, [*entries, Batch(base_offset=100)])
    read = measure(list(readings(path, DEFAULT_CAP)))
    check(read, rows=1, damaged=len(entries), cap=0, error="CodecError")


def test_many_wrappers_of_the_smallest_messages(tmp_path: Path) -> None:
    """Legal, and read: what a message takes while it is read does not count against the limit, but must stay small."""
    make: Callable[[int], Message] = lambda offset: Message(None, None, offset, magic=0)  # noqa: E731
    wrappers = [Wrapper([make(i) for i in range(n, n + 20_000)], "gzip", 0) for n in range(0, 60_000, 20_000)]
    path = write(tmp_path, wrappers)
    read = measure([{"path": path, "columns": ["offset"]}])[0]
    assert (read.error, read.rows) == (None, 60_000)
    assert read.peak_mib <= BESIDE_MIB
