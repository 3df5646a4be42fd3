"""Files in a partition directory that are not Kafka's: compressed segments, archives and anything else.

A broker ignores them, and so does a read; but a compressed segment holds records, so that it is reported.
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
    CLEAN_SHUTDOWN,
    LEADER_EPOCH_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    QUORUM_STATE,
    parse_log_file,
)

__all__ = ["ForeignFiles", "Packing", "is_kafkas", "packed_text", "packing_of", "unpacking_remedy"]

_MOST_NAMED = 20
_OWN = CHECKPOINT_NAMES | {
    LEADER_EPOCH_CHECKPOINT,
    PARTITION_METADATA,
    QUORUM_STATE,
    "remote_log_snapshot",
    META_PROPERTIES,
    CLEAN_SHUTDOWN,
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
    """The parts of the name of a compressed file or an archive.

    Attributes
    ----------
    stem : str
        The name without the suffix of the compressor or archiver.
    unpacker : str
        The command that unpacks it.
    """

    stem: str
    unpacker: str

    @property
    def is_archive(self) -> bool:
        """Whether it may hold several files, whose names are unknown."""
        return self.unpacker in _ARCHIVERS

    @property
    def reason(self) -> str:
        """Why such a file is not read, and how to unpack it."""
        what = "an archive" if self.is_archive else "a compressed file"
        return f"{what}, which is not read: unpack it first ({self.unpacker})"


def packing_of(name: str) -> Packing | None:
    """Parse the name of a compressed file or an archive; None for any other name."""
    stem, suffix = os.path.splitext(name)
    unpacker = _UNPACKERS.get(suffix.lower())
    if unpacker is None:
        return None
    if stem.lower().endswith(".tar"):
        return Packing(stem[:-4], "tar -xf")
    return Packing(stem, unpacker)


def unpacking_remedy(packing: Packing) -> str:
    """The remedy for a file that has to be unpacked before it can be read."""
    return f"Unpack it first, in a copy of the directory ({packing.unpacker})"


def is_kafkas(name: str) -> bool:
    """Whether a broker writes a file of this name, other than segments and their side files."""
    name = name.removesuffix(".tmp")
    return name in _OWN or _METADATA_SNAPSHOT.fullmatch(name) is not None


@dataclass(slots=True)
class ForeignFiles:
    """Files of one directory that are not Kafka's: all are counted, and the first by name are kept."""

    directory: str
    _packed: list[str] = field(default_factory=list)
    _others: list[str] = field(default_factory=list)
    _counts: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    _segments: dict[int, str] = field(default_factory=dict)
    _archive: str | None = None

    def add(self, name: str) -> None:
        """Add a file by name."""
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
        """The compressed segments from base offset `floor` on that are not `present` in unpacked form.

        If there is no segment at all, an archive is returned, since only it can hold the partition.
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
        """The files with reasons, compressed ones first; those beyond the kept ones only as a number."""
        found = []
        for kept, is_packed in ((self._packed, True), (self._others, False)):
            for name in kept:
                packing = packing_of(name)
                reason = "not one of Kafka's files" if packing is None else packing.reason
                found.append(Skipped(os.path.join(self.directory, name), reason, is_foreign=True))
            left = self._counts[is_packed] - len(kept)
            if left:
                kind = "compressed files and archives" if is_packed else "files that are not Kafka's"
                found.append(Skipped(self.directory, f"{left} more {kind}", is_foreign=True))
        return found


def packed_text(packed: PackedSegments) -> str:
    """Report which segments are compressed, and how to unpack them."""
    first = printable(os.path.basename(packed.first))
    which = first if packed.count == 1 else f"{packed.count} compressed segments, of which the first is {first},"
    verb = "is" if packed.count == 1 else "are"
    return f"{which} {verb} not read: unpack {'it' if packed.count == 1 else 'them'} first ({packed.unpacker})"
