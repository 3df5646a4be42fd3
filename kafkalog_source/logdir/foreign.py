"""Files that lie among Kafka's and are none of its own: compressed segments, archives and anything else.

A broker passes over them, and so does a read; but a compressed segment holds records, so that it is named.
"""

from __future__ import annotations

import bisect
import os
import re
from dataclasses import dataclass, field

from kafkalog_source.errors import printable
from kafkalog_source.logdir.model import PackedSegments, Skipped
from kafkalog_source.logdir.names import (
    CHECKPOINT_NAMES,
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    parse_log_file,
)

__all__ = ["ForeignFiles", "Packing", "is_kafkas", "packed_text", "packing_of", "unpacking_remedy"]

_MOST_NAMED = 20
_OWN = CHECKPOINT_NAMES | {
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    "quorum-state",
    "remote_log_snapshot",
    "meta.properties",
    ".kafka_cleanshutdown",
    ".lock",
}
_METADATA_SNAPSHOT = re.compile(r"[0-9]{20}-[0-9]{10}[0-9-]*\.checkpoint(?:\.part|\.deleted)?")
_UNPACKERS = {
    ".gz": "gzip -d",
    ".zst": "zstd -d",
    ".lz4": "lz4 -d",
    ".xz": "xz -d",
    ".bz2": "bzip2 -d",
    ".zip": "unzip",
    ".tar": "tar -xf",
    ".tgz": "tar -xf",
    ".tzst": "tar -xf",
    ".txz": "tar -xf",
    ".tbz2": "tar -xf",
}
_ARCHIVERS = frozenset({"unzip", "tar -xf"})


@dataclass(frozen=True, slots=True)
class Packing:
    """What the name of a compressed file or an archive says.

    Attributes
    ----------
    stem : str
        The name without what packing added to it.
    unpacker : str
        The command that unpacks it.
    """

    stem: str
    unpacker: str

    @property
    def is_archive(self) -> bool:
        """Whether it may hold several files, whose names nothing tells."""
        return self.unpacker in _ARCHIVERS

    @property
    def reason(self) -> str:
        """Why such a file is not read, and what to do."""
        what = "an archive" if self.is_archive else "a compressed file"
        return f"{what}, which is not read: unpack it first ({self.unpacker})"


def packing_of(name: str) -> Packing | None:
    """Read a file's name as that of a compressed file or an archive; None for any other."""
    stem, suffix = os.path.splitext(name)
    unpacker = _UNPACKERS.get(suffix.lower())
    if unpacker is None:
        return None
    if stem.lower().endswith(".tar"):
        return Packing(stem[:-4], "tar -xf")
    return Packing(stem, unpacker)


def unpacking_remedy(packing: Packing) -> str:
    """What to do about a file that has to be unpacked before it is read."""
    return f"Unpack it first, in a copy of the directory ({packing.unpacker})"


def is_kafkas(name: str) -> bool:
    """Whether a broker writes a file of this name into a partition directory, segments and indexes aside."""
    name = name.removesuffix(".tmp")
    return name in _OWN or _METADATA_SNAPSHOT.fullmatch(name) is not None


@dataclass(slots=True)
class ForeignFiles:
    """Files of one directory that are no broker's: all are counted, and of many the first by name are kept."""

    directory: str
    _packed: list[str] = field(default_factory=list)
    _others: list[str] = field(default_factory=list)
    _counts: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    _segments: dict[int, str] = field(default_factory=dict)
    _archive: str | None = None

    def add(self, name: str) -> None:
        """Take up a file's name."""
        packing = packing_of(name)
        self._counts[packing is not None] += 1
        kept = self._others if packing is None else self._packed
        bisect.insort(kept, name)
        del kept[_MOST_NAMED:]
        if packing is None:
            return
        segment = parse_log_file(packing.stem)
        if segment is not None and segment.is_segment and segment.state is None:
            self._segments[segment.base_offset] = name
        elif packing.is_archive:
            self._archive = min(name, self._archive or name)

    def packed_segments(self, present: frozenset[int], floor: int = 0) -> PackedSegments | None:
        """The compressed segments from base offset `floor` on that are not `present` unpacked too.

        Without any segment an archive counts: nothing but it can hold the partition.
        """
        names = [self._segments[base] for base in sorted(self._segments.keys() - present) if base >= floor]
        if not names and not present and self._archive is not None:
            names = [self._archive]
        if not names:
            return None
        packing = packing_of(names[0])
        unpacker = "" if packing is None else packing.unpacker
        return PackedSegments(os.path.join(self.directory, names[0]), len(names), unpacker)

    def skipped(self) -> list[Skipped]:
        """What to say of them: compressed ones first."""
        found = []
        for kept, is_packed in ((self._packed, True), (self._others, False)):
            for name in kept:
                packing = packing_of(name)
                reason = "no file of Kafka's" if packing is None else packing.reason
                found.append(Skipped(os.path.join(self.directory, name), reason, is_foreign=True))
            left = self._counts[is_packed] - len(kept)
            if left:
                kind = "compressed files and archives" if is_packed else "files that are not Kafka's"
                found.append(Skipped(self.directory, f"{left} more {kind}", is_foreign=True))
        return found


def packed_text(packed: PackedSegments) -> str:
    """Say which compressed segments there are, and what to do about them."""
    first = printable(os.path.basename(packed.first))
    which = first if packed.count == 1 else f"{packed.count} compressed segments, of which the first is {first},"
    verb = "is" if packed.count == 1 else "are"
    return f"{which} {verb} not read: unpack {'it' if packed.count == 1 else 'them'} first ({packed.unpacker})"
