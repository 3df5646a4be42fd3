"""A child process that checks one case after another; the parent (`run`) watches it.

It writes the number of the case at work where the parent finds it after a crash, and every finding into the folder of
findings. A case that takes too long ends the process by SIGPROF, from which no Python code can keep it. What counts is
the processor's time, since a machine with other work may let the process wait for long; one that waits for ever ends
by SIGALRM.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import mmap
import resource
import signal
import struct
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

import kafkalog_source
from tests.fuzz import fast
from tests.fuzz.case import Case
from tests.fuzz.seeds import all_seeds
from tests.fuzz.targets import Targets

SECONDS_FOR_ONE = 20
SECONDS_TO_START = 120
WAITING = 10
"""How much longer than it may take a case may wait as well."""
CASES_AT_ONCE = 256
"""Of the fast ones so many together may take as long as one of the others."""
MOST_FINDINGS = 20
PROGRESS_SIZE = 8


def main() -> int:
    arguments = parse_arguments()
    faulthandler.enable()
    for number in (signal.SIGPROF, signal.SIGALRM):
        faulthandler.register(number, chain=True)
    allow(SECONDS_TO_START)
    if not Path(kafkalog_source.__file__).is_relative_to(arguments.tree):
        raise SystemExit(f"kafkalog_source comes from {kafkalog_source.__file__}, not from {arguments.tree}")
    if arguments.replay:
        case = Case.from_json(arguments.replay.read_text())
        print(f"no finding: {make_targets(case.target == fast.NAME).check(case)}")
        return 0
    targets = make_targets(arguments.fast)
    if arguments.crashed is not None:
        case, report = targets.make(arguments.seed, arguments.crashed), arguments.report.read_text()
        print("finding", write_finding(arguments.findings, arguments.seed, arguments.crashed, case, report))
        return 0
    session = Session(targets, arguments.seed, arguments.findings, arguments.progress)
    session.run(arguments.start, arguments.start + arguments.iterations, arguments.seconds)
    session.write_summary(arguments.summary)
    return 0


def make_targets(is_fast: bool) -> Targets | fast.FastTargets:
    return fast.FastTargets(all_seeds()) if is_fast else Targets(all_seeds())


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--seed", type=int)
    for name in ("start", "iterations", "crashed"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--seconds", type=float)
    for name in ("findings", "progress", "summary", "report", "tree", "replay"):
        parser.add_argument(f"--{name}", type=Path)
    return parser.parse_args()


class Session:
    """Cases by number, checked until time or numbers end."""

    def __init__(self, targets: Targets | fast.FastTargets, seed: int, findings: Path, progress: Path) -> None:
        self._targets = targets
        self._seed = seed
        self._findings = findings
        self._progress = open_progress(progress)
        self._cases_at_once = CASES_AT_ONCE if isinstance(targets, fast.FastTargets) else 1
        self._inputs = 0
        self._rows = 0
        self._errors: Counter[str] = Counter()
        self._found: Counter[str] = Counter()

    def run(self, start: int, stop: int, seconds: float) -> None:
        allow(SECONDS_FOR_ONE)
        end = time.monotonic() + seconds
        for number in range(start, stop):
            if time.monotonic() > end or sum(self._found.values()) >= MOST_FINDINGS:
                return
            self._progress[:PROGRESS_SIZE] = struct.pack("<q", number)
            if number % self._cases_at_once == 0:
                allow(SECONDS_FOR_ONE)
            self._check(number)
            self._inputs += 1
        allow(0)

    def _check(self, number: int) -> None:
        case = self._targets.make(self._seed, number)
        try:
            outcome = self._targets.check(case)
        except Exception as error:
            kind = f"{case.target}: {type(error).__name__}: {str(error)[:40]}"
            self._found[kind] += 1
            if self._found[kind] <= 3:
                path = write_finding(self._findings, self._seed, number, case, traceback.format_exc())
                print(f"finding {path}: {case.target}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            return
        self._rows += outcome.rows
        self._errors.update(f"{case.target} {name}" for name in outcome.errors)

    def write_summary(self, path: Path) -> None:
        allow(0)
        found = {
            "inputs": self._inputs,
            "rows": self._rows,
            "findings": sum(self._found.values()),
            "errors": self._errors,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        }
        path.write_text(json.dumps(found))


def allow(seconds: int) -> None:
    """End this process after so much more work, or after a long wait; with 0 never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(WAITING * seconds)


def open_progress(path: Path) -> mmap.mmap:
    """The number of the case at work, in a file that outlives a crash."""
    with path.open("w+b") as file:
        file.write(bytes(PROGRESS_SIZE))
        file.flush()
        return mmap.mmap(file.fileno(), PROGRESS_SIZE)


def write_finding(folder: Path, seed: int, number: int, case: Case, report: str) -> Path:
    """Keep a case and what it led to, with the way to see it again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.target}-{seed}-{number}.json"
    replay = f"python -m tests.fuzz.run --replay {path}"
    content = {"replay": replay, "seed": seed, "number": number, **case.to_json(), "report": report.splitlines()}
    path.write_text(json.dumps(content, indent=1))
    return path


if __name__ == "__main__":
    sys.exit(main())
