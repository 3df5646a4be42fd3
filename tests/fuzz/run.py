"""``python -m tests.fuzz.run``: mutated input against kafkalog, its compiled core under ASan and UBSan.

Whatever the bytes are, there have to be rows or one of kafkalog's own errors, the same ones however the bytes are
read. A finding is kept as a file that holds the input and says how to see it again. The inputs are mutated blindly;
`tests.fuzz.guided` follows the core's branches instead. Needed: gcc. Exit status: 0 nothing found, 1 a finding.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz import sanitized

MOST_CRASHES = 5
FOREVER = 1 << 62


@dataclass
class Total:
    """The sum over the children of a run; there is one more after each crash."""

    inputs: int = 0
    rows: int = 0
    findings: int = 0
    crashes: int = 0
    peak_mib: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, summary: dict[str, object]) -> None:
        self.inputs += int(summary["inputs"])  # type: ignore[call-overload]
        self.rows += int(summary["rows"])  # type: ignore[call-overload]
        self.findings += int(summary["findings"])  # type: ignore[call-overload]
        self.peak_mib = max(self.peak_mib, int(summary["peak_mib"]))  # type: ignore[call-overload]
        self.errors.update(summary["errors"])  # type: ignore[arg-type]


def main(given: list[str] | None = None) -> int:
    arguments = parse_arguments(given)
    tree = sanitized.ROOT if arguments.no_sanitizers else sanitized.build()
    runner = Runner(arguments, tree, {} if arguments.no_sanitizers else _sanitizers(arguments))
    if arguments.replay:
        return runner.child("--replay", str(arguments.replay)).returncode
    start = time.monotonic()
    total = runner.run()
    _print_total(arguments, total, time.monotonic() - start)
    return 1 if total.findings or total.crashes else 0


def _sanitizers(arguments: argparse.Namespace) -> dict[str, str]:
    return sanitized.environment(sanitized.runtimes(), fast=arguments.fast)


def parse_arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=(__doc__ or "").replace("`", ""))
    parser.add_argument("--seconds", type=float, help="how long to go on (60, or without end if --iterations is given)")
    parser.add_argument("--iterations", type=int, help="how many inputs at most")
    parser.add_argument("--seed", type=int, help="of the inputs (by default another one each time)")
    parser.add_argument("--start", type=int, default=0, help="number of the first input (0)")
    parser.add_argument("--keep", type=Path, default=sanitized.BUILD / "findings", help="folder for findings")
    parser.add_argument("--no-sanitizers", action="store_true", help="test the core as it is installed")
    parser.add_argument("--fast", action="store_true", help="many small inputs, straight into the core and no further")
    parser.add_argument("--replay", type=Path, help="check the input of a finding once more, and nothing else")
    arguments = parser.parse_args(given)
    if arguments.seed is None:
        arguments.seed = secrets.randbelow(1 << 31)
    if arguments.seconds is None:
        arguments.seconds = 60.0 if arguments.iterations is None else FOREVER
    arguments.iterations = arguments.iterations or FOREVER
    return arguments


class Runner:
    """Starts children until time or inputs end, and writes down what made one crash."""

    def __init__(self, arguments: argparse.Namespace, tree: Path, environment: dict[str, str]) -> None:
        self._arguments = arguments
        self._mode = ("--fast",) if arguments.fast else ()
        self._tree = tree
        path = os.pathsep.join(dict.fromkeys([str(tree), str(sanitized.ROOT)]))
        self._environment = {**os.environ, **environment, "PYTHONPATH": path}

    def run(self) -> Total:
        arguments, total = self._arguments, Total()
        end = time.monotonic() + arguments.seconds
        number, last = arguments.start, arguments.start + arguments.iterations
        with tempfile.TemporaryDirectory() as scratch:
            while number < last and total.crashes < MOST_CRASHES:
                seconds = max(0.0, end - time.monotonic())
                child = self._session(Path(scratch), number, last - number, seconds)
                summary = Path(scratch, "summary")
                if child.returncode == 0:
                    total.add(json.loads(summary.read_text()))
                    break
                progress = Path(scratch, "progress")
                if not progress.exists():
                    raise SystemExit(f"the child did not get as far as the first input:\n{child.stderr}")
                crashed_at: int = struct.unpack("<q", progress.read_bytes())[0]
                self._keep_crash(crashed_at, child, Path(scratch, "report"))
                total.crashes += 1
                total.inputs += crashed_at - number
                number = crashed_at + 1
        return total

    def child(self, *more: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a child to its end. -P keeps the source tree from coming before the one that was built."""
        command = [sys.executable, "-P", "-m", "tests.fuzz.session", "--tree", str(self._tree), *more]
        stderr = subprocess.PIPE if capture else None
        return subprocess.run(command, env=self._environment, cwd=sanitized.ROOT, stderr=stderr, text=True, check=False)

    def _session(self, scratch: Path, start: int, iterations: int, seconds: float) -> subprocess.CompletedProcess[str]:
        numbers = {"seed": self._arguments.seed, "start": start, "iterations": iterations, "seconds": seconds}
        places = {"findings": self._arguments.keep, "progress": scratch / "progress", "summary": scratch / "summary"}
        given = [str(word) for name, value in {**numbers, **places}.items() for word in (f"--{name}", value)]
        return self.child(*self._mode, *given, capture=True)

    def _keep_crash(self, number: int, child: subprocess.CompletedProcess[str], report: Path) -> None:
        how = signal.Signals(-child.returncode).name if child.returncode < 0 else f"exit code {child.returncode}"
        report.write_text(f"{how}\n{child.stderr}")
        print(f"input {number} ended the process: {how}\n{child.stderr[:3000]}", flush=True)
        seed, findings = str(self._arguments.seed), str(self._arguments.keep)
        self.child(
            *self._mode, "--seed", seed, "--findings", findings, "--crashed", str(number), "--report", str(report)
        )


def _print_total(arguments: argparse.Namespace, total: Total, seconds: float) -> None:
    how = "without sanitizers" if arguments.no_sanitizers else "under ASan and UBSan"
    errors = ", ".join(f"{name} {count}" for name, count in sorted(total.errors.items()))
    print(
        f"fuzz: seed {arguments.seed}, {how}: {total.inputs} inputs in {seconds:.0f} s"
        f" ({total.inputs / seconds:.0f} a second), {total.rows} rows,"
        f" at most {total.peak_mib} MiB, findings: {total.findings}, crashes: {total.crashes}\nerrors: {errors}"
    )
    if total.findings or total.crashes:
        print(f"what was found is in {arguments.keep}")


if __name__ == "__main__":
    sys.exit(main())
