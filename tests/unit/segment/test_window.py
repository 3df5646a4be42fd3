"""The part of a file that is in memory moves along, and is no larger than it has to be for long."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkalog_source._core.memory import Scratch
from kafkalog_source.errors import DataLossError
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.window import Window

MIB = 1 << 20
CONTENT = random.Random(1).randbytes(64 * MIB)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalFile]:
    path = tmp_path_factory.mktemp("window") / "f"
    path.write_bytes(CONTENT)
    with LocalFile(str(path)) as opened:
        yield opened


def held(window: Window) -> bytes:
    return bytes(window.memory.view(0, window.size))


@pytest.mark.parametrize("seed", range(10))
def test_it_holds_what_it_was_told_to(source: LocalFile, seed: int) -> None:
    chance = random.Random(seed)
    window = Window(source, Scratch(), len(CONTENT))
    position = 0
    while position < len(CONTENT):
        want = chance.choice([1, 5000, 3 * MIB, 20 * MIB, 40 * MIB])
        window.fill(position, want)
        assert (window.position, window.size) == (position, min(want, len(CONTENT) - position))
        assert held(window) == CONTENT[position : position + want]
        position += chance.choice([0, 1, window.size // 2, window.size])


def test_what_a_large_batch_needed_is_given_back(source: LocalFile) -> None:
    window = Window(source, Scratch(), len(CONTENT))
    window.fill(0, 48 * MIB)
    window.fill(47 * MIB, 4 * MIB)
    assert held(window) == CONTENT[47 * MIB : 51 * MIB]
    assert window.memory.capacity == 8 * MIB


def test_a_file_that_has_become_shorter_is_told(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(bytes(50))
    with LocalFile(str(path)) as source:
        window = Window(source, Scratch(), 100)
        with pytest.raises(DataLossError) as caught:
            window.fill(10, 80)
    assert caught.value.position == 50
