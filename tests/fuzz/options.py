"""Options of any value: a `ReadOptions` or an `OptionError`."""

from __future__ import annotations

import json
import random
from typing import Any

from kafkalog_source.errors import OptionError
from kafkalog_source.options.read_options import OPTION_NAMES, parse_options
from tests.fuzz.case import Case, Outcome, Target, same
from tests.fuzz.mutate import EDGES, mutate_bytes

TEXTS = (
    '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}',
    '{"t":{"0":1700000000000}}',
    '{"topicA":[0,1],"topicB":[0,1]}',
    "t1,t2, t-3",
    "topic-.*",
    "128m",
    "1.5gb",
    "15 minutes",
    "PT15M",
    "earliest",
    "latest",
    "true",
    "FALSE",
    "error",
    "records",
    "[" * 3000,
    '{"t":' * 3000,
    '{"t":{"0":' + "9" * 5000 + "}}",
    '{"t":{"0":1e400}}',
    '["/a","/b"]',
    "",
)


def target(share: int) -> Target:
    return Target("options", share, make, check)


def make(rng: random.Random) -> Case:
    chosen = [
        rng.choice((rng.choice(OPTION_NAMES), rng.choice(OPTION_NAMES).upper(), "kafka.x", _text(rng)[:30]))
        for _ in range(rng.randint(1, 4))
    ]
    return Case("options", json.dumps({name: _value(rng) for name in chosen}).encode())


def _text(rng: random.Random) -> str:
    text = bytearray(rng.choice(TEXTS).encode())
    if rng.random() < 0.7:
        mutate_bytes(rng, text)
    return text.decode("utf-8", "surrogateescape" if rng.random() < 0.5 else "replace")


def _value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(8)
    if kind < 5 or depth > 2:
        return _text(rng)
    if kind == 5:
        return rng.choice((*EDGES, True, None, 1.5, 1e300))
    if kind == 6:
        return [_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {
        rng.choice(("t", "0", "1", "-1", _text(rng)[:20])): _value(rng, depth + 1) for _ in range(rng.randint(0, 3))
    }


def check(case: Case) -> Outcome:
    one, other = _parse(case), _parse(case)
    same("two parses", one, other)
    return Outcome(0, () if one.startswith("ReadOptions") else ("OptionError",))


def _parse(case: Case) -> str:
    try:
        return repr(parse_options(json.loads(case.data), ["/path"]))
    except OptionError as error:
        return str(error)
