"""A child process of `guided`: libFuzzer makes inputs, and the compiled core has to take them.

The arguments are libFuzzer's own. A finding ends the process, and the input is written where they say.
"""

from __future__ import annotations

import random
import shlex
import sys

import atheris

from tests.fuzz.fast import FastTargets
from tests.fuzz.inputs import case_of, changed

SHARE_OF_OURS = 0.4
"""How many changes know where numbers are; libFuzzer's own know what the core compared with what."""


def main() -> None:
    targets = FastTargets(())

    def check(data: bytes) -> None:
        targets.check(case_of(data))

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        return changed(rng, data)[:most] if rng.random() < SHARE_OF_OURS else atheris.Mutate(data, most)

    # To merge, libFuzzer starts itself again, by a shell.
    this = shlex.join([sys.executable, "-P", "-m", "tests.fuzz.guided_session"])
    atheris.Setup([this, *sys.argv[1:]], check, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
