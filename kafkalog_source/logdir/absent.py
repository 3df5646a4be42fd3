"""Records of a partition that are not in its directory: in remote storage, compressed, or gone with every segment.

A log start offset below the first segment's tells it, since without tiered storage a broker writes the log start down
only where it lies above the first segment's base offset. The checkpoint is written once a minute: if retention has
removed segments since, the leader epochs, which are cut at the log's start at once, begin at the first segment.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalog_source.errors import LogDirError, printable
from kafkalog_source.format import REMOTE_LOG_METADATA
from kafkalog_source.logdir.checkpoints import read_leader_epochs
from kafkalog_source.logdir.foreign import packed_text
from kafkalog_source.logdir.names import LEADER_EPOCH_CHECKPOINT

if TYPE_CHECKING:
    from kafkalog_source.logdir.model import PartitionLog

__all__ = ["RemotePart", "absent_segments", "remote_part"]

_INDEX_CACHE = "remote-log-index-cache"
_METADATA_PARTITIONS = 50
"""As many partitions as ``__remote_log_metadata`` has by default."""


@dataclass(frozen=True, slots=True)
class RemotePart:
    """Offsets of a partition below its first segment.

    Attributes
    ----------
    first_offset, last_offset : int
        Both are included.
    is_remote : bool
        Whether they are known to be in remote storage; otherwise their segments may be missing as well.
    is_expected : bool
        Whether the log dir says that these offsets are in the log. If nothing but the leader epochs do, the directory
        may be a part of a log that somebody has copied.
    """

    first_offset: int
    last_offset: int
    is_remote: bool
    is_expected: bool

    @property
    def text(self) -> str:
        """Where these offsets are, as a sentence without a full stop."""
        where = "are in remote storage" if self.is_remote else "are in remote storage, or their segments are missing"
        return f"offsets {self.first_offset} to {self.last_offset} {where}"


def remote_part(log: PartitionLog) -> RemotePart | None:
    """The offsets that a tiered partition has in remote storage alone; None if all are in its directory.

    Parameters
    ----------
    log : PartitionLog
        As it was listed from its first segment on.
    """
    if log.is_single_file or not log.segments:
        return None
    first_base, log_start = log.segments[0].base_offset, log.log_start_offset
    if first_base == 0 or (log_start is not None and log_start >= first_base):
        return None
    lineage_start = _lineage_start(log.path)
    if lineage_start is not None and lineage_start >= first_base:
        return None
    is_tiered = log_start == 0 or _is_tiered_broker(os.path.dirname(log.path))
    if log_start is None and (lineage_start is None or (log.has_log_starts and not is_tiered)):
        return None
    first = max(log_start or 0, lineage_start or 0)
    return RemotePart(first, first_base - 1, is_tiered and log_start is not None, is_tiered or log_start is not None)


def absent_segments(log: PartitionLog) -> str | None:
    """Say that a partition directory holds no segment, or some only compressed; None if neither is so."""
    if log.packed is not None:
        none = "" if log.segments else "holds no segment that can be read: "
        return f"{printable(log.path)}: {none}{packed_text(log.packed)}"
    if log.segments:
        return None
    return f"{printable(log.path)}: holds no segment, so that nothing of this partition is read"


def _lineage_start(path: str) -> int | None:
    """The offset that the first leader epoch of a partition begins at, None if that is not known."""
    epochs = os.path.join(path, LEADER_EPOCH_CHECKPOINT)
    # A link may lead anywhere, and no broker makes one.
    if os.path.islink(epochs):
        return None
    try:
        found = read_leader_epochs(epochs)
    except LogDirError:
        return None
    return found[0].start_offset if found else None


def _is_tiered_broker(log_dir: str) -> bool:
    """Whether what a broker with tiered storage keeps lies in a log dir."""
    names = (f"{REMOTE_LOG_METADATA}-{number}" for number in range(_METADATA_PARTITIONS))
    return any(os.path.isdir(os.path.join(log_dir, name)) for name in (_INDEX_CACHE, *names))
