"""Any cut and any flipped bit of real keys and values gives a row, and does not change the rows beside it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalog_source.internal_topics.columns import TYPED_COLUMNS
from tests.fuzz.case import Case
from tests.fuzz.internal_topics import Decoders, Pair, check, pairs

CHOSEN = 3
"""Records of each view, and in an exhaustive run all."""
TOGETHER = 64
DECODERS = Decoders()


def look(view: str, changed: list[Pair], decoders: Decoders) -> int:
    """Check the records of one batch; gives their number."""
    config = {
        "view": view,
        "pairs": [[None if part is None else part.hex() for part in pair] for pair in changed],
        "control": False,
        "secrets": True,
    }
    return check(Case("internal", b"", config), decoders).rows


def cuts(pair: Pair) -> Iterator[Pair]:
    key, value = pair
    yield from ((key, (value or b"")[:size]) for size in range(len(value or b"")))
    yield from (((key or b"")[:size], value) for size in range(len(key or b"")))


def flips(pair: Pair) -> Iterator[Pair]:
    for part in (0, 1):
        content = pair[part] or b""
        for bit in range(len(content) * 8):
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << bit % 8
            yield (bytes(changed), pair[1]) if part == 0 else (pair[0], bytes(changed))


def run(view: str, chosen: list[Pair]) -> int:
    decoders = Decoders()
    rows = 0
    waiting: list[Pair] = []
    for pair in chosen:
        waiting += [*cuts(pair), *flips(pair)]
        while len(waiting) >= TOGETHER or (waiting and pair is chosen[-1]):
            rows += look(view, waiting[:TOGETHER], decoders)
            del waiting[:TOGETHER]
    return rows


@pytest.mark.parametrize("view", TYPED_COLUMNS)
def test_cuts_and_flips_of_some_records(view: str) -> None:
    chosen = random.Random(view).sample([pair for pair in pairs()[view] if len(pair[1] or b"") < 200], CHOSEN)
    assert run(view, chosen) > 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("view", TYPED_COLUMNS)
def test_cuts_and_flips_of_all_records(view: str) -> None:
    assert run(view, list(pairs()[view])) > 0


@given(st.sampled_from(sorted(TYPED_COLUMNS)), st.lists(st.tuples(st.binary(max_size=40), st.binary(max_size=80))))
def test_any_bytes(view: str, rows: list[Pair]) -> None:
    if rows:
        assert look(view, rows, DECODERS) == len(rows)
