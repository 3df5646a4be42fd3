"""Directories as a broker lays them out, made of empty files unless a test gives bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkalog_source.logdir import Listing, list_logs

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Make files by their paths below the test's directory."""

    def make(*names: str, content: bytes = b"") -> Path:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return tmp_path / names[-1]

    return make


def log(offset: int) -> str:
    """Name a segment."""
    return f"{offset:020d}.log"


def listed(*paths: object, wanted: Callable[[str, int], bool] | None = None, follow: bool = False) -> Listing:
    """List, wanting everything unless told otherwise."""
    return list_logs(
        [str(path) for path in paths],
        wanted=wanted or (lambda topic, partition: True),
        follow_symlinks=follow,
    )


def places(listing: Listing) -> list[tuple[str | None, int | None]]:
    """Give topic and partition of all that was found."""
    return [(found.topic, found.partition) for found in listing.partitions]


def batch_v2(base: int, last: int, payload: int = 7) -> bytes:
    """Make a v2 batch whose header says which offsets it spans; its payload is zeros."""
    header = struct.pack(">qiibIhiqqqhii", base, 49 + payload, 0, 2, 0, 0, last - base, 0, 0, -1, -1, -1, 1)
    return header + bytes(payload)


def entry_v1(offset: int, size: int = 30) -> bytes:
    """Make a v1 entry, whose offset is that of its last message."""
    return struct.pack(">qiIb", offset, size, 0, 1) + bytes(size - 5)
