"""What brokers of all versions wrote, streamed in small micro-batches, is what one read gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kafkalog_source
from kafkalog_source import KafkaLogError
from tests.data.cases import CASES
from tests.unit.streaming.streaming import Query

FixtureCase = Callable[[str], Path]

SOUND = [name for name in CASES if name != "corrupt"]


def log_dirs(case: Path) -> list[Path]:
    return sorted((case / "log").glob("disk*")) or [case / "log"]


def stream(path: Path, options: dict[str, Any]) -> list[tuple[str, int, int]]:
    batches = Query(path, options).to_end()
    return sorted(row for rows in batches for row in rows)


@pytest.mark.parametrize(
    "options",
    [
        {"isolationLevel": "read_uncommitted", "maxOffsetsPerTrigger": 37},
        {"isolationLevel": "read_committed", "maxBytesPerTrigger": 2000},
    ],
    ids=["by-offsets", "by-bytes-committed"],
)
@pytest.mark.parametrize("case", SOUND)
def test_the_rows_are_the_same(case: str, options: dict[str, Any], fixture_case: FixtureCase) -> None:
    if "0.7" in case:
        # There offsets are positions, and 37 of them would make thousands of micro-batches.
        options = {"maxBytesPerTrigger": 20_000}
    options = options | {"failOnDataLoss": False}
    for path in log_dirs(fixture_case(case)):
        try:
            read = kafkalog_source.scan(path, columns=["topic", "partition", "offset"], **options).to_table()
        except KafkaLogError as error:
            with pytest.raises(type(error)):
                stream(path, options)
            continue
        rows = sorted(tuple(row.values()) for row in read.to_pylist() if row["topic"] is not None)
        assert stream(path, options) == rows
