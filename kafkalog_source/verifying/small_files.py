"""Checks the small files of a partition directory and of a log dir: snapshots, checkpoints, ids."""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING

from kafkalog_source.errors import KafkaLogError, printable
from kafkalog_source.format import CONTROL_FLAG, MAX_OFFSET, METADATA_BOOTSTRAP, METADATA_SNAPSHOT
from kafkalog_source.logdir.access import Root, entries, file_kind, os_error
from kafkalog_source.logdir.checkpoints import (
    LeaderEpoch,
    read_leader_epochs,
    read_offset_checkpoint,
    read_topic_id,
)
from kafkalog_source.logdir.json_files import parse_json_object
from kafkalog_source.logdir.names import (
    CHECKPOINT_NAMES,
    LEADER_EPOCH_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    QUORUM_STATE,
    parse_log_file,
)
from kafkalog_source.logdir.properties import parse_properties
from kafkalog_source.segment.side_files.index_entries import INDEX_LAYOUTS
from kafkalog_source.segment.side_files.producer_snapshot import parse_producer_snapshot
from kafkalog_source.segment.side_files.side_file import SideFileError, read_file, read_side_file
from kafkalog_source.segment.source import LocalFile
from kafkalog_source.segment.span import Span
from kafkalog_source.verifying.findings import Finding, Severity, of_damage, of_error

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from kafkalog_source._core.memory import Scratch
    from kafkalog_source._core.walk import Entries
    from kafkalog_source.segment.checks.span_checker import SpanChecker

_ATTEMPTS = 3
_PAUSE_SECONDS = 0.1

Offsets = dict[tuple[str, int], int]


def check_partition_files(path: str, root: Root, bases: Collection[int], checker: SpanChecker) -> list[Finding]:
    """Check the small files of a partition directory, and report indexes without a segment.

    Parameters
    ----------
    path : str
        The directory.
    root : Root
        The directory that symbolic links must not lead out of.
    bases : collection of int
        Base offsets of its segments.
    checker : SpanChecker
    """
    findings: list[Finding] = []
    found = sorted(entries(path), key=lambda entry: entry.name)
    bases = {*bases, *_bases_of_logs(found)}
    for entry in found:
        check = _check_of(entry, bases, checker)
        if check is not None:
            findings += _guarded(entry, root, check)
    return findings


def check_log_dir_files(path: str, root: Root, checker: SpanChecker) -> tuple[list[Finding], dict[str, Offsets]]:
    """Check the files that a broker keeps in the log dir itself.

    Returns
    -------
    tuple of (list of Finding, dict)
        The findings, and the offsets in the valid checkpoints by file name.
    """
    findings: list[Finding] = []
    checkpoints: dict[str, Offsets] = {}

    def note(file: str) -> list[Finding]:
        checkpoints[os.path.basename(file)] = read_offset_checkpoint(file)
        return []

    checks: dict[str, Callable[[str], list[Finding]]] = dict.fromkeys(CHECKPOINT_NAMES, note)
    checks[META_PROPERTIES] = _check_properties
    checks[METADATA_BOOTSTRAP] = lambda file: _check_metadata_snapshot(file, checker)
    for entry in sorted(entries(path), key=lambda entry: entry.name):
        if entry.name in checks:
            findings += _guarded(entry, root, checks[entry.name])
    return findings, checkpoints


def _bases_of_logs(found: Sequence[os.DirEntry[str]]) -> Iterator[int]:
    """Base offsets in the names of segments, including unreadable ones, whose indexes are not orphaned."""
    for entry in found:
        name = parse_log_file(entry.name)
        if name is not None and name.is_segment and name.state is None:
            yield name.base_offset


def _check_of(
    entry: os.DirEntry[str], bases: Collection[int], checker: SpanChecker
) -> Callable[[str], list[Finding]] | None:
    name = parse_log_file(entry.name)
    if name is not None and name.state is None and name.kind == "snapshot":
        return lambda path: _check_producer_snapshot(path, name.base_offset)
    if name is not None and name.state is None and name.kind in INDEX_LAYOUTS and name.base_offset not in bases:
        return _orphaned
    if METADATA_SNAPSHOT.fullmatch(entry.name) is not None:
        return lambda path: _check_metadata_snapshot(path, checker)
    known = {
        LEADER_EPOCH_CHECKPOINT: _check_leader_epochs,
        PARTITION_METADATA: _check_topic_id,
        QUORUM_STATE: _check_quorum,
    }
    return known.get(entry.name)


def _guarded(entry: os.DirEntry[str], root: Root, check: Callable[[str], list[Finding]]) -> list[Finding]:
    """Check a regular file; repeat the check of a recently modified one, to which a broker may be writing."""
    findings: list[Finding] = []
    for attempt in range(_ATTEMPTS):
        time.sleep(attempt * _PAUSE_SECONDS)
        try:
            if entry.is_symlink():
                root.admit(entry.path)
            mode = os.stat(entry.path).st_mode
            if not stat.S_ISREG(mode):
                return [Finding(Severity.MISLEADING, entry.path, f"is {file_kind(mode)} and not a regular file")]
            findings = check(entry.path)
        except KafkaLogError as error:
            findings = [of_error(error, Severity.MISLEADING, entry.path)]
        except FileNotFoundError:
            return []
        except OSError as error:
            findings = [of_error(os_error(entry.path, error), Severity.MISLEADING, entry.path)]
        if not findings or not _is_fresh(entry.path):
            break
    return findings if os.path.lexists(entry.path) else []


def _is_fresh(path: str) -> bool:
    try:
        return os.stat(path).st_mtime > time.time() - 60
    except OSError:
        return False


def _check_producer_snapshot(path: str, offset: int) -> list[Finding]:
    try:
        parse_producer_snapshot(read_side_file(path), offset)
    except SideFileError as error:
        return [Finding(Severity.MISLEADING, path, f"the producer snapshot is damaged: {error}")]
    return []


def _orphaned(path: str) -> list[Finding]:
    return [Finding(Severity.NOTE, path, "an orphaned index file without a corresponding log file")]


def _check_topic_id(path: str) -> list[Finding]:
    read_topic_id(path)
    return []


def _check_leader_epochs(path: str) -> list[Finding]:
    before = LeaderEpoch(-1, -1)
    for number, each in enumerate(read_leader_epochs(path)):
        if each.epoch <= before.epoch or each.start_offset < before.start_offset:
            return [
                Finding(
                    Severity.MISLEADING,
                    path,
                    "the leader epochs do not rise",
                    found=f"epoch {each.epoch} from offset {each.start_offset} as entry {number}",
                    expected=f"an epoch above {before.epoch} from offset {before.start_offset} or later",
                )
            ]
        before = each
    return []


def _check_quorum(path: str) -> list[Finding]:
    if isinstance(parse_json_object(read_file(path), path).get("leaderEpoch"), int):
        return []
    return [Finding(Severity.MISLEADING, path, "the quorum state holds no leaderEpoch")]


def _check_properties(path: str) -> list[Finding]:
    version = parse_properties(read_file(path)).get("version", "")
    if version in ("0", "1"):
        return []
    return [
        Finding(
            Severity.MISLEADING,
            path,
            "a broker does not start with this meta.properties",
            found=f"version {printable(version[:20])!r}" if version else "no version",
            expected="version 0 or 1",
        )
    ]


class _LastEntry:
    """Keeps the attributes of the last batch."""

    def __init__(self) -> None:
        self.attributes = 0

    def take(self, window: Scratch, window_position: int, entries: Entries, start: int, stop: int) -> None:
        self.attributes = entries.entry(stop - 1)[3]


def _check_metadata_snapshot(path: str, checker: SpanChecker) -> list[Finding]:
    """Check a snapshot of the metadata log: batches as in a segment, of which the last is a control batch."""
    findings: list[Finding] = []
    last = _LastEntry()
    with LocalFile(path) as source:
        span = Span(0, source.size, 0, MAX_OFFSET, MAX_OFFSET, to_file_end=True, torn_is_benign=False)
        checker.check(source, span, [last], lambda damage: findings.append(of_damage(damage)))
        if not findings and not last.attributes & CONTROL_FLAG and os.path.basename(path) != METADATA_BOOTSTRAP:
            problem = "the snapshot of the metadata log does not end with a footer record: its end is missing"
            findings.append(Finding(Severity.DAMAGE, path, problem, source.size))
    return findings
