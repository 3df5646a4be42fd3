"""Every code of the core that is no good end has words."""

from __future__ import annotations

import pytest

from kafkalog_source._core.codes import CODE, NAMES
from kafkalog_source.batch import problem_of

GOOD = {"ok", "end", "full", "past_offsets"}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in GOOD])
def test_every_problem_has_a_sentence(name: str) -> None:
    sentence, expected = problem_of(CODE[name])
    assert sentence
    assert not sentence.endswith(".")
    assert expected is None or expected
