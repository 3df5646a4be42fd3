"""``python -m tests.fuzz.guided``: input that grows towards branches of the compiled core that none has reached yet.

The core is built by clang with its branches counted, under ASan and UBSan, and libFuzzer (through Atheris) keeps what
reaches a new one and goes on from there. It begins with the corpus in the source tree, keeps its own new inputs in
build/fuzz/guided, and ends at the first finding. Needed: clang, and atheris in this Python. Exit status: 0 nothing
found, 1 a finding, 2 could not run.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.fuzz import sanitized
from tests.fuzz.fast import FastTargets
from tests.fuzz.inputs import CORPUS, LARGEST, inputs_of
from tests.fuzz.seeds import all_seeds

KEPT = sanitized.BUILD / "guided"
FINDINGS = sanitized.BUILD / "findings-guided"
FIRST_CASES = 10_000
SECONDS_FOR_ONE = 60
MOST_MIB = 2048
LIBFUZZER = "asan_with_fuzzer.so"
MUTATOR = "atheris/custom_mutator.*.so"
EXIT_STATUS = {0: 0, 72: 0, 1: 2}
"""Ours by libFuzzer's, 1 for all others: 72 is an interrupted run, 1 a child that could not start."""


def main(given: list[str] | None = None) -> int:
    arguments = parse_arguments(given)
    missing = find_missing()
    if missing:
        print(f"could not run: {' and '.join(missing)}")
        return 2
    tree = sanitized.build(sanitized.COVERED)
    for folder in (KEPT, FINDINGS):
        folder.mkdir(parents=True, exist_ok=True)
    if arguments.replay:
        return run(tree, str(arguments.replay.resolve()))
    if arguments.minimize:
        return minimize(tree)
    limits = [f"-max_total_time={arguments.seconds}", f"-seed={arguments.seed}", "-print_final_stats=1"]
    code = run(tree, *limits, str(KEPT), str(CORPUS), mutate=True)
    if code == 1:
        print(f"what was found is in {FINDINGS}; python -m tests.fuzz.guided --replay FILE tells more of it")
    return code


def parse_arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=(__doc__ or "").replace("`", ""))
    parser.add_argument("--seconds", type=int, default=60, help="how long to go on (60)")
    parser.add_argument("--seed", type=int, default=0, help="of libFuzzer's choices (by default another one each time)")
    parser.add_argument("--replay", type=Path, help="check one input once more, such as a finding, and nothing else")
    parser.add_argument(
        "--minimize",
        action="store_true",
        help="replace the corpus by the fewest inputs that reach as much as it, build/fuzz/guided"
        " and some thousand inputs of the unguided fuzzer do together",
    )
    return parser.parse_args(given)


def find_missing() -> list[str]:
    """What has to be installed first, with how."""
    missing = []
    if shutil.which(sanitized.COVERED.compiler) is None:
        missing.append(f"there is no {sanitized.COVERED.compiler} (install clang, or name it: CLANG=clang-19)")
    if not _from_atheris(LIBFUZZER):
        missing.append(f"atheris is not installed ({sys.executable} -m pip install atheris)")
    return missing


def _from_atheris(pattern: str) -> list[str]:
    """Files that Atheris brings, with places from the folder it is installed into; none if it is not."""
    spec = importlib.util.find_spec("atheris")
    return [] if spec is None or spec.origin is None else [*map(str, Path(spec.origin).parents[1].glob(pattern))]


def run(tree: Path, *options: str, mutate: bool = False) -> int:
    """Run libFuzzer in a child process; 1 if it found something, 2 if it could not start.

    Only what is there before libFuzzer may `mutate` for it. It cannot be there in processes that are not Python, so a
    merge and the names in a report of ASan, which need such, come without.
    """
    preloaded = _from_atheris(LIBFUZZER) + (_from_atheris(MUTATOR) if mutate else [])
    environment = {**os.environ, **sanitized.environment(preloaded, fast=True)}
    environment["PYTHONPATH"] = os.pathsep.join([str(tree), str(sanitized.ROOT)])
    limits = ["-len_control=100", f"-max_len={LARGEST}", f"-timeout={SECONDS_FOR_ONE}", f"-rss_limit_mb={MOST_MIB}"]
    command = [sys.executable, "-P", "-m", "tests.fuzz.guided_session", f"-artifact_prefix={FINDINGS}/", *limits]
    code = subprocess.run([*command, *options], cwd=sanitized.ROOT, env=environment, check=False).returncode
    return EXIT_STATUS.get(code, 1)


def minimize(tree: Path) -> int:
    """Make the corpus anew, from itself, from what was kept, and from inputs of the fast targets."""
    seeds, fresh = sanitized.BUILD / "guided-seeds", sanitized.BUILD / "guided-corpus"
    for folder in (seeds, fresh):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    targets = FastTargets(all_seeds())
    for number in range(FIRST_CASES):
        for way, data in enumerate(inputs_of(targets.make(0, number))):
            (seeds / f"{number}-{way}").write_bytes(data[:LARGEST])
    CORPUS.mkdir(exist_ok=True)
    # How often a branch is taken does not count here: that would keep three times as much.
    code = run(tree, "-merge=1", "-use_counters=0", *map(str, (fresh, CORPUS, KEPT, seeds)))
    sizes = [path.stat().st_size for path in fresh.iterdir()]
    if code or not sizes:
        return code or 2
    shutil.rmtree(CORPUS)
    shutil.copytree(fresh, CORPUS)
    print(f"{CORPUS}: {len(sizes)} inputs, {sum(sizes)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
