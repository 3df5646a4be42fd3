"""The data source through Spark Connect: its client plans nothing itself, and its server runs in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source import scan
from tests.conftest import REGISTRATION

DRIVER = Path(__file__).with_name("connect_driver.py")

# A JVM of its own and six jobs: more than half a minute on a busy machine.
pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]


def test_connect_reads_what_a_scan_reads(tmp_path: Path, fixture_case: Callable[[str], Path]) -> None:
    for module in ("grpc", "grpc_status", "google.rpc", "pandas"):
        pytest.importorskip(module, reason="pip install 'kafkalog[test]' brings what a client of Spark Connect needs")
    partition = fixture_case("v2-4.4") / "log/v2-none-0"
    paths = filter(None, [str(REGISTRATION), os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(DRIVER), str(partition), str(tmp_path / "checkpoint")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("{")]
    found = json.loads(line)
    rows = scan(partition, columns=["offset"]).to_table()["offset"].to_pylist()
    assert found["session"].startswith("pyspark.sql.connect")
    assert "headers" in found["columns"]
    assert found["load"] == found["view"] == found["stream"] == rows
    assert found["options"] == [offset for offset in rows if 300 <= offset < 305]
    assert found["schema"] == ["OFFSET", "value"]
