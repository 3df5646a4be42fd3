"""One reading in a process of its own: its outcome, the peak of its memory over what it had before, and its time.

``python -m tests.hostile.measured`` takes a JSON array on its standard input and writes one to its standard output.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import kafkalog_source
from kafkalog_source.errors import KafkaLogError
from kafkalog_source.verifying import verify

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
_TIMEOUT_S = 1800
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Reading:
    """What became of one reading.

    Attributes
    ----------
    error : str or None
        The name of the exception's class.
    message : str
    rows : int
    damage : int
        Damaged regions in the report, or findings.
    peak_mib : float
        The largest resident memory minus that before.
    seconds : float
        Of the processor, in this process.
    """

    error: str | None
    message: str
    rows: int
    damage: int
    peak_mib: float
    seconds: float

    def __str__(self) -> str:
        outcome = self.error or f"{self.rows} rows, {self.damage} damaged"
        return f"{outcome}, {self.peak_mib:.0f} MiB, {self.seconds:.2f} s {self.message[:100]}"


def measure(readings: Sequence[dict[str, Any]]) -> list[Reading]:
    """Read in a fresh process once for each set of options, among them the path, one after another.

    ``verify`` asks for a check in place of a scan.
    """
    command = [sys.executable, "-m", "tests.hostile.measured"]
    given = json.dumps(list(readings), default=str)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, input=given, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise AssertionError(f"the reading ended with {done.returncode}: {done.stderr[-3000:]}")
    return [Reading(**each) for each in json.loads(done.stdout)]


def main() -> int:
    given = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    _warm_up()
    json.dump([_read(options.pop("path"), options) for options in given], sys.stdout)
    return 0


def _warm_up() -> None:
    """Have all modules imported that a reading imports."""
    # The first array imports pandas, where it is installed, which takes more memory than most readings.
    pa.array([None])
    try:
        kafkalog_source.scan(str(ROOT / "nothing is here")).to_table()
    except KafkaLogError:
        return


def _read(path: str, options: dict[str, Any]) -> dict[str, Any]:
    before = _reset_peak()
    begun = time.process_time()
    error, message, rows, damage = None, "", 0, 0
    try:
        rows, damage = _verify(path, options) if options.pop("verify", False) else _scan(path, options)
    except KafkaLogError as raised:
        error, message = type(raised).__name__, str(raised)
    seconds = time.process_time() - begun
    peak = (_kib("VmHWM") - before) / 1024
    return {"error": error, "message": message, "rows": rows, "damage": damage, "peak_mib": peak, "seconds": seconds}


def _scan(path: str, options: dict[str, Any]) -> tuple[int, int]:
    threads = options.pop("threads", 1)
    scan = kafkalog_source.scan(path, threads=threads, **options)
    rows = sum(batch.num_rows for batch in scan.to_reader())
    return rows, len(scan.report()["damage"])


def _verify(path: str, options: dict[str, Any]) -> tuple[int, int]:
    cap = int(options.get("maxDecompressedBatchBytes", 256 * MIB))
    found = verify([path], threads=1, largest_batch=cap)
    return sum(each.records for each in found.partitions), len(found.all_findings)


def _reset_peak() -> int:
    """Forget the peak so far; the resident memory now, in KiB."""
    Path("/proc/self/clear_refs").write_text("5")
    return _kib("VmRSS")


def _kib(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
