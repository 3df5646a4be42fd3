"""A sound log dir of two segments, and what verify says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkalog_source.verifying import Finding, Severity, Verification, verify
from tests.builders import Batch, Record
from tests.builders.index_files import write_checkpoint, write_indexed, write_partition

TIME = 1_700_000_000_000


def batches(start: int, count: int, *, per_batch: int = 3) -> list[Batch]:
    """Batches of some records each, a second apart."""
    return [
        Batch([Record(value=b"v" * 80)] * per_batch, base_offset=at, base_timestamp=TIME + 1000 * at)
        for at in range(start, start + count * per_batch, per_batch)
    ]


def times(entries: list[Batch]) -> list[int]:
    return [TIME + 1000 * entry.base_offset for entry in entries]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """orders-0 with offsets 0 to 59 in two segments."""
    root = tmp_path / "logs"
    directory = write_partition(root, "orders")
    for start in (0, 30):
        entries = batches(start, 10)
        write_indexed(directory, entries, base_offset=start, times=times(entries))
    write_checkpoint(root / "log-start-offset-checkpoint", {})
    return root


def check(*paths: object, **options: object) -> Verification:
    return verify([str(path) for path in paths], threads=2, **options)  # type: ignore[arg-type]


def only(found: Verification, severity: Severity = Severity.MISLEADING) -> Finding:
    """The one finding there is."""
    assert [finding.severity for finding in found.all_findings] == [severity], [str(f) for f in found.all_findings]
    return found.all_findings[0]
