"""Write segments and their indexes to disk."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol


class Entry(Protocol):
    """A batch, message or wrapper."""

    def encode(self) -> bytes: ...

    @property
    def last_offset(self) -> int: ...


def encode(entries: Iterable[Entry]) -> bytes:
    """Return the bytes of a segment."""
    return b"".join(entry.encode() for entry in entries)


def offset_index(points: Sequence[tuple[int, int]], *, base_offset: int = 0) -> bytes:
    """Encode an ``.index`` of (offset, position)."""
    return b"".join(struct.pack(">ii", offset - base_offset, position) for offset, position in points)


def time_index(points: Sequence[tuple[int, int]], *, base_offset: int = 0) -> bytes:
    """Encode a ``.timeindex`` of (timestamp, offset)."""
    return b"".join(struct.pack(">qi", timestamp, offset - base_offset) for timestamp, offset in points)


def partition_dir(root: Path, topic: str = "topic", partition: int = 0) -> Path:
    """Return the directory of a partition; create it if needed."""
    directory = root / f"{topic}-{partition}"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def write_segment(
    directory: Path,
    content: bytes | Iterable[Entry],
    *,
    base_offset: int = 0,
    index: bytes | None = None,
    timeindex: bytes | None = None,
) -> Path:
    """Write a segment and any given indexes, and return the path of the ``.log``."""
    data = content if isinstance(content, bytes) else encode(content)
    log = directory / f"{base_offset:020d}.log"
    log.write_bytes(data)
    for suffix, side in ((".index", index), (".timeindex", timeindex)):
        if side is not None:
            log.with_suffix(suffix).write_bytes(side)
    return log
