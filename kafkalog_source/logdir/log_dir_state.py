"""The contents of a log dir's checkpoints, as far as a reader needs them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kafkalog_source.errors import KafkaLogError, LogDirError, printable
from kafkalog_source.logdir.access import Root, check_readable, entries, status
from kafkalog_source.logdir.checkpoints import read_offset_checkpoint
from kafkalog_source.logdir.names import (
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LEADER_EPOCH_CHECKPOINT,
    LOG_START_CHECKPOINT,
    parse_partition,
)

__all__ = ["LogDirState", "read_state"]

_MOST_EXAMINED = 100
_FALLBACKS = {
    LOG_START_CHECKPOINT: "deleted records that are still on disk cannot be distinguished from the others",
    CLEANER_CHECKPOINT: "all partitions are treated as not compacted",
    HIGH_WATERMARK_CHECKPOINT: "the high watermarks of all partitions are unknown",
}


@dataclass(frozen=True, slots=True)
class LogDirState:
    """The contents of the checkpoints of one log dir, by topic and partition.

    Attributes
    ----------
    log_starts : mapping
        First offset that is not deleted.
    cleaned : mapping
        Offset up to which the cleaner has compacted.
    high_watermarks : mapping
        High watermark when the broker last wrote the checkpoint.
    warnings : tuple of str
        Checkpoints that are damaged and were treated as absent, or absent although a broker would have written them.
    has_log_starts : bool
        Whether a checkpoint of log start offsets exists and could be read.
    """

    log_starts: Mapping[tuple[str, int], int] = field(default_factory=dict)
    cleaned: Mapping[tuple[str, int], int] = field(default_factory=dict)
    high_watermarks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    has_log_starts: bool = True


def read_state(log_dir: str, root: Root) -> LogDirState:
    """Read the checkpoints of a log dir; a damaged one is treated as absent, with a warning."""
    warnings = list(_absent_log_starts(log_dir))
    log_starts = _read(os.path.join(log_dir, LOG_START_CHECKPOINT), root, warnings)
    cleaned = _read(os.path.join(log_dir, CLEANER_CHECKPOINT), root, warnings)
    high_watermarks = _read(os.path.join(log_dir, HIGH_WATERMARK_CHECKPOINT), root, warnings)
    return LogDirState(log_starts or {}, cleaned or {}, high_watermarks or {}, tuple(warnings), log_starts is not None)


def _absent_log_starts(log_dir: str) -> Iterator[str]:
    """Warn if the checkpoint of log start offsets is absent: deleted records then look like any other.

    Brokers have written it since the same version as leader epochs (0.11), so that older log dirs give no warning.
    The other checkpoints may well be absent, or are not needed for a read.
    """
    path = os.path.join(log_dir, LOG_START_CHECKPOINT)
    if not os.path.lexists(path) and _has_leader_epochs(log_dir):
        yield f"{printable(path)}: no such file: {_FALLBACKS[LOG_START_CHECKPOINT]}"


def _has_leader_epochs(log_dir: str) -> bool:
    partitions = (entry for entry in entries(log_dir) if parse_partition(entry.name) is not None)
    examined = itertools.islice(partitions, _MOST_EXAMINED)
    try:
        return any(os.path.exists(os.path.join(entry.path, LEADER_EPOCH_CHECKPOINT)) for entry in examined)
    except LogDirError:
        # A log dir may grant permission to enter but not to list it; its partitions can still be read by path.
        return False


def _read(path: str, root: Root, warnings: list[str]) -> dict[tuple[str, int], int] | None:
    """Read a checkpoint; None if it is absent or damaged."""
    if not os.path.lexists(path):
        return None
    if os.path.islink(path):
        root.admit(path)
    # A user can grant a missing permission, but often cannot repair a damaged file: only the first is an error.
    check_readable(path, status(path).st_mode)
    try:
        return read_offset_checkpoint(path)
    except KafkaLogError as error:
        fallback = _FALLBACKS[os.path.basename(path)]
        warnings.append(f"{error}. It is treated as absent: {fallback}")
        return None
