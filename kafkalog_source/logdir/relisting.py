"""Lists the same paths repeatedly, as a stream does, at little cost where nothing changed.

A directory's modification time changes when a file in it is created, renamed or removed, and not when one grows.
So a partition directory with an unchanged modification time has the same segments, of which the last may have grown.
Two changes may fall into one tick of a file system's clock; a modification time is therefore trusted only if it was
some seconds old when the directory was listed, and no listing is kept for longer than a minute.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.logdir.access import Root, status
from kafkalog_source.logdir.listing import list_logs
from kafkalog_source.logdir.model import Listing, SegmentFile
from kafkalog_source.logdir.names import CHECKPOINT_NAMES, parse_partition
from kafkalog_source.logdir.partition_dir import PartitionContents, list_partition

__all__ = ["Relisting"]

_TICK_NS = 3 * 10**9
_KEPT_NS = 60 * 10**9
_Identities = tuple[tuple[int, int] | None, ...]


@dataclass(slots=True)
class _Known:
    """A partition directory as it was last listed."""

    contents: PartitionContents
    identity: tuple[int, int]
    listed_ns: int
    least: int

    def fits(self, identity: tuple[int, int] | None, least: int, now_ns: int) -> bool:
        """Whether listing from offset `least` on would give the same, apart from the last segment's size."""
        return (
            self.least <= least
            and self.identity == identity
            and self.identity[0] < self.listed_ns - _TICK_NS
            and self.listed_ns <= now_ns < self.listed_ns + _KEPT_NS
        )


@dataclass(slots=True)
class _Last:
    """The last listing, and the identities of the directories and checkpoints before it."""

    listing: Listing
    identities: _Identities
    listed_ns: int

    def fits(self, identities: _Identities, now_ns: int) -> bool:
        """Whether modification times and inodes show no change since the listing."""
        return (
            identities == self.identities
            and all(each is None or each[0] < self.listed_ns - _TICK_NS for each in identities)
            and self.listed_ns <= now_ns < self.listed_ns + _KEPT_NS
        )


@dataclass(slots=True)
class Relisting:
    """Lists some paths repeatedly, reusing what has not changed.

    Parameters
    ----------
    paths, wanted, follow_symlinks
        As for `list_logs`.
    """

    paths: Sequence[str]
    wanted: Callable[[str, int], bool]
    follow_symlinks: bool = False
    _known: dict[str, _Known] = field(default_factory=dict, init=False)
    _last: _Last | None = field(default=None, init=False)

    def list(self, least: Mapping[tuple[str, int], int]) -> Listing:
        """List the paths as they are now.

        Parameters
        ----------
        least : mapping
            First offset needed, by topic and partition: segments that end below it are left out. Partitions that are
            not in the mapping are listed whole.
        """
        now_ns = time.time_ns()
        unchanged = None if self._last is None else self._unchanged(self._last, least, now_ns)
        if unchanged is not None:
            return unchanged
        listed: dict[str, _Known] = {}

        def list_one(
            path: str,
            root: Root,
            next_offset: Callable[[str], int],
            on_bad: Callable[[KafkaLogError], None] | None,
        ) -> PartitionContents:
            name = parse_partition(os.path.basename(path))
            first = 0 if name is None else least.get((name.topic, name.partition), 0)
            known = listed[path] = self._list_one(path, root, next_offset, on_bad, first)
            return known.contents

        identities = _identities(self.paths)
        listing = list_logs(self.paths, wanted=self.wanted, follow_symlinks=self.follow_symlinks, list_one=list_one)
        # Replaced and not updated, so that directories that no longer exist are dropped.
        self._known = listed
        self._last = _Last(listing, identities, now_ns) if identities else None
        return listing

    def _unchanged(self, last: _Last, least: Mapping[tuple[str, int], int], now_ns: int) -> Listing | None:
        """The last listing with current sizes, if no directory changed since; None otherwise."""
        if not last.fits(_identities(self.paths), now_ns):
            return None
        partitions = []
        for log in last.listing.partitions:
            known = self._known.get(log.path)
            first = least.get((log.topic, log.partition), 0)  # type: ignore[arg-type]
            if known is None or not known.fits(_identity(log.path), first, now_ns) or not _update_last(known.contents):
                return None
            segments = known.contents.segments
            partitions.append(log if segments is log.segments else replace(log, segments=segments))
        last.listing = replace(last.listing, partitions=tuple(partitions))
        return last.listing

    def _list_one(
        self,
        path: str,
        root: Root,
        next_offset: Callable[[str], int],
        on_bad: Callable[[KafkaLogError], None] | None,
        least: int,
    ) -> _Known:
        found, now_ns = status(path), time.time_ns()
        identity = found.st_mtime_ns, found.st_ino
        known = self._known.get(path)
        if known is not None and known.fits(identity, least, now_ns) and _update_last(known.contents):
            return known
        contents = list_partition(path, root, next_offset, on_bad, least)
        return _Known(contents, identity, now_ns, least)


def _identities(paths: Sequence[str]) -> _Identities:
    """Modification times and inodes of the paths, and of the checkpoints in them and in their parent directories.

    Empty if a path is a glob, whose matches may change in any directory.
    """
    if any(glob.has_magic(path) for path in paths):
        return ()
    directories = dict.fromkeys(each for path in paths for each in (path, os.path.dirname(os.path.abspath(path))))
    files = [os.path.join(each, name) for each in directories for name in sorted(CHECKPOINT_NAMES)]
    return tuple(_identity(each) for each in (*paths, *files))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _update_last(contents: PartitionContents) -> bool:
    """Update the last segment's size; False if it is no longer the file that was listed."""
    if not contents.segments:
        return True
    last = contents.segments[-1]
    try:
        found = os.stat(last.path)
    except OSError:
        return False
    if found.st_ino != last.inode:
        return False
    if (found.st_size, found.st_mtime_ns) != (last.size, last.mtime_ns):
        grown: SegmentFile = replace(last, size=found.st_size, mtime_ns=found.st_mtime_ns)
        contents.segments = (*contents.segments[:-1], grown)
    return True
