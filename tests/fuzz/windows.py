"""`Entries.walk`, `HeaderCollector` and `EntryFinder` by themselves, on bytes that are mostly headers."""

from __future__ import annotations

import random
import struct

from kafkalog_source._core.codes import NAMES
from kafkalog_source._core.headers import HeaderCollector, HeaderTable
from kafkalog_source._core.memory import Scratch
from kafkalog_source._core.native import CFunctions
from kafkalog_source._core.walk import Entries, EntryFinder
from kafkalog_source.batch import decoder
from tests.fuzz.case import Case, Outcome, Target, must
from tests.fuzz.mutate import interesting, mutate_bytes

LEAST, MOST = -(2**63) + 1, 2**63 - 1


def target(share: int) -> Target:
    return Target("window", share, make, check)


def make(rng: random.Random) -> Case:
    data = bytearray()
    offset = rng.choice((0, 5, 2**40, 2**63 - 50, -3))
    for _ in range(rng.randint(0, 12)):
        data += _header(rng, offset)
        offset = min(MOST, offset + rng.choice((1, 2, 10)))
    if rng.random() < 0.5:
        mutate_bytes(rng, data)
    numbers = [max(LEAST, min(MOST, offset + rng.choice((0, -1, 1, -20, 20, -(2**63), 2**63)))) for _ in range(5)]
    config = {
        "least": numbers[0],
        "bound": numbers[1],
        "stop": numbers[2],
        "above": numbers[3],
        "below": numbers[4],
        "start": rng.randint(0, len(data) + 1),
        "size": len(data) if rng.random() < 0.7 else rng.randint(0, len(data)),
        "beyond": rng.choice((0, 1, 100, 2**31, 2**50)),
    }
    return Case("window", bytes(data), config)


def _header(rng: random.Random, offset: int) -> bytes:
    magic = rng.choice((0, 1, 2, 2, 2, 3, 255))
    body = rng.choice((0, 0, 5, 50))
    size = {0: 26, 1: 34}.get(magic, 61) + body
    length = size - 12 if rng.random() < 0.8 else interesting(rng, size)
    entry = bytearray(struct.pack(">qIIB", offset, length % 2**32, 0, magic) + rng.randbytes(size - 17))
    if magic == 2 and rng.random() < 0.9:
        struct.pack_into(">i", entry, 23, rng.choice((0, 0, 1, 2**31 - 1)))
    return bytes(entry)


def check(case: Case) -> Outcome:
    config, size = case.config, case.config["size"]
    window = Scratch()
    window.reserve(len(case.data))
    if case.data:
        with window.view(0, len(case.data)) as room:
            room[:] = case.data
    entries = Entries(config["least"], config["bound"], config["stop"])
    code = entries.walk(window, size)
    _check_entries(entries, size)
    _check_collector(case, window, entries)
    if config["start"] <= size:
        finder = EntryFinder(CFunctions() if config["beyond"] % 2 else decoder.C_FUNCTIONS)
        at = finder.find(window, config["start"], size, config["beyond"], config["above"], config["below"])
        must(at == -1 or config["start"] <= at <= size - 18, f"an entry at {at} of {size}")
        again = finder.find(window, max(at, 0), size, config["beyond"], config["above"], config["below"])
        must(at in (-1, again), f"an entry at {at}, and then at {again}")
    return Outcome(entries.count, (NAMES[code],))


def _check_collector(case: Case, window: Scratch, whole: Entries) -> None:
    """The same headers are collected as were walked, up to one that is too large, and others if payloads may be cut."""
    size, beyond = case.config["size"], case.config["beyond"]
    largest = 64 if beyond % 2 else 1 << 40
    for left in (size, size + beyond):
        entries = Entries(whole.least, whole.bound, whole.stop)
        collector = HeaderCollector(table := HeaderTable(), entries, 0, left, largest)
        collector.walk(window, size, left)
        must(collector.count == collector.found == table.rows, f"{collector.found} found, {table.rows} rows")
        must(collector.walked <= left, f"walked {collector.walked} of {left}")
        rows = table.finish()
        must(all(len(numbers) == 8 * collector.found for numbers, *_ in rows.values()), "columns of other lengths")
        sizes = memoryview(rows["size"][0]).cast("q")
        must(all(each <= largest for each in sizes), f"sizes {list(sizes)} above {largest}")
        if left == size:
            expected = [whole.entry(index)[1] for index in range(collector.found)]
            must(list(sizes) == expected, f"sizes {list(sizes)}, not {expected}")


def _check_entries(entries: Entries, size: int) -> None:
    at, last = 0, entries.least - 1
    for index in range(entries.count):
        start, length, magic, _, first_offset, last_offset = entries.entry(index)
        must(start == at and magic in (0, 1, 2), f"entry {index} at {start}, not {at}, of magic {magic}")
        must(last < first_offset <= last_offset < entries.bound, f"offsets {first_offset} to {last_offset}")
        at, last = start + length, last_offset
    must(at == entries.walked <= size, f"walked {entries.walked} of {size}, entries end at {at}")
