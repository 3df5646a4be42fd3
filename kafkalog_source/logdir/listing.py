"""Finds the partitions and segments in the paths that a user gives.

A path is a broker's log dir, one of its partition directories, one segment, or
a glob of these. `Listing.skipped` names what is left out; where leaving it out
would lose rows, an error is raised. Nothing is written, and no segment is
opened except after a crash during compaction.
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
    """List the partitions and segments in some paths.

    Parameters
    ----------
    paths : sequence of str
        Log dirs, partition directories, segments, or globs of these.
    wanted : callable
        Called with topic and partition before a partition directory of a log dir is listed. Not called for
        directories that a path names itself, nor for topics matched by a glob whose last component starts with ``__``.
    follow_symlinks : bool
        Whether symbolic links may lead out of the given paths, which are themselves always resolved.
    on_bad : callable, optional
        Called with an error for each file and directory in a path that cannot be read or is not of the kind that its
        name claims; it is then left out. Without it the first such error is raised.
    list_one : callable
        Lists a partition directory: `list_partition`, or a function that caches its results.

    Returns
    -------
    Listing

    Raises
    ------
    LogDirError
        If a path is missing, unreadable or without partitions, if a link leads out of it, or if a partition is
        found in two places.
    UnsupportedFormatError
        For a file that is not a Kafka segment, and for Redpanda segments.
    """
    if not paths:
        raise LogDirError("no path was given", remedy="Give a log dir, a partition directory or a segment")
    search = _Search(wanted, follow_symlinks, on_bad, list_one)
    for path in paths:
        places = expand(path, follow_symlinks)
        held = [search.visit(given) for given in places]
        if not any(held):
            raise LogDirError(
                "no path that matches this glob is or contains a partition or a segment",
                file=path,
                found=printable(places[0].path),
                expected="log dirs, topic-partition directories, .log or .kafka segments",
                remedy="Files and directories marked .deleted, -delete and the like are read only if the glob ends so",
            )
    return search.listing()


def list_partition_again(path: str) -> PartitionLog:
    """List the directory of a partition that a read was planned for.

    Links in it were judged then, against a root that is not known any more.
    """
    return list_logs([path], wanted=lambda *_: True, follow_symlinks=True).partitions[0]


def _names_segment(given: GivenPath) -> bool:
    """Whether a file is read as a segment; one marked .deleted and the like only if the glob ends so."""
    name = parse_log_file(os.path.basename(given.path))
    if name is None or not name.is_segment:
        return False
    return name.state is None or given.pattern is None or given.pattern.endswith("." + name.state)


@dataclass(slots=True)
class _Search:
    """The state of a listing: what has been found so far."""

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
    others: set[str] = field(default_factory=set)

    def visit(self, given: GivenPath) -> bool:
        """Add what one path holds; False if a glob matched it and it holds nothing to read."""
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
        """Return what was found, in order."""
        single = [log for real, log in self.single_segments.items() if not self._is_listed(real, log)]
        ordered = sorted([*self.partitions.values(), *single], key=_order)
        return Listing(tuple(ordered), tuple(self.skipped), tuple(self.warnings), frozenset(self.others))

    def _is_listed(self, real: str, single: PartitionLog) -> bool:
        """Whether a segment given by its own path is also read as part of its partition."""
        if single.topic is None or single.partition is None:
            return False
        whole = self.partitions.get((single.topic, single.partition))
        return whole is not None and any(os.path.realpath(segment.path) == real for segment in whole.segments)

    def _visit_file(self, given: GivenPath) -> bool:
        if given.pattern is not None:
            if not _names_segment(given):
                if ".log" in os.path.basename(given.path):
                    self.skipped.append(Skipped(given.path, "does not have the name of a segment (20 digits and .log)"))
                return False
            if os.path.islink(given.path):
                given.root.admit(given.path)
        log = single_segment(given.path)
        if log is None:
            raise explain_file(given.path)
        self._note_home(log.topic, log.partition, os.path.realpath(os.path.dirname(log.path)))
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
        else:
            self.others.add(name.topic)
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
            else:
                self.others.add(name.topic)
        if not seen and given.pattern is None:
            raise explain_directory(path)
        # A log dir such as kafka-logs-1 has the name of a partition; only its contents show what it is.
        if len(self.homes) == before and (log_dirs := nested_log_dirs(seen)):
            raise holds_log_dirs(path, log_dirs)
        self.skipped += [*skipped, *packed.skipped()] if seen else [Skipped(path, "holds no partition")]
        return bool(seen)

    def _take_if_good(self, path: str, name: PartitionName, root: Root) -> None:
        """List a directory within a log dir; with `on_bad` an error of the directory does not end the listing."""
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
        self._note_home(*partition, os.path.realpath(path))
        if partition in self.partitions:
            return
        if os.path.islink(path):
            root.admit(path)
        try:
            contents = self.list_one(path, root, next_offset, self.on_bad)
        except LogDirError:
            # A broker renames the directories of a topic that is deleted.
            if given or os.path.lexists(path):
                raise
            self.skipped.append(Skipped(path, "was removed while it was being listed"))
            return
        if contents.is_log_dir:
            raise holds_log_dirs(os.path.dirname(path), [path])
        # A caller with on_bad (verify) reports a directory without segments itself.
        is_explained = contents.has_bad or (self.on_bad is not None and not holds_directories(path))
        if given and not contents.segments and not is_explained:
            raise explain_directory(path)
        self.skipped += contents.skipped
        self.warnings += contents.warnings
        # The checkpoints describe the live partition, not a -delete, -future or -stray directory.
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

    def _note_home(self, topic: str | None, partition: int | None, home: str) -> None:
        """Note the directory of a partition; a second directory for the same partition is an error."""
        if topic is None or partition is None:
            return
        known = self.homes.setdefault((topic, partition), home)
        if known != home:
            first, second = sorted((known, home))
            raise LogDirError(
                f"partition {partition} of topic {topic} was found in two places",
                file=first,
                found=printable(second),
                expected="each partition in one place",
                remedy="Give the log dirs of one broker only, or leave out one of the two",
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
    """Parse the name that was given or, if that is not a partition's, the one that it links to."""
    given, resolved = os.path.basename(path), os.path.basename(os.path.realpath(path))
    return parse_partition(given) or parse_partition(resolved)


def _may_be_directory(entry: os.DirEntry[str]) -> bool:
    """Whether this is a directory, or a broken link, whose target may have been one."""
    try:
        return entry.is_dir() or (entry.is_symlink() and not os.path.exists(entry.path))
    except OSError as error:
        raise os_error(entry.path, error) from error


def _skip(entry: os.DirEntry[str], name: PartitionName | None, skipped: list[Skipped], packed: ForeignFiles) -> None:
    if entry.is_dir(follow_symlinks=False):
        reason = Skipped(entry.path, "not a topic-partition directory")
        skipped.append(reason if name is None else _skipped_variant(entry.path, name))
    elif parse_log_file(entry.name) is not None:
        skipped.append(Skipped(entry.path, "is outside any topic-partition directory"))
    elif packing_of(entry.name) is not None:
        packed.add(entry.name)


def _skipped_variant(path: str, name: PartitionName) -> Skipped:
    return Skipped(path, f"marked -{name.variant}: read only if a path names it")
