"""An environment with a Spark that Delta, Iceberg and Avro all know, and their jars."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.environment_archive import make_environment

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "build" / "tables-environment"
# Delta 4.1.0 reads its own checkpoints, one for every ten commits, with this release of Spark alone: in later ones of
# 4.1 a method that it calls is another. The second is what the builders of segments check their checksums with.
PACKAGES = ("pyspark==4.1.0", "crcmod>=1.7")
JARS = {
    "delta": ("io.delta:delta-spark_4.1_2.13:4.1.0", "io.delta:delta-storage:4.1.0"),
    "iceberg": ("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",),
    "avro": ("org.apache.spark:spark-avro_2.13:4.1.1",),
}


def jars(package: str) -> str:
    """The jars of a package, with commas between them."""
    return ",".join(str(_jar(artifact)) for artifact in JARS[package])


def _jar(artifact: str) -> Path:
    """The jar in Maven's local repository, without those that it depends on: Spark has them."""
    if shutil.which("mvn") is None:
        pytest.skip("needs Maven (mvn) to get jars")
    command = ["mvn", "-q", "-B", "dependency:get", "-Dtransitive=false", f"-Dartifact={artifact}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{artifact} cannot be had: {done.stdout.strip().splitlines()[:1]}")
    group, name, version = artifact.split(":")
    folder = Path.home() / ".m2" / "repository" / group.replace(".", "/") / name / version
    return folder / f"{name}-{version}.jar"


def tables_python() -> Path:
    """The Python of the environment, which is made once."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "made").exists():
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        make_environment(ENVIRONMENT)
        install = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "--python", python, "install"]
        done = subprocess.run([*install, *PACKAGES], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"{PACKAGES} cannot be had: {done.stderr.strip().splitlines()[-1:]}")
        (ENVIRONMENT / "made").touch()
    return python
