"""One partition directory: the segments and side files that a broker would keep on startup."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kafkalog_source.errors import KafkaLogError, LogDirError, NotASegmentError, printable
from kafkalog_source.logdir.access import Root, check_readable, entries, file_kind, os_error, status
from kafkalog_source.logdir.crash_states import NO_CRASH, CrashState, crash_state
from kafkalog_source.logdir.fingerprint import LONG_AGO_NS, Fingerprint, is_at_rest
from kafkalog_source.logdir.foreign import ForeignFiles, is_kafkas
from kafkalog_source.logdir.model import PackedSegments, SegmentFile, Skipped
from kafkalog_source.logdir.names import (
    CHECKPOINT_NAMES,
    META_PROPERTIES,
    LogFileName,
    is_redpanda_segment,
    parse_log_file,
    parse_partition,
)

__all__ = ["PartitionContents", "list_partition", "redpanda_error", "regular_status"]

_ATTEMPTS = 20
_PAUSE_SECONDS = 0.01
_SIDE_FILES = ("index", "timeindex", "txnindex", "snapshot")
_LOG_DIR_SIGNS = CHECKPOINT_NAMES | {META_PROPERTIES}


@dataclass(slots=True)
class PartitionContents:
    """The contents of one partition directory.

    Attributes
    ----------
    segments : tuple of SegmentFile
        By base offset.
    skipped : list of Skipped
        Files of the log that are not read, and directories.
    warnings : list of str
        Reports of an interrupted compaction.
    is_log_dir : bool
        Whether the directory holds no segment but files that a broker keeps in a log dir.
    inode : int
        Of the directory.
    packed : PackedSegments or None
        Segments that exist only in compressed form.
    has_bad : bool
        Whether files were left out because they cannot be read or are not of the kind that their names claim.
    """

    segments: tuple[SegmentFile, ...]
    skipped: list[Skipped]
    warnings: list[str]
    is_log_dir: bool
    inode: int
    packed: PackedSegments | None = None
    has_bad: bool = False


class _VanishedError(Exception):
    """A file was renamed or removed after it was listed and before its ``stat``."""


@dataclass(slots=True)
class _Seen:
    """What one pass over the directory found: base offsets, not names, as there may be 100,000 segments."""

    path: str
    root: Root
    plain: dict[str, set[int]] = field(default_factory=dict)
    swap: dict[str, set[int]] = field(default_factory=dict)
    sizes: dict[tuple[int, str], tuple[int, int, int]] = field(default_factory=dict)
    first_cleaned: int | None = None
    skipped: list[Skipped] = field(default_factory=list)
    log_dir_signs: bool = False
    least: int = 0
    floor: int = 0
    fingerprint: Fingerprint = field(default_factory=Fingerprint)
    bad: list[KafkaLogError] = field(default_factory=list)
    inode: int = 0
    foreign: ForeignFiles = field(init=False)

    def __post_init__(self) -> None:
        self.foreign = ForeignFiles(self.path)


def list_partition(
    path: str,
    root: Root,
    next_offset: Callable[[str], int],
    on_bad: Callable[[KafkaLogError], None] | None = None,
    least: int = 0,
) -> PartitionContents:
    """List one partition directory.

    Parameters
    ----------
    path : str
        The directory.
    root : Root
        The directory that symbolic links must not lead out of.
    next_offset : callable
        Returns the offset after the last one of a segment; called only after an interrupted compaction.
    on_bad : callable, optional
        Called with an error for each file that cannot be read or is not of the kind that its name claims; the file
        is then left out. Without it the first such error is raised.
    least : int
        Segments whose offsets are all below this one are left out, most of them without a ``stat``.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            # Not before the first attempt: even a sleep of zero seconds yields the CPU and costs more than a listing.
            time.sleep(attempt * _PAUSE_SECONDS)
        try:
            seen = _scan(path, root, least)
            if _is_consistent(seen):
                contents = _contents(seen, next_offset)
                _report_bad(seen, on_bad)
                contents.has_bad = bool(seen.bad)
                return contents
        except _VanishedError:
            continue
        except LogDirError as error:
            if not (isinstance(error.__cause__, FileNotFoundError) and os.path.isdir(path)):
                raise
    raise LogDirError(
        f"files were created or removed during each of {_ATTEMPTS} attempts to list the directory",
        file=path,
        remedy="A broker is writing to it: read a snapshot of its disk, or try again",
    )


def _report_bad(seen: _Seen, on_bad: Callable[[KafkaLogError], None] | None) -> None:
    for error in seen.bad:
        if on_bad is None:
            raise error
        on_bad(error)


def _is_consistent(seen: _Seen) -> bool:
    """Whether all files that were seen existed at one moment; brings their sizes up to date."""
    compacting = bool(seen.swap) or seen.first_cleaned is not None
    if is_at_rest(seen.path, seen.fingerprint.started_ns) and not compacting:
        return True
    if not seen.fingerprint.still_fits(seen.path):
        return False
    _update_grown(seen)
    return True


def _update_grown(seen: _Seen) -> None:
    """Repeat the ``stat`` of segments that may have been written to while the directory was being listed.

    Only the last segment is written to now, but an earlier one may have been the last at its first ``stat``.
    """
    long_ago = seen.fingerprint.started_ns - LONG_AGO_NS
    for base in sorted(seen.plain.get("log", ()), reverse=True)[1:]:
        try:
            found = os.stat(_path(seen, base, "log", ""))
        except FileNotFoundError as error:
            raise _VanishedError from error
        if found.st_ino != seen.sizes[base, ""][2]:
            raise _VanishedError
        seen.sizes[base, ""] = (found.st_size, found.st_mtime_ns, found.st_ino)
        if found.st_mtime_ns < long_ago:
            return


def regular_status(path: str, found: os.stat_result) -> os.stat_result:
    """Raise unless a segment is a regular file that this process may read; return its status."""
    if not stat.S_ISREG(found.st_mode):
        raise LogDirError(
            f"has the name of a segment and is {file_kind(found.st_mode)}",
            file=path,
            expected="a regular file",
            remedy="Move it away from the copy that is read",
        )
    check_readable(path, found.st_mode)
    return found


def redpanda_error(path: str) -> NotASegmentError:
    """The error for a file with the name of a Redpanda segment."""
    return NotASegmentError(
        "is a Redpanda segment, whose format differs from Kafka's",
        file=path,
        expected="a Kafka segment such as 00000000000000000000.log",
        remedy="Read it with Redpanda's own tools, or consume the topic from a broker",
    )


def _scan(path: str, root: Root, least: int) -> _Seen:
    seen = _Seen(path, root, least=least, inode=status(path).st_ino)
    for entry in entries(path):
        seen.fingerprint.add(entry)
        name = parse_log_file(entry.name)
        try:
            if name is None:
                _add_other(seen, entry)
            elif name.state is None and name.base_offset < seen.floor:
                continue
            elif name.is_segment:
                _add_segment(seen, entry, name)
            else:
                _add_side_file(seen, entry, name)
        except KafkaLogError as error:
            seen.bad.append(error)
    for numbers in seen.plain.values():
        numbers.difference_update([base for base in numbers if base < seen.floor])
    return seen


def _add_segment(seen: _Seen, entry: os.DirEntry[str], name: LogFileName) -> None:
    if name.state in ("deleted", "cleaned"):
        if name.state == "cleaned":
            _note_cleaned(seen, name.base_offset)
        seen.skipped.append(Skipped(entry.path, f"marked {name.state} by the broker"))
        return
    if entry.is_symlink():
        seen.root.admit(entry.path)
    try:
        found = regular_status(entry.path, entry.stat())
    except FileNotFoundError as error:
        raise _VanishedError from error
    except OSError as error:
        raise os_error(entry.path, error) from error
    except LogDirError as error:
        raise _unless_vanished(entry, error) from error
    if name.state is None and name.base_offset <= seen.least:
        # This segment begins at or below the least offset, so that all before it end below that offset.
        seen.floor = name.base_offset
    _note(seen, name)
    seen.sizes[name.base_offset, _suffix(name)] = (found.st_size, found.st_mtime_ns, found.st_ino)


def _add_side_file(seen: _Seen, entry: os.DirEntry[str], name: LogFileName) -> None:
    if name.state == "deleted":
        return
    if name.state == "cleaned":
        _note_cleaned(seen, name.base_offset)
        return
    if entry.is_symlink():
        seen.root.admit(entry.path)
    if _is_file(entry):
        _note(seen, name)
    elif name.kind == "txnindex":
        # Offset and time indexes only save reading, but without a transaction index aborted records would be returned.
        raise _unless_vanished(
            entry, LogDirError("has the name of a transaction index and is not a regular file", file=entry.path)
        )
    else:
        seen.skipped.append(Skipped(entry.path, "is not a regular file"))


def _unless_vanished(entry: os.DirEntry[str], error: LogDirError) -> Exception:
    return error if os.path.lexists(entry.path) else _VanishedError()


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError as error:
        raise os_error(entry.path, error) from error


def _add_other(seen: _Seen, entry: os.DirEntry[str]) -> None:
    if is_redpanda_segment(entry.name):
        raise redpanda_error(entry.path)
    if entry.name in _LOG_DIR_SIGNS:
        seen.log_dir_signs = True
    if entry.is_dir(follow_symlinks=False):
        seen.log_dir_signs |= parse_partition(entry.name) is not None
        seen.skipped.append(Skipped(entry.path, "a directory within a partition directory"))
    elif entry.name.endswith((".log", ".kafka")):
        reason = "does not have the name of a segment (20 digits and .log or .kafka)"
        seen.skipped.append(Skipped(entry.path, reason, is_foreign=True))
    elif not is_kafkas(entry.name):
        seen.foreign.add(entry.name)


def _suffix(name: LogFileName) -> str:
    return ".swap" if name.state == "swap" else ""


def _note(seen: _Seen, name: LogFileName) -> None:
    group = seen.swap if name.state == "swap" else seen.plain
    group.setdefault(name.kind, set()).add(name.base_offset)


def _note_cleaned(seen: _Seen, base_offset: int) -> None:
    first = seen.first_cleaned
    seen.first_cleaned = base_offset if first is None else min(first, base_offset)


def _contents(seen: _Seen, next_offset: Callable[[str], int]) -> PartitionContents:
    warnings: list[str] = []
    seen.skipped += seen.foreign.skipped()
    state = NO_CRASH
    if seen.swap or seen.first_cleaned is not None:
        swaps = [(base, _path(seen, base, "log", ".swap")) for base in seen.swap.get("log", ())]
        state = crash_state(swaps, seen.first_cleaned, next_offset)
        warnings.append(_crash_warning(seen, state))
    if "kafka" in seen.plain:
        packed = seen.foreign.packed_segments(frozenset(seen.plain["kafka"]), seen.floor)
        return PartitionContents(_segments_07(seen), seen.skipped, warnings, False, seen.inode, packed)
    logs = _surviving(seen, "log", state)
    _note_dropped(seen, state, logs)
    side_files = {kind: _surviving(seen, kind, state) for kind in _SIDE_FILES}
    segments = tuple(_segment(seen, base, logs[base], side_files) for base in sorted(logs))
    is_log_dir = not seen.sizes and seen.log_dir_signs
    packed = seen.foreign.packed_segments(frozenset(logs), seen.floor)
    return PartitionContents(segments, seen.skipped, warnings, is_log_dir, seen.inode, packed)


def _surviving(seen: _Seen, kind: str, state: CrashState) -> dict[int, str]:
    """The suffix of the file that a broker would keep, by base offset."""
    files = {base: "" for base in seen.plain.get(kind, ()) if not state.is_replaced(base)}
    files.update((base, ".swap") for base in seen.swap.get(kind, ()) if state.swap_is_finished(base))
    return files


def _segment(seen: _Seen, base: int, suffix: str, side_files: dict[str, dict[int, str]]) -> SegmentFile:
    def beside(kind: str) -> str | None:
        there = side_files[kind].get(base)
        return None if there is None else _path(seen, base, kind, there)

    size, mtime_ns, inode = seen.sizes[base, suffix]
    return SegmentFile(
        _path(seen, base, "log", suffix),
        base,
        size,
        mtime_ns,
        inode,
        beside("index"),
        beside("timeindex"),
        beside("txnindex"),
        beside("snapshot"),
    )


def _segments_07(seen: _Seen) -> tuple[SegmentFile, ...]:
    """The segments of a Kafka 0.7 directory, which must not hold segments of a later version as well.

    A later broker ignores the 0.7 segments, but skipping them here would lose their rows silently, and the offsets of
    the two are unrelated.
    """
    if "log" in seen.plain or "log" in seen.swap:
        raise LogDirError(
            "holds both segments of Kafka 0.7 (.kafka) and of a later version (.log), whose offsets are unrelated",
            file=seen.path,
            expected="segments of one kind",
            remedy="Give the paths of the segments of one kind, such as "
            f"{printable(os.path.join(seen.path, '*.kafka'))}",
        )
    return tuple(
        SegmentFile(_path(seen, base, "kafka", ""), base, *seen.sizes[base, ""], is_07=True)
        for base in sorted(seen.plain["kafka"])
    )


def _path(seen: _Seen, base_offset: int, kind: str, suffix: str) -> str:
    return f"{seen.path}{os.sep}{base_offset:020d}.{kind}{suffix}"


def _note_dropped(seen: _Seen, state: CrashState, logs: dict[int, str]) -> None:
    for base in sorted(seen.swap.get("log", ())):
        if not state.swap_is_finished(base):
            reason = "an unfinished swap: a .cleaned file is at or below its base offset"
            seen.skipped.append(Skipped(_path(seen, base, "log", ".swap"), reason))
    for base in sorted(seen.plain.get("log", ())):
        if logs.get(base) != "":
            seen.skipped.append(Skipped(_path(seen, base, "log", ""), "replaced by a .swap file"))


def _crash_warning(seen: _Seen, state: CrashState) -> str:
    if any(map(state.swap_is_finished, seen.swap.get("log", ()))):
        outcome = (
            f"its .swap files are read in place of the segments from offset {state.replaced_from} "
            f"to {state.replaced_to}, as a broker would on startup"
        )
    elif any(state.swap_is_finished(base) for bases in seen.swap.values() for base in bases):
        # A broker removes the suffix from one file after the other, and from indexes in no particular order.
        outcome = "its segments are in place, and the remaining .swap files are read as their indexes"
    else:
        outcome = "the segments from before the compaction are read"
    return f"{printable(seen.path)}: a compaction was interrupted, or is under way (.cleaned or .swap files): {outcome}"
