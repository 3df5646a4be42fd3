"""How many files a run writes follows from how large they shall be."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from spark_jobs.log_to_parquet import main
from tests.jobs.growing_log import GrowingLog

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("job_spark")]


def files(tmp_path: Path, *more: str) -> list[Path]:
    output = tmp_path / "out"
    arguments = [str(tmp_path / "logs"), "--output", str(output), "--when-exists", "replace-all", "--show", "0"]
    assert main([*arguments, *more]) == 0
    return sorted(output.rglob("*.parquet"))


def test_files_are_about_as_large_as_they_shall_be(tmp_path: Path) -> None:
    log = GrowingLog(tmp_path / "logs", partitions=4, batch=50, value_size=500)
    log.append(20, days=1)
    size = sum(path.stat().st_size for path in (tmp_path / "logs").rglob("*.log"))
    small = files(tmp_path, "--target-file-bytes", str(size // 8))
    assert 6 <= len(small) <= 12
    # In each file records are in the order that they have in the log.
    for path in small:
        table = pq.ParquetFile(path).read(columns=["partition", "offset"]).to_pydict()
        places = list(zip(table["partition"], table["offset"], strict=True))
        assert places == sorted(places)
    large = files(tmp_path, "--target-file-bytes", str(size * 2))
    assert len(large) == 1
    # Without a size each task writes what it has read, here a segment.
    tasks = files(tmp_path, "--option", "maxPartitionBytes=1", "--option", "minPartitions=4")
    assert len(tasks) >= 4
    bounded = files(tmp_path, "--target-file-bytes", str(size * 2), "--max-records-per-file", "1000")
    assert len(bounded) == 4
