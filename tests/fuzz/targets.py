"""All that is fuzzed, and how a case comes from its number."""

from __future__ import annotations

import random

from tests.fuzz import (
    indexes,
    internal_topics,
    lines,
    options,
    payloads,
    segments,
    segments07,
    side_files,
    transactions,
    windows,
)
from tests.fuzz.case import Case, Outcome
from tests.fuzz.seeds import Seed


class Targets:
    """The targets with their shares.

    Parameters
    ----------
    seeds : sequence of Seed
        What segments are mutated from.
    """

    def __init__(self, seeds: tuple[Seed, ...]) -> None:
        self.all = (
            segments.target(seeds, 50),
            payloads.target(24),
            windows.target(16),
            indexes.target(seeds, 3),
            options.target(7),
            segments07.target(12),
            transactions.target(seeds, 6),
            internal_topics.target(8),
            side_files.target(seeds, 4),
            lines.target(6),
        )
        self._by_name = {each.name: each for each in self.all}
        self._shares = [each.share for each in self.all]

    def make(self, run_seed: int, number: int) -> Case:
        """The case of this number in the run of this seed."""
        rng = random.Random(f"{run_seed}/{number}")
        return rng.choices(self.all, self._shares)[0].make(rng)

    def check(self, case: Case) -> Outcome:
        """Check one case; see `Target.check`."""
        return self._by_name[case.target].check(case)
