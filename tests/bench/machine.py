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


def facts(command: str) -> list[str]:
    """The lines that stand above the figures."""
    packages = [f"{name} {_version(name)}" for name in PACKAGES]
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return [
        f"Command: `{command}`",
        f"Machine: {len(os.sched_getaffinity(0))} cores, {_cpu_model()}, {_memory_gib()} GiB",
        ", ".join(
            [f"Versions: {python}", *packages, _java_version(), f"Kafka's Java reader {_kafka_version()}"]
        ),
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
