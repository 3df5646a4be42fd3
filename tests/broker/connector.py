"""Spark's Kafka connector, which is no part of pyspark, from Maven Central."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyspark

from tests.broker.broker import UnavailableError

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"
_BESIDE = (
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.1",
    "org.apache.commons:commons-pool2:2.12.0",
)
_CONNECTORS = {"4.0": "4.0.0", "4.2": "4.2.0"}
"""By Spark's version, those that are to be had; what they need beside them is the same."""


def connector_jars() -> list[Path]:
    """The connector for this pyspark and what it needs, fetched one by one and kept in Maven's own store.

    Raises
    ------
    UnavailableError
        There is none, or it cannot be had.
    """
    release = _CONNECTORS.get(".".join(pyspark.__version__.split(".")[:2]))
    if release is None:
        raise UnavailableError(f"no Kafka connector for Spark {pyspark.__version__} is known")
    return [_jar(each) for each in (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{release}", *_BESIDE)]


def _jar(artifact: str) -> Path:
    group, name, version = artifact.split(":")
    jar = Path.home().joinpath(".m2/repository", *group.split("."), name, version, f"{name}-{version}.jar")
    if not jar.exists():
        # What these name as their own dependencies is not all to be had, and not needed.
        command = ["mvn", "-q", "-B", _PLUGIN, f"-Dartifact={artifact}", "-Dtransitive=false"]
        subprocess.run(command, capture_output=True, check=False)
    if not jar.exists():
        raise UnavailableError(f"{artifact} cannot be had")
    return jar
