"""What the figures were measured on: the machine, and the version of everything that took part."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from tests.bench.segments import JAVA_SOURCES

PACKAGES = ("kafkalog", "pyarrow", "pyspark", "aiokafka", "kafka-python")


def load() -> float:
    """How many processes ran or waited in the last minute."""
    return os.getloadavg()[0]


def facts(command: str, load_before: float) -> list[str]:
    """The lines that stand above the figures."""
    cores, memory = len(os.sched_getaffinity(0)), _memory_gib()
    versions = [f"{platform.python_implementation()} {platform.python_version()}"]
    versions += [f"{name} {_version(name)}" for name in PACKAGES]
    versions += [_java_version(), f"Kafka's Java reader {_kafka_version()}"]
    return [
        f"Command: `{command}`",
        f"Machine: {cores} cores, {_cpu_model()}, {memory} GiB, load before the run {load_before:.1f}",
        "Versions: " + ", ".join(versions),
    ]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cpu_model() -> str:
    match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1] if match else platform.machine()


def _memory_gib() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30))


def _java_version() -> str:
    if shutil.which("java") is None:
        return "no Java"
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "([^"]+)"', done.stderr)
    return f"Java {match[1] if match else 'of unknown version'}"


def _kafka_version() -> str:
    match = re.search(r"<kafka.version>(.+)</kafka.version>", (JAVA_SOURCES / "pom.xml").read_text())
    return match[1] if match else "of unknown version"
