"""Index files of any content beside a good segment: they cost time and no rows."""

from __future__ import annotations

import random
import struct
from typing import Any

import pyarrow as pa

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.options.read_options import parse_options
from kafkalog_source.planning.plan import plan_read
from kafkalog_source.reading.read import SplitReader
from tests.fuzz import segments
from tests.fuzz.case import Case, Outcome, Target, same
from tests.fuzz.files import Folder
from tests.fuzz.knobs import set_windows
from tests.fuzz.mutate import interesting, mutate_bytes
from tests.fuzz.seeds import Seed

COLUMNS = ("offset", "key", "timestamp", "batchPosition")
WAY = {
    "byte_target": 1 << 20,
    "row_target": 1 << 15,
    "first_window": 1 << 16,
    "window": 1 << 20,
    "search_window": 1 << 20,
}


def target(seeds: tuple[Seed, ...], share: int) -> Target:
    good = tuple(seed for seed in seeds if _is_good(seed))
    folder = Folder()
    return Target("index", share, lambda rng: make(rng, good), lambda case: check(case, folder))


def _is_good(seed: Seed) -> bool:
    config = {
        "base": seed.base_offset,
        "bound": 2**63 - 1,
        "verify": True,
        "control": True,
        "benign": True,
        "limit": 1 << 28,
    }
    case = Case("segment", b"".join(seed.entries), config)
    reading = segments.read(case, ("offset",), WAY, seed.base_offset, 2**63 - 1)
    return not reading.errors and reading.table.num_rows > 0


def make(rng: random.Random, good: tuple[Seed, ...]) -> Case:
    seed = rng.choice(good)
    positions = [0]
    for entry in seed.entries:
        positions.append(positions[-1] + len(entry))
    first = struct.unpack_from(">q", seed.entries[0])[0]
    span = struct.unpack_from(">q", seed.entries[-1])[0] - seed.base_offset + 3
    files = {
        ".index": _file(rng, ">ii", span, positions),
        ".timeindex": _file(rng, ">qi", span, [_time(seed), _time(seed) + 5]),
    }
    sides = {name: content.hex() for name, content in files.items() if rng.random() < 0.8}
    options: dict[str, Any] = {
        "includeControlRecords": True,
        "maxPartitionBytes": rng.choice((1, 100, 10**6)),
        "failOnDataLoss": False,
    }
    start = rng.randint(first - 1, seed.base_offset + span)
    if rng.random() < 0.4:
        options["startingTimestamp"] = max(1, _time(seed) + rng.randint(-3, 50))
        options["startingOffsetsByTimestampStrategy"] = rng.choice(("error", "latest"))
    elif rng.random() < 0.8:
        options["startingOffsets"] = {"topic": {"0": max(0, start)}}
    if rng.random() < 0.5:
        options["endingOffsets"] = {"topic": {"0": max(0, start + rng.randint(-1, 20))}}
    windows = [rng.choice((100, 1 << 18)), rng.choice((61, 1 << 20))]
    config = {"base": seed.base_offset, "sides": sides, "options": options, "windows": windows}
    return Case("index", b"".join(seed.entries), config)


def _time(seed: Seed) -> int:
    entry = seed.entries[0]
    place = 27 if entry[16] == 2 else 18
    return int(struct.unpack_from(">q", entry, place)[0]) if entry[16] else 1_500_000_000_000


def _file(rng: random.Random, layout: str, span: int, numbers: list[int]) -> bytes:
    """Entries that are right, nearly right, or noise; zeros at the end as in a preallocated file."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(rng.randint(0, 100))
    content = bytearray()
    for _ in range(rng.randint(0, 6)):
        offset, number = rng.randint(0, max(1, span)), rng.choice(numbers)
        if rng.random() < 0.2:
            offset, number = interesting(rng, span), interesting(rng, number)
        pair = (offset, number) if layout == ">ii" else (number, offset)
        widths = (4, 4) if layout == ">ii" else (8, 4)
        content += b"".join((n % (1 << 8 * w)).to_bytes(w, "big") for n, w in zip(pair, widths, strict=True))
    if kind == 1:
        mutate_bytes(rng, content)
    if kind == 2:
        entry_size = struct.calcsize(layout)
        content = bytearray(
            b"".join(sorted(bytes(content[i : i + entry_size]) for i in range(0, len(content), entry_size)))
        )
    return bytes(content) + bytes(rng.choice((0, 0, 24, 3)))


def check(case: Case, folder: Folder) -> Outcome:
    headers, window = case.config["windows"]
    set_windows(first=window, window=window, headers=headers)
    log = {f"{case.config['base']:020d}.log": case.data}
    sides = {
        f"{case.config['base']:020d}{name}": bytes.fromhex(content) for name, content in case.config["sides"].items()
    }
    folder.put(log | sides)
    one = _read(folder, case.config["options"])
    folder.put(log)
    same("rows with and without indexes", one, _read(folder, case.config["options"]))
    return Outcome(0, (one.split(":")[0],)) if isinstance(one, str) else Outcome(len(one))


def _read(folder: Folder, options: dict[str, Any]) -> list[dict[str, Any]] | str:
    found: list[dict[str, Any]] = []
    try:
        typed = parse_options(options, [str(folder.path)])
        for split in plan_read(typed).splits:
            for batch in SplitReader(typed, COLUMNS).read(split):
                batch.validate(full=True)
                found += pa.Table.from_batches(
                    [batch.set_column(2, "timestamp", batch.column(2).cast(pa.int64()))]
                ).to_pylist()
    except KafkaLogError as error:
        return f"{type(error).__name__}: {error}"
    return found
