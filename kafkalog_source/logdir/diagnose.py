"""Explains why a path holds nothing to read, and suggests what was probably meant.

Called only after a failure, so that looking one level deeper costs nothing in
the usual case; the number of entries examined is bounded nevertheless.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence

from kafkalog_source.errors import KafkaLogError, LogDirError, NotASegmentError, printable
from kafkalog_source.logdir.access import entries
from kafkalog_source.logdir.foreign import packing_of, unpacking_remedy
from kafkalog_source.logdir.names import (
    CHECKPOINT_NAMES,
    LEADER_EPOCH_CHECKPOINT,
    META_PROPERTIES,
    PARTITION_METADATA,
    is_redpanda_directory,
    is_redpanda_segment,
    parse_log_file,
    parse_partition,
)
from kafkalog_source.logdir.partition_dir import redpanda_error

__all__ = [
    "explain_directory",
    "explain_file",
    "holds_directories",
    "holds_log_dirs",
    "is_log_dir",
    "nested_log_dirs",
]

_MOST_ENTRIES = 10_000
_MOST_CHILDREN = 200
_MOST_NAMED = 5
_WHAT_IS_READ = "a broker log dir, a topic-partition directory, a .log or .kafka segment, or a glob of these"
_PARTITION_FILES = frozenset({LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA})


def is_log_dir(path: str) -> bool:
    """Whether a directory is a broker's log dir, even if its name is like a partition's (``kafka-logs-1``).

    It is one if it holds partition directories or files of a log dir, and no file of a partition.
    """
    signs = False
    for entry in entries(path):
        if parse_log_file(entry.name) is not None or entry.name in _PARTITION_FILES:
            return False
        signs |= entry.name in CHECKPOINT_NAMES or entry.name == META_PROPERTIES
        signs |= parse_partition(entry.name) is not None and entry.is_dir()
    return signs


def nested_log_dirs(paths: Iterable[str]) -> list[str]:
    """The log dirs among some directories, of which a bounded number is examined."""
    # A directory that this process may not enter is not worth suggesting.
    examined = (path for path in itertools.islice(paths, _MOST_CHILDREN) if os.access(path, os.R_OK | os.X_OK))
    return sorted(filter(is_log_dir, examined))


def holds_log_dirs(path: str, log_dirs: Sequence[str]) -> LogDirError:
    """The error that suggests the log dirs in a directory."""
    named = ", ".join(printable(log_dir) for log_dir in log_dirs[:_MOST_NAMED])
    if len(log_dirs) > _MOST_NAMED:
        named += f" and {len(log_dirs) - _MOST_NAMED} more"
    return LogDirError(
        "is not a log dir itself, but contains log dirs",
        file=path,
        found=named,
        remedy="Give those directories as paths, or a glob that matches them",
    )


def holds_directories(path: str) -> bool:
    """Whether a directory contains directories, and so may not be that of a partition."""
    return any(entry.is_dir(follow_symlinks=False) for entry in itertools.islice(entries(path), _MOST_ENTRIES))


def explain_directory(path: str) -> KafkaLogError:
    """The error that says why a directory holds no partition, and which path to give instead."""
    children = list(itertools.islice(entries(path), _MOST_ENTRIES))
    directories = [child.path for child in children if child.is_dir(follow_symlinks=False)]
    files = [child.name for child in children if not child.is_dir(follow_symlinks=False)]
    special = _explain_files(path, files) or _explain_redpanda(path, directories)
    if special is not None:
        return special
    log_dirs = nested_log_dirs(directories)
    if log_dirs:
        return holds_log_dirs(path, log_dirs)
    variants = [d for d in directories if parse_partition(os.path.basename(d)) is not None]
    if variants:
        return LogDirError(
            "holds only directories marked -delete, -future or -stray",
            file=path,
            found=printable(os.path.basename(sorted(variants)[0])),
            remedy="Such a directory is read only if a path names it",
        )
    packed = _explain_packed(path, files)
    if packed is not None:
        return packed
    if parse_partition(os.path.basename(path)) is not None:
        return LogDirError(
            "holds no segment",
            file=path,
            expected="files such as 00000000000000000000.log; a broker keeps at least one in each partition",
            remedy="Restore the partition's segments, or give another path",
        )
    return LogDirError(
        "holds no partition",
        file=path,
        expected="directories named topic-partition, such as orders-0, with .log or .kafka segments in them",
        remedy=f"Give {_WHAT_IS_READ}",
    )


def explain_file(path: str) -> KafkaLogError:
    """The error that says why a file given by its path is not a segment."""
    name = os.path.basename(path)
    if is_redpanda_segment(name):
        return redpanda_error(path)
    log_file = parse_log_file(name)
    packing = packing_of(name)
    if log_file is not None:
        remedy = f"Give the segment beside it, {log_file.base_offset:020d}.log"
    elif packing is not None:
        remedy = unpacking_remedy(packing)
    else:
        remedy = f"Give {_WHAT_IS_READ}"
    return NotASegmentError(
        "does not have the name of a segment",
        file=path,
        expected="a name such as 00000000000000000000.log, optionally followed by .deleted, .cleaned or .swap",
        remedy=remedy,
    )


def _explain_files(path: str, files: Sequence[str]) -> KafkaLogError | None:
    named = ((name, parse_log_file(name)) for name in files)
    segments = sorted(name for name, parsed in named if parsed is not None and parsed.is_segment)
    if segments and parse_partition(os.path.basename(path)) is not None:
        return LogDirError(
            "holds no live segment",
            file=path,
            found=segments[0],
            expected="files such as 00000000000000000000.log",
            remedy="A segment marked .deleted, .cleaned or .swap is read only if a path names it",
        )
    if segments:
        return LogDirError(
            "holds segments, but its name is not that of a topic-partition directory",
            file=path,
            found=segments[0],
            expected="a name such as orders-0",
            remedy=f"Rename it, or give the segments themselves (topic and partition are then null): "
            f"{printable(os.path.join(path, '*.kafka' if segments[0].endswith('.kafka') else '*.log'))}",
        )
    for name in files:
        if is_redpanda_segment(name):
            return redpanda_error(os.path.join(path, name))
    return None


def _explain_packed(path: str, files: Sequence[str]) -> KafkaLogError | None:
    """The error that names what has to be unpacked before it can be read."""
    packed = sorted(name for name in files if packing_of(name) is not None)
    packing = packing_of(packed[0]) if packed else None
    if packing is None:
        return None
    more = f" and {len(packed) - 1} more" if len(packed) > 1 else ""
    is_partition = parse_partition(os.path.basename(path)) is not None
    return LogDirError(
        f"holds no {'segment' if is_partition else 'partition'} that can be read, but compressed files or archives",
        file=path,
        found=printable(packed[0]) + more,
        expected="files such as 00000000000000000000.log" if is_partition else _WHAT_IS_READ,
        remedy=unpacking_remedy(packing),
    )


def _explain_redpanda(path: str, directories: Sequence[str]) -> KafkaLogError | None:
    candidates = [d for d in directories if is_redpanda_directory(os.path.basename(d))]
    for directory in candidates[:_MOST_NAMED]:
        for entry in entries(directory):
            if is_redpanda_segment(entry.name):
                return redpanda_error(entry.path)
    return None
