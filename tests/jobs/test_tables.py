"""Delta, Iceberg and Avro for real, in an environment of their own with a Spark that all three know."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REGISTRATION
from tests.jobs.tables_environment import JARS, ROOT, jars, tables_python

DRIVER = Path(__file__).with_name("tables_driver.py")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tables")]


@pytest.mark.parametrize("package", sorted(JARS))
def test_a_package_does_what_the_jobs_need_of_it(tmp_path: Path, package: str) -> None:
    python = tables_python()
    environment = os.environ | {"PYSPARK_PYTHON": str(python), "SPARK_CONF_DIR": str(ROOT / "conf")}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(REGISTRATION)])
    command = [python, DRIVER, package, jars(package), tmp_path]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    assert done.stdout.endswith("all as expected\n")
