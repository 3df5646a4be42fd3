"""Thousands of small inputs a second, straight into the compiled core: no file, no second reading, no reference.

What is looked for is what the core alone can do wrong: a crash, a loop without end, an exception that is none of ours,
an Arrow batch that is not valid. Everything else is for the other targets, which take a hundred times as long over an
input. Inputs come from seeds that are taken apart once, and are changed in few steps.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass

from isal.isal_zlib import crc32

from kafkalog_source._core.codes import CODE
from kafkalog_source._core.framing import view_of
from kafkalog_source._core.memory import Scratch
from kafkalog_source._core.native import CFunctions
from kafkalog_source._core.walk import Entries, EntryFinder
from kafkalog_source._core.walk07 import Entries07, find_message_07
from kafkalog_source.batch import decoder
from kafkalog_source.codecs import Decompressor
from kafkalog_source.errors import KafkaLogError
from tests.fuzz import segments07
from tests.fuzz.case import Case, Outcome, must
from tests.fuzz.harness import Harness, follow_transactions, fresh_harnesses, show_to_takers
from tests.fuzz.layout import CODECS, Opened, mend_checksums, open_entry, split_records, varint_places
from tests.fuzz.mutate import EDGES
from tests.fuzz.seeds import COMPRESSORS, Seed

NAME = "fast"
LARGEST_SEED = 1500
LIMIT = 1 << 16
MOST_REPEATS = 4
INPUTS_OF_A_HARNESS = 32
"""Memory that is used again grows, and hides reads beyond a short payload: it is made anew so often."""
_END = CODE["end"]
_MAX_OFFSET = 2**63 - 1
_FINDERS = (EntryFinder(CFunctions()), EntryFinder(decoder.C_FUNCTIONS))
_NUMBERS = tuple(number % (1 << 64) for number in EDGES)
_COMPRESS: tuple[Callable[[bytes], bytes], ...] = tuple(COMPRESSORS[codec][0] for codec in CODECS)
_PAYLOADS = tuple(
    (number, compress(plain))
    for number, codec in enumerate(CODECS)
    if number
    for compress in COMPRESSORS[codec]
    for plain in (b"", b"x", bytes(300), bytes(range(256)) * 2, b"some words and some words more" * 9)
)


@dataclass(frozen=True)
class Whole:
    """A seed with what its payloads hold, and where the numbers in their records are."""

    base: int
    data: bytes
    opened: tuple[tuple[int, int, Opened, tuple[tuple[int, int], ...]], ...]
    """[start, stop) of an entry, its parts, and [start, stop) of varints in its plain payload."""


class FastTargets:
    """Makes and checks inputs by number, as `Targets` does.

    Parameters
    ----------
    seeds : sequence of Seed
        Of which the short ones are used.
    """

    def __init__(self, seeds: tuple[Seed, ...]) -> None:
        self._rng = random.Random()
        self._wholes = tuple(_whole(seed) for seed in seeds if seed.size <= LARGEST_SEED)
        self._runs07 = tuple(b"".join(run) for run in segments07.seeds() if sum(map(len, run)) <= LARGEST_SEED)
        self._harnesses: tuple[Harness, ...] = ()
        self._checked = 0

    def make(self, run_seed: int, number: int) -> Case:
        """The input of this number in the run of this seed."""
        rng = self._rng
        rng.seed(run_seed << 64 | number)
        kind = rng.random()
        config = {"way": rng.getrandbits(16), "base": 0}
        if kind < 0.12:
            codec, payload = _PAYLOADS[rng.randrange(len(_PAYLOADS))]
            data = bytearray(payload)
            _change(rng, data)
            config |= {"kind": "payload", "codec": codec}
        elif kind < 0.2:
            data = bytearray(self._runs07[rng.randrange(len(self._runs07))])
            _change(rng, data)
            config["kind"] = "messages07"
            if rng.random() < 0.7:
                mend_07(data)
        else:
            whole = self._wholes[rng.randrange(len(self._wholes))]
            config |= {"kind": "entries", "base": whole.base}
            data = _entries(rng, whole)
        return Case(NAME, bytes(data), config)

    def check(self, case: Case) -> Outcome:
        """Let the core have the input."""
        if self._checked % INPUTS_OF_A_HARNESS == 0:
            self._harnesses = fresh_harnesses(LIMIT)
        self._checked += 1
        kind, way = case.config["kind"], case.config["way"]
        if kind == "payload":
            return _check_payload(case.data, case.config["codec"], way, self._harnesses[0].decompressor)
        if kind == "messages07":
            harness = self._harnesses[-1 - way % 2]
            return _check_messages07(case.data, way, harness)
        harness = self._harnesses[(way & 15) % (len(self._harnesses) - 2)]
        return _check_entries(case.data, case.config["base"], way >> 4, harness)


def _whole(seed: Seed) -> Whole:
    opened = []
    at = 0
    for entry in seed.entries:
        parts = open_entry(entry)
        if parts is not None and parts.plain:
            places = varint_places_in(parts.plain) if parts.magic == 2 else ()
            opened.append((at, at + len(entry), parts, places))
        at += len(entry)
    return Whole(seed.base_offset, b"".join(seed.entries), tuple(opened))


def varint_places_in(plain: bytes) -> tuple[tuple[int, int], ...]:
    """[start, stop) of the varints in the records of a v2 batch."""
    places: list[tuple[int, int]] = []
    at = 0
    for body in split_records(plain):
        start = plain.index(body, at)
        places.append((max(at, start - 1), start))
        places += [(start + one, start + other) for one, other in varint_places(body)]
        at = start + len(body)
    return tuple(places)


def _entries(rng: random.Random, whole: Whole) -> bytearray:
    data = bytearray(whole.data)
    chance = rng.random()
    if whole.opened and chance < 0.6:
        _change_inside(rng, data, whole)
    if chance > 0.5:
        _change(rng, data)
    if rng.random() < 0.65:
        mend_checksums(data)
    return data


def _change_inside(rng: random.Random, data: bytearray, whole: Whole) -> None:
    """Change the content of a payload and put it back in another or the same codec."""
    start, stop, parts, places = whole.opened[rng.randrange(len(whole.opened))]
    plain = bytearray(parts.plain)
    if places and rng.random() < 0.6:
        change_varint(rng, plain, places)
    else:
        _change(rng, plain)
    if parts.magic < 2 and rng.random() < 0.8:
        mend_checksums(plain)
    codec = parts.codec if rng.random() < 0.7 else rng.randrange(1, 5 if parts.magic == 2 else 4)
    data[start:stop] = parts.close(_COMPRESS[codec](bytes(plain)), codec)


def change_varint(rng: random.Random, plain: bytearray, places: tuple[tuple[int, int], ...]) -> None:
    """Put another number, or a byte that makes it one, at one of `places`."""
    start, stop = places[rng.randrange(len(places))]
    kind = rng.random()
    if kind < 0.4:
        plain[start] = rng.getrandbits(8)
        return
    number = _NUMBERS[rng.randrange(len(_NUMBERS))] if kind < 0.7 else rng.randrange(2 * len(plain) + 2)
    content = bytearray()
    while number >= 0x80:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    content.append(number)
    plain[start:stop] = content


def _change(rng: random.Random, data: bytearray) -> None:
    """One to three small changes."""
    for _ in range(1 + (rng.random() < 0.4) + (rng.random() < 0.15)):
        size = len(data)
        if not size:
            return
        at, kind = rng.randrange(size), rng.random()
        if kind < 0.3:
            data[at] ^= 1 << rng.randrange(8)
        elif kind < 0.5:
            data[at] = rng.getrandbits(8)
        elif kind < 0.75:
            width = (1, 2, 4, 4, 8)[rng.randrange(5)]
            number = _NUMBERS[rng.randrange(len(_NUMBERS))] if rng.random() < 0.5 else rng.randrange(size + 2)
            data[at : at + width] = (number % (1 << 8 * width)).to_bytes(width, "big")
        elif kind < 0.83:
            del data[at:]
        elif kind < 0.91:
            del data[at : at + 1 + rng.randrange(40)]
        else:
            data[at:at] = data[at - rng.randrange(at + 1) : at + rng.randrange(80)]


def mend_07(data: bytearray) -> None:
    """Give every message of Kafka 0.7 the CRC of its bytes."""
    at = 0
    while len(data) - at >= segments07.SMALLEST:
        size = 4 + struct.unpack_from(">i", data, at)[0]
        if size < segments07.SMALLEST or at + size > len(data):
            return
        place = at + (6 if data[at + 4] == 1 else 5)
        if place + 4 <= at + size:
            struct.pack_into(">I", data, place, crc32(data[place + 4 : at + size]))
        at += size


def _scratch(data: bytes) -> Scratch:
    """Memory that ends where the data does."""
    window = Scratch()
    window.reserve(max(1, len(data)))
    with window.view(0, len(data)) as room:
        room[:] = data
    return window


def _check_payload(data: bytes, codec: int, way: int, decompressor: Decompressor) -> Outcome:
    try:
        found = decompressor(codec if way & 15 else way >> 4 & 7, way % 3, view_of(data))
    except KafkaLogError as error:
        return Outcome(0, (type(error).__name__,))
    size = len(memoryview(found))
    must(size <= LIMIT, f"{size} bytes, {LIMIT} are allowed")
    return Outcome(size)


def _check_messages07(data: bytes, way: int, harness: Harness) -> Outcome:
    window, entries = _scratch(data), Entries07(0, _MAX_OFFSET, _MAX_OFFSET)
    code = entries.walk(window, len(data))
    rows = harness.decode(window, entries, way >> 4)
    if code != _END and entries.walked < len(data):
        at = find_message_07(window, entries.walked + 1, len(data), way & 0xFF)
        must(at == -1 or entries.walked < at < len(data), f"a message at {at}")
    return Outcome(rows, harness.errors())


def _check_entries(data: bytes, base: int, way: int, harness: Harness) -> Outcome:
    rows, size = 0, len(data)
    window, above = _scratch(data), base - 1
    for _ in range(MOST_REPEATS):
        entries = Entries(above + 1, _MAX_OFFSET, _MAX_OFFSET if way & 3 else base + 40)
        code = entries.walk(window, size)
        rows += harness.decode(window, entries, way >> 4)
        if way & 0xC == 0 and entries.count:
            show_to_takers(window, entries, base, harness.decompressor)
        if way & 0xC == 4:
            follow_transactions(window, size, above + 1, harness.decompressor)
        above = entries.last_offset
        if code == _END or entries.walked >= size:
            break
        at = _FINDERS[way >> 2 & 1].find(window, entries.walked + 1, size, way, above, _MAX_OFFSET)
        if at < 0:
            break
        must(entries.walked < at <= size - 18, f"an entry at {at} of {size}")
        window.move(at, size)
        size -= at
    return Outcome(rows, harness.errors())
