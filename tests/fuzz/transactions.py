"""A pass over headers for transactions: however it reads the file, it finds the same ones, and nothing else happens."""

from __future__ import annotations

import random
from typing import Any

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.segment import header_walk
from kafkalog_source.segment.damage.description import Damage
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.transaction_headers import HeaderPass, make_tracker
from tests.builders import Batch, Message, Record, end_marker
from tests.builders.disk import Entry
from tests.fuzz.case import Case, Outcome, Target, must, same
from tests.fuzz.files import Folder
from tests.fuzz.knobs import set_constant, set_windows
from tests.fuzz.mutate import mutated
from tests.fuzz.seeds import Seed

MAX_OFFSET = 2**63 - 1
_FOLDER = Folder()


def target(seeds: tuple[Seed, ...], share: int) -> Target:
    return Target("transactions", share, lambda rng: make(rng, seeds), check)


def make(rng: random.Random, seeds: tuple[Seed, ...]) -> Case:
    seed = Seed("built", 0, tuple(entry.encode() for entry in _interleaved(rng)))
    data = mutated(rng, seed, rng.choice(seeds))
    config = {
        "begun": [[rng.choice((0, 1, 2, 2**63 - 1)), rng.randint(-5, 0)] for _ in range(rng.choice((0, 0, 2)))],
        "stop": rng.choice((MAX_OFFSET, MAX_OFFSET, rng.randint(0, 100))),
        "below": rng.choice((MAX_OFFSET, MAX_OFFSET, rng.randint(0, 100))),
        "verify": rng.random() < 0.7,
        "last": rng.random() < 0.5,
        "ways": [_way(rng), _way(rng)],
    }
    return Case("transactions", data, config)


def _way(rng: random.Random) -> dict[str, int]:
    window = rng.choice((256, 1000, 1 << 18))
    return {"_WINDOW_SIZE": window, "_FIRST_SIZE": rng.choice((61, 256)), "_SPARSE": rng.choice((1, 100, 1 << 14))}


def _interleaved(rng: random.Random) -> list[Entry]:
    entries: list[Entry] = []
    for number in range(rng.randint(1, 12)):
        producer, offset = rng.choice((-1, 0, 1, 2, 3, 2**63 - 1)), 5 * number
        if rng.random() < 0.4:
            marker = [end_marker(commit=rng.random() < 0.5)] if rng.random() < 0.9 else []
            codec = rng.choice(("none", "none", "none", "gzip", "lz4", "zstd"))
            entries.append(Batch(marker, offset, codec, control=True, transactional=True, producer_id=producer))
        elif rng.random() < 0.1:
            entries.append(Message(offset=offset))
        else:
            records = [Record(value=bytes(rng.choice((0, 10, 400))))] * rng.randint(1, 3)
            entries.append(Batch(records, offset, transactional=rng.random() < 0.9, producer_id=producer))
    return entries


_TOO_HIGH = "above that of the batches behind"


def check(case: Case) -> Outcome:
    one, other = (_pass(case, way) for way in case.config["ways"])
    unlimited = case.config["stop"] == case.config["below"] == MAX_OFFSET
    # Otherwise how far a pass goes on where nothing is of interest depends on its windows, and so does which of several
    # offsets that contradict each other it meets.
    if unlimited or not any(_TOO_HIGH in reason for _, _, reason in (*one[2], *other[2])):
        same("transactions", one[:2], other[:2])
    if unlimited:
        same("damage and errors", one[2:], other[2:])
    aborted, begun, damage, error = one
    for producer, first, marker in aborted:
        must(producer >= 0 and first <= marker, f"producer {producer} aborts {first} to {marker}")
    return Outcome(len(aborted) + len(begun), ("damaged",) * len(damage) + ((error.split(":")[0],) if error else ()))


def _pass(case: Case, way: dict[str, int]) -> tuple[Any, Any, list[tuple[int, int, str]], str | None]:
    config = case.config
    set_windows(first=1 << 16, window=1 << 18)
    for name, size in way.items():
        set_constant(header_walk, name, size)
    begun = [(producer, first) for producer, first in config["begun"]]
    tracker = make_tracker(begun, stop=config["stop"], below=config["below"], verify_checksums=config["verify"])
    damage: list[Damage] = []
    error = None
    with LocalFile(_FOLDER.put_segment(case.data)) as source:
        walk = HeaderPass(
            source,
            tracker,
            least=0,
            bound=MAX_OFFSET,
            end=len(case.data),
            is_last=config["last"],
            on_damage=damage.append,
        )
        try:
            walk.run()
        except KafkaLogError as raised:
            error = f"{type(raised).__name__}: {raised}"
    return tracker.aborted, tracker.open, [(each.position, each.size, each.reason) for each in damage], error
