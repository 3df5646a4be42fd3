"""The state of a cluster at each point of its metadata log is what Kafka's own classes make of the same records."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkalog_source.answers.cluster_image import ClusterImage, MetadataRecord
from kafkalog_source.answers.metadata_log import read_cluster
from kafkalog_source.answers.metadata_start import Point
from tests.broker.broker import HERE, NO_LOG

pytestmark = pytest.mark.broker
CASES = {"broker-3.9.1": 14, "groups-4.4": 26, "kraft-metadata-4.4": 119, "names-4.4": 42, "txn-4.4": 22}
"""How many images are compared."""


MADE = 72
"""How many records of MadeMetadata.java have a state that is compared."""


def java(jars: str, program: str, directory: Path) -> str:
    """What a Java program prints."""
    command = ["java", NO_LOG, "-cp", jars, str(HERE / program), str(directory)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def images(printed: str) -> Iterator[tuple[int, ClusterImage]]:
    """The last offset of each image that Images.java prints, and what its records make."""
    for block in printed.split("image\t")[1:]:
        head, *lines = block.splitlines()
        image = ClusterImage()
        for at, line in enumerate(lines):
            _, kind, _, text = line.split("\t")
            image.apply(MetadataRecord(at, kind, json.loads(text)))
        yield int(head.split("\t")[2]), image


def comparable(image: ClusterImage) -> dict[str, Any]:
    """Without what only control records have, which are no part of Kafka's image."""
    assert image.problems == []
    return {name: value for name, value in image.to_json().items() if name not in ("kraftVersion", "voters")}


def compare(jars: str, directory: Path) -> int:
    """Compare the states after all records that may change it; gives how many."""
    compared = 0
    for last, wanted in images(java(jars, "Images.java", directory)):
        if last >= 0:
            found = read_cluster([str(directory)], {"includeSecrets": "true"}, Point(offset=last))
            assert comparable(found.image) == comparable(wanted), last
            compared += 1
    return compared


@pytest.mark.parametrize("case", CASES)
def test_every_image_is_kafkas(case: str, jars: str, fixture_case: Callable[[str], Path]) -> None:
    (directory,) = (fixture_case(case) / "log").rglob("__cluster_metadata-0")
    assert compare(jars, directory) == CASES[case]


def test_every_image_of_records_that_were_made_is_kafkas(jars: str, tmp_path: Path) -> None:
    directory = tmp_path / "__cluster_metadata-0"
    directory.mkdir()
    java(jars, "MadeMetadata.java", directory)
    assert compare(jars, directory) == MADE
