"""What a log dir's checkpoints say that a reader has to know."""

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

_MOST_LOOKED_AT = 100
_FALLBACKS = {
    LOG_START_CHECKPOINT: "records that were deleted and are still on disk are not told from the others",
    CLEANER_CHECKPOINT: "no partition counts as compacted",
    HIGH_WATERMARK_CHECKPOINT: "no partition's high watermark is known",
}


@dataclass(frozen=True, slots=True)
class LogDirState:
    """What the checkpoints of one log dir say, by topic and partition.

    Attributes
    ----------
    log_starts : mapping
        First offset that is not deleted.
    cleaned : mapping
        Offset up to which the cleaner has compacted.
    high_watermarks : mapping
        Offset up to which every replica had the log when the broker last wrote it down.
    warnings : tuple of str
        Checkpoints that are damaged and were read as if they were absent, or absent where a broker would have them.
    has_log_starts : bool
        Whether there is a checkpoint of log start offsets and it could be read.
    """

    log_starts: Mapping[tuple[str, int], int] = field(default_factory=dict)
    cleaned: Mapping[tuple[str, int], int] = field(default_factory=dict)
    high_watermarks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    has_log_starts: bool = True


def read_state(log_dir: str, root: Root) -> LogDirState:
    """Read the checkpoints of a log dir; one that is damaged counts as absent and gives a warning."""
    warnings = list(_absent_log_starts(log_dir))
    log_starts = _read(os.path.join(log_dir, LOG_START_CHECKPOINT), root, warnings)
    cleaned = _read(os.path.join(log_dir, CLEANER_CHECKPOINT), root, warnings)
    high_watermarks = _read(os.path.join(log_dir, HIGH_WATERMARK_CHECKPOINT), root, warnings)
    return LogDirState(log_starts or {}, cleaned or {}, high_watermarks or {}, tuple(warnings), log_starts is not None)


def _absent_log_starts(log_dir: str) -> Iterator[str]:
    """Warn where there are no log start offsets: without them deleted records look like any other.

    Brokers have written them as long as they have written the epochs of leaders (0.11), so that older log dirs give
    no warning. Of the other checkpoints one may well have none, or nobody asks for it.
    """
    path = os.path.join(log_dir, LOG_START_CHECKPOINT)
    if not os.path.lexists(path) and _has_leader_epochs(log_dir):
        yield f"{printable(path)}: there is no such file: {_FALLBACKS[LOG_START_CHECKPOINT]}"


def _has_leader_epochs(log_dir: str) -> bool:
    partitions = (entry for entry in entries(log_dir) if parse_partition(entry.name) is not None)
    looked_at = itertools.islice(partitions, _MOST_LOOKED_AT)
    try:
        return any(os.path.exists(os.path.join(entry.path, LEADER_EPOCH_CHECKPOINT)) for entry in looked_at)
    except LogDirError:
        # One may be allowed to enter a directory and not to list it; its partitions can be read.
        return False


def _read(path: str, root: Root, warnings: list[str]) -> dict[tuple[str, int], int] | None:
    """What a checkpoint says; None if it is absent or damaged."""
    if not os.path.lexists(path):
        return None
    if os.path.islink(path):
        root.admit(path)
    # A file that may not be read is the user's to mend; a damaged one often is not.
    check_readable(path, status(path).st_mode)
    try:
        return read_offset_checkpoint(path)
    except KafkaLogError as error:
        fallback = _FALLBACKS[os.path.basename(path)]
        warnings.append(f"{error}. It is read as if it were absent: {fallback}")
        return None
