"""One partition directory: the segments and side files that a broker's start would leave."""

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
    LogFileName,
    is_redpanda_segment,
    parse_log_file,
    parse_partition,
)

__all__ = ["PartitionContents", "list_partition", "redpanda_error", "regular_status"]

_ATTEMPTS = 20
_PAUSE_SECONDS = 0.01
_SIDE_FILES = ("index", "timeindex", "txnindex", "snapshot")
_LOG_DIR_SIGNS = CHECKPOINT_NAMES | {"meta.properties"}


@dataclass(slots=True)
class PartitionContents:
    """What one partition directory holds.

    Attributes
    ----------
    segments : tuple of SegmentFile
        By base offset.
    skipped : list of Skipped
        Files of the log that do not count, and directories.
    warnings : list of str
        What an interrupted compaction left behind.
    is_log_dir : bool
        No segment is here, but what a broker keeps in a log dir.
    inode : int
        Of the directory.
    packed : PackedSegments or None
        Segments that are here only compressed.
    has_bad : bool
        Files were left out that cannot be read or are not what their names say.
    """

    segments: tuple[SegmentFile, ...]
    skipped: list[Skipped]
    warnings: list[str]
    is_log_dir: bool
    inode: int
    packed: PackedSegments | None = None
    has_bad: bool = False


class _VanishedError(Exception):
    """A file was renamed or removed between being listed and being looked at."""


@dataclass(slots=True)
class _Seen:
    """What one pass over the directory saw. Numbers and not names: there may be 100,000 segments."""

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
        What symbolic links have to stay in.
    next_offset : callable
        Gives the offset after the last one of a segment; asked only after an interrupted compaction.
    on_bad : callable, optional
        Told of every file that cannot be read or is not what its name says, which is then left out. Without it
        the first one is raised.
    least : int
        Segments whose offsets all lie below this one are left out, without a look at them.
    """
    for attempt in range(_ATTEMPTS):
        if attempt:
            # Even a sleep of no time gives the processor away, which costs more than the listing.
            time.sleep(attempt * _PAUSE_SECONDS)
        try:
            seen = _look(path, root, least)
            if _is_settled(seen):
                contents = _contents(seen, next_offset)
                _tell_bad(seen, on_bad)
                contents.has_bad = bool(seen.bad)
                return contents
        except _VanishedError:
            continue
        except LogDirError as error:
            if not (isinstance(error.__cause__, FileNotFoundError) and os.path.isdir(path)):
                raise
    raise LogDirError(
        "files come and go while the directory is being listed",
        file=path,
        remedy="A broker is at work on it: read a snapshot of its disk, or try again",
    )


def _tell_bad(seen: _Seen, on_bad: Callable[[KafkaLogError], None] | None) -> None:
    for error in seen.bad:
        if on_bad is None:
            raise error
        on_bad(error)


def _is_settled(seen: _Seen) -> bool:
    """Whether what was seen was there at one time, with the sizes that it had at the end of it."""
    compacting = bool(seen.swap) or seen.first_cleaned is not None
    if is_at_rest(seen.path, seen.fingerprint.started_ns) and not compacting:
        return True
    if not seen.fingerprint.still_fits(seen.path):
        return False
    _look_at_grown(seen)
    return True


def _look_at_grown(seen: _Seen) -> None:
    """Look once more at segments that may have been written to while the directory was being listed.

    None but the last is written to now; the one before it may have been the last when it was looked at.
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
    """Let a segment pass only if it is a regular file that this process may read."""
    if not stat.S_ISREG(found.st_mode):
        raise LogDirError(
            f"is named as a segment and is {file_kind(found.st_mode)}",
            file=path,
            expected="a regular file",
            remedy="Move it away from the copy that is read",
        )
    check_readable(path, found.st_mode)
    return found


def redpanda_error(path: str) -> NotASegmentError:
    """Refuse a Redpanda segment by name."""
    return NotASegmentError(
        "this is a segment of Redpanda, whose format is not Kafka's",
        file=path,
        expected="a Kafka segment such as 00000000000000000000.log",
        remedy="Read it with Redpanda's own tools, or consume the topic from a broker",
    )


def _look(path: str, root: Root, least: int) -> _Seen:
    seen = _Seen(path, root, least=least, inode=status(path).st_ino)
    for entry in entries(path):
        seen.fingerprint.add(entry)
        name = parse_log_file(entry.name)
        try:
            if name is None:
                _look_at_other(seen, entry)
            elif name.state is None and name.base_offset < seen.floor:
                continue
            elif name.is_segment:
                _look_at_segment(seen, entry, name)
            else:
                _look_at_side_file(seen, entry, name)
        except KafkaLogError as error:
            seen.bad.append(error)
    for numbers in seen.plain.values():
        numbers.difference_update([base for base in numbers if base < seen.floor])
    return seen


def _look_at_segment(seen: _Seen, entry: os.DirEntry[str], name: LogFileName) -> None:
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
        # Another segment begins at or below the least offset too: those before this one end below it.
        seen.floor = name.base_offset
    _note(seen, name)
    seen.sizes[name.base_offset, _suffix(name)] = (found.st_size, found.st_mtime_ns, found.st_ino)


def _look_at_side_file(seen: _Seen, entry: os.DirEntry[str], name: LogFileName) -> None:
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
        # An index of offsets or times only saves reading, but without this one aborted records would show.
        raise _unless_vanished(
            entry, LogDirError("is named as a transaction index and is no regular file", file=entry.path)
        )
    else:
        seen.skipped.append(Skipped(entry.path, "is no regular file"))


def _unless_vanished(entry: os.DirEntry[str], error: LogDirError) -> Exception:
    return error if os.path.lexists(entry.path) else _VanishedError()


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError as error:
        raise os_error(entry.path, error) from error


def _look_at_other(seen: _Seen, entry: os.DirEntry[str]) -> None:
    if is_redpanda_segment(entry.name):
        raise redpanda_error(entry.path)
    if entry.name in _LOG_DIR_SIGNS:
        seen.log_dir_signs = True
    if entry.is_dir(follow_symlinks=False):
        seen.log_dir_signs |= parse_partition(entry.name) is not None
        seen.skipped.append(Skipped(entry.path, "a directory within a partition directory"))
    elif entry.name.endswith((".log", ".kafka")):
        seen.skipped.append(Skipped(entry.path, "not named as a segment (20 digits and .log or .kafka)", True))
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
    """Give the suffix of the file that counts, by base offset."""
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
    """The segments of Kafka 0.7, beside which there may be none of a later version.

    A later broker passes them over, but their rows would be lost in silence, and the offsets of the two have nothing
    to do with each other.
    """
    if "log" in seen.plain or "log" in seen.swap:
        raise LogDirError(
            "holds segments of Kafka 0.7 (.kafka) beside those of a later version (.log), whose offsets are others",
            file=seen.path,
            expected="segments of one kind",
            remedy="Give the segments of the kind that is wanted by their own paths, such as "
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
            f"to {state.replaced_to}, as a broker's start would have it"
        )
    elif any(state.swap_is_finished(base) for bases in seen.swap.values() for base in bases):
        # The segments lose the suffix one by one, and their indexes in no order.
        outcome = "its segments are in place, and .swap files beside them are read as theirs"
    else:
        outcome = "the segments from before it are read"
    return f"{printable(seen.path)}: a compaction was interrupted, or is under way (.cleaned or .swap files): {outcome}"
