"""A child process that checks one case after another; the parent (`run`) watches it.

It writes the number of the case at work where the parent finds it after a crash, and every finding into the folder of
findings. A case that takes too long ends the process by SIGALRM, from which no Python code can keep it.
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
from tests.fuzz.case import Case
from tests.fuzz.seeds import all_seeds
from tests.fuzz.targets import Targets

SECONDS_FOR_ONE = 20
SECONDS_TO_START = 120
MOST_FINDINGS = 20
PROGRESS_SIZE = 8


def main() -> int:
    arguments = parse_arguments()
    faulthandler.enable()
    faulthandler.register(signal.SIGALRM, chain=True)
    signal.alarm(SECONDS_TO_START)
    if not Path(kafkalog_source.__file__).is_relative_to(arguments.tree):
        raise SystemExit(f"kafkalog_source comes from {kafkalog_source.__file__}, not from {arguments.tree}")
    targets = Targets(all_seeds())
    if arguments.replay:
        outcome = targets.check(Case.from_json(arguments.replay.read_text()))
        print(f"no finding: {outcome}")
        return 0
    if arguments.crashed is not None:
        case, report = targets.make(arguments.seed, arguments.crashed), arguments.report.read_text()
        print("finding", write_finding(arguments.findings, arguments.seed, arguments.crashed, case, report))
        return 0
    session = Session(targets, arguments.seed, arguments.findings, arguments.progress)
    session.run(arguments.start, arguments.start + arguments.iterations, arguments.seconds)
    session.write_summary(arguments.summary)
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    for name in ("start", "iterations", "crashed"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--seconds", type=float)
    for name in ("findings", "progress", "summary", "report", "tree", "replay"):
        parser.add_argument(f"--{name}", type=Path)
    return parser.parse_args()


class Session:
    """Cases by number, checked until time or numbers end."""

    def __init__(self, targets: Targets, seed: int, findings: Path, progress: Path) -> None:
        self._targets = targets
        self._seed = seed
        self._findings = findings
        self._progress = open_progress(progress)
        self._inputs = 0
        self._rows = 0
        self._errors: Counter[str] = Counter()
        self._found: Counter[str] = Counter()

    def run(self, start: int, stop: int, seconds: float) -> None:
        end = time.monotonic() + seconds
        for number in range(start, stop):
            if time.monotonic() > end or sum(self._found.values()) >= MOST_FINDINGS:
                return
            self._progress[:PROGRESS_SIZE] = struct.pack("<q", number)
            signal.alarm(SECONDS_FOR_ONE)
            self._check(number)
            self._inputs += 1
        signal.alarm(0)

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
        signal.alarm(0)
        found = {
            "inputs": self._inputs,
            "rows": self._rows,
            "findings": sum(self._found.values()),
            "errors": self._errors,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        }
        path.write_text(json.dumps(found))


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
