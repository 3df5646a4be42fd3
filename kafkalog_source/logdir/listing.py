"""From the paths a user gives to the partitions and segments to read.

A path is a broker's log dir, one of its partition directories, one segment, or
a glob of these. What is left out is said in `Listing.skipped`; what would lose
rows if it were left out is an error. Nothing is written and no segment is
opened, save after a crash during compaction.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kafkalog_source.errors import KafkaLogError, LogDirError, printable
from kafkalog_source.logdir.access import Root, entries, file_kind, os_error, status
from kafkalog_source.logdir.crash_states import next_offset
from kafkalog_source.logdir.diagnose import (
    explain_directory,
    explain_file,
    holds_directories,
    holds_log_dirs,
    is_log_dir,
    nested_log_dirs,
)
from kafkalog_source.logdir.foreign import ForeignFiles, packing_of
from kafkalog_source.logdir.globs import GivenPath, expand
from kafkalog_source.logdir.log_dir_state import LogDirState, read_state
from kafkalog_source.logdir.model import Listing, PartitionLog, Skipped
from kafkalog_source.logdir.names import PartitionName, parse_log_file, parse_partition
from kafkalog_source.logdir.partition_dir import PartitionContents, list_partition
from kafkalog_source.logdir.single_segment import single_segment

__all__ = ["PartitionLister", "list_logs", "list_partition_again"]

PartitionLister = Callable[[str, Root, Callable[[str], int], Callable[[KafkaLogError], None] | None], PartitionContents]


def list_logs(
    paths: Sequence[str],
    *,
    wanted: Callable[[str, int], bool],
    follow_symlinks: bool = False,
    on_bad: Callable[[KafkaLogError], None] | None = None,
    list_one: PartitionLister = list_partition,
) -> Listing:
    """List the partitions and segments that some paths hold.

    Parameters
    ----------
    paths : sequence of str
        Log dirs, partition directories, segments, or globs of these.
    wanted : callable
        Asked with topic and partition before a partition directory of a log dir is listed. Not asked
        about what a path names itself, nor about internal topics that a glob names by their ``__``.
    follow_symlinks : bool
        Whether symbolic links may lead out of the paths given, which are themselves always resolved.
    on_bad : callable, optional
        Told of every file and directory within a path that cannot be read or is not what its name says, which is
        then left out. Without it the first one is raised.
    list_one : callable
        Lists a partition directory: `list_partition`, or what remembers the results of that.

    Returns
    -------
    Listing

    Raises
    ------
    LogDirError
        On a path that is missing, unreadable or without partitions, on links that lead out of it, and
        on a partition that is there twice.
    UnsupportedFormatError
        On a file that is no Kafka segment, and on segments of Redpanda.
    """
    if not paths:
        raise LogDirError("no path was given", remedy="Give a log dir, a partition directory or a segment")
    search = _Search(wanted, follow_symlinks, on_bad, list_one)
    for path in paths:
        places = expand(path, follow_symlinks)
        held = [search.visit(given) for given in places]
        if not any(held):
            raise LogDirError(
                "nothing that matches this glob is or holds a partition or a segment",
                file=path,
                found=printable(places[0].path),
                expected="log dirs, topic-partition directories, .log or .kafka segments",
                remedy="What is marked .deleted, -delete and the like is read when the path itself says so",
            )
    return search.listing()


def list_partition_again(path: str) -> PartitionLog:
    """List the directory of a partition that a read was planned for.

    Links in it were judged then, against a root that is not known any more.
    """
    return list_logs([path], wanted=lambda *_: True, follow_symlinks=True).partitions[0]


def _names_segment(given: GivenPath) -> bool:
    """Whether a file counts as a segment: one marked .deleted and so on only if the path itself says so."""
    name = parse_log_file(os.path.basename(given.path))
    if name is None or not name.is_segment:
        return False
    return name.state is None or given.pattern is None or given.pattern.endswith("." + name.state)


@dataclass(slots=True)
class _Search:
    """What has been found so far."""

    wanted: Callable[[str, int], bool]
    follow_symlinks: bool
    on_bad: Callable[[KafkaLogError], None] | None
    list_one: PartitionLister
    partitions: dict[tuple[str, int], PartitionLog] = field(default_factory=dict)
    single_segments: dict[str, PartitionLog] = field(default_factory=dict)
    homes: dict[tuple[str, int], str] = field(default_factory=dict)
    states: dict[str, LogDirState] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def visit(self, given: GivenPath) -> bool:
        """Take up one path, whatever it is; False if a glob matched it and it holds nothing to read."""
        if given.pattern is not None and not os.path.exists(given.path):
            given.root.admit(given.path)
        mode = status(given.path).st_mode
        if stat.S_ISDIR(mode):
            return self._visit_directory(given)
        if stat.S_ISREG(mode) or _names_segment(given):
            return self._visit_file(given)
        if given.pattern is None:
            raise LogDirError(f"is {file_kind(mode)}", file=given.path, expected="a directory or a segment")
        self.skipped.append(Skipped(given.path, f"is {file_kind(mode)}"))
        return False

    def listing(self) -> Listing:
        """Put what was found in order."""
        single = [log for real, log in self.single_segments.items() if not self._is_listed(real, log)]
        ordered = sorted([*self.partitions.values(), *single], key=_order)
        return Listing(tuple(ordered), tuple(self.skipped), tuple(self.warnings))

    def _is_listed(self, real: str, single: PartitionLog) -> bool:
        """Whether a segment given by its own path is read with its partition anyway."""
        if single.topic is None or single.partition is None:
            return False
        whole = self.partitions.get((single.topic, single.partition))
        return whole is not None and any(os.path.realpath(segment.path) == real for segment in whole.segments)

    def _visit_file(self, given: GivenPath) -> bool:
        if given.pattern is not None:
            if not _names_segment(given):
                if ".log" in os.path.basename(given.path):
                    self.skipped.append(Skipped(given.path, "not named as a live segment (20 digits and .log)"))
                return False
            if os.path.islink(given.path):
                given.root.admit(given.path)
        log = single_segment(given.path)
        if log is None:
            raise explain_file(given.path)
        self._settle(log.topic, log.partition, os.path.realpath(os.path.dirname(log.path)))
        self.single_segments.setdefault(os.path.realpath(log.path), log)
        return True

    def _visit_directory(self, given: GivenPath) -> bool:
        if given.pattern is not None and os.path.islink(given.path):
            given.root.admit(given.path)
        name = _partition_name(given.path)
        if name is None or is_log_dir(given.path):
            return self._visit_log_dir(given)
        path = os.path.realpath(given.path)
        if given.pattern is None:
            self._take(path, name, given.root, given=True)
        elif name.variant is not None and not given.pattern.endswith("-" + name.variant):
            self.skipped.append(_skipped_variant(given.path, name))
            return False
        elif given.pattern.startswith("__") or self.wanted(name.topic, name.partition):
            self._take(path, name, given.root, given=False)
        return True

    def _visit_log_dir(self, given: GivenPath) -> bool:
        if os.path.basename(given.path) == "lost+found" and given.pattern is not None:
            self.skipped.append(Skipped(given.path, "not a topic-partition directory"))
            return False
        path = os.path.realpath(given.path)
        before = len(self.homes)
        seen: list[str] = []
        skipped: list[Skipped] = []
        packed = ForeignFiles(path)
        for entry in entries(path):
            name = parse_partition(entry.name)
            if name is None or name.variant is not None or not _may_be_directory(entry):
                _skip(entry, name, skipped, packed)
                continue
            seen.append(entry.path)
            if self.wanted(name.topic, name.partition):
                self._take_if_good(entry.path, name, given.root)
        if not seen and given.pattern is None:
            raise explain_directory(path)
        # Directories such as kafka-logs-1 look like partitions until one looks into them.
        if len(self.homes) == before and (log_dirs := nested_log_dirs(seen)):
            raise holds_log_dirs(path, log_dirs)
        self.skipped += [*skipped, *packed.skipped()] if seen else [Skipped(path, "holds no partition")]
        return bool(seen)

    def _take_if_good(self, path: str, name: PartitionName, root: Root) -> None:
        """List a directory within a log dir; what is wrong with it as a whole need not end the listing."""
        try:
            self._take(path, name, root, given=False)
        except KafkaLogError as error:
            twice = self.homes.get((name.topic, name.partition)) != os.path.realpath(path)
            if self.on_bad is None or twice:
                raise
            self.on_bad(error)

    def _take(self, path: str, name: PartitionName, root: Root, *, given: bool) -> None:
        """List one partition directory, unless it has been listed already."""
        partition = (name.topic, name.partition)
        self._settle(*partition, os.path.realpath(path))
        if partition in self.partitions:
            return
        if os.path.islink(path):
            root.admit(path)
        try:
            contents = self.list_one(path, root, next_offset, self.on_bad)
        except LogDirError:
            # A broker that deletes a topic renames its directories.
            if given or os.path.lexists(path):
                raise
            self.skipped.append(Skipped(path, "vanished while it was being listed"))
            return
        if contents.is_log_dir:
            raise holds_log_dirs(os.path.dirname(path), [path])
        # What checks a directory says itself that it holds no segment.
        is_explained = contents.has_bad or (self.on_bad is not None and not holds_directories(path))
        if given and not contents.segments and not is_explained:
            raise explain_directory(path)
        self.skipped += contents.skipped
        self.warnings += contents.warnings
        # Checkpoints speak of the live partition, not of what was moved aside from it.
        state = self._state(os.path.dirname(path)) if name.variant is None else LogDirState()
        self.partitions[partition] = PartitionLog(
            name.topic,
            name.partition,
            path,
            contents.segments,
            log_start_offset=state.log_starts.get(partition),
            high_watermark=state.high_watermarks.get(partition),
            cleaned=partition in state.cleaned,
            inode=contents.inode,
            has_log_starts=state.has_log_starts,
            packed=contents.packed,
        )

    def _settle(self, topic: str | None, partition: int | None, home: str) -> None:
        """Note where a partition lies. Two places for one partition are an error."""
        if topic is None or partition is None:
            return
        known = self.homes.setdefault((topic, partition), home)
        if known != home:
            first, second = sorted((known, home))
            raise LogDirError(
                f"partition {partition} of topic {topic} is there twice",
                file=first,
                found=printable(second),
                expected="each partition in one place",
                remedy="Give the log dirs of one broker only, or leave one of the two out",
            )

    def _state(self, log_dir: str) -> LogDirState:
        state = self.states.get(log_dir)
        if state is None:
            root = Root(os.path.realpath(log_dir), self.follow_symlinks)
            state = self.states[log_dir] = self._read_state(log_dir, root)
            self.warnings += state.warnings
        return state

    def _read_state(self, log_dir: str, root: Root) -> LogDirState:
        try:
            return read_state(log_dir, root)
        except KafkaLogError as error:
            if self.on_bad is None:
                raise
            self.on_bad(error)
            return LogDirState()


def _order(log: PartitionLog) -> tuple[bool, str, int, str]:
    return log.topic is None, log.topic or "", log.partition or 0, log.path


def _partition_name(path: str) -> PartitionName | None:
    """Read the name that was given, or if that says nothing, the one that it links to."""
    given, resolved = os.path.basename(path), os.path.basename(os.path.realpath(path))
    return parse_partition(given) or parse_partition(resolved)


def _may_be_directory(entry: os.DirEntry[str]) -> bool:
    """Whether this is a directory, or a link to something that is not there and might have been one."""
    try:
        return entry.is_dir() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError as error:
        raise os_error(entry.path, error) from error


def _skip(entry: os.DirEntry[str], name: PartitionName | None, skipped: list[Skipped], packed: ForeignFiles) -> None:
    if entry.is_dir(follow_symlinks=False):
        reason = Skipped(entry.path, "not a topic-partition directory")
        skipped.append(reason if name is None else _skipped_variant(entry.path, name))
    elif parse_log_file(entry.name) is not None:
        skipped.append(Skipped(entry.path, "lies outside any topic-partition directory"))
    elif packing_of(entry.name) is not None:
        packed.add(entry.name)


def _skipped_variant(path: str, name: PartitionName) -> Skipped:
    return Skipped(path, f"marked -{name.variant}: read only when a path names it")
