"""Records of a partition that are not in its directory: in remote storage, compressed, or missing with all segments.

A log start offset below the first segment's base offset shows it, since without tiered storage a broker writes the
log start only if it is above that base offset. The checkpoint is written once a minute: if retention has removed
segments since, the leader epochs, which are truncated at the log start at once, begin at the first segment.
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
"""The default number of partitions of ``__remote_log_metadata``."""


@dataclass(frozen=True, slots=True)
class RemotePart:
    """Offsets of a partition below its first segment.

    Attributes
    ----------
    first_offset, last_offset : int
        Both inclusive.
    is_remote : bool
        Whether they are known to be in remote storage; otherwise their segments may instead be missing.
    is_expected : bool
        Whether the log dir shows that these offsets are in the log. If only the leader epochs show it, the directory
        may be a partial copy of a log.
    """

    first_offset: int
    last_offset: int
    is_remote: bool
    is_expected: bool

    @property
    def text(self) -> str:
        """A sentence, without a full stop, that says where these offsets are."""
        where = "are in remote storage" if self.is_remote else "are in remote storage, or their segments are missing"
        return f"offsets {self.first_offset} to {self.last_offset} {where}"


def remote_part(log: PartitionLog) -> RemotePart | None:
    """The offsets that a tiered partition has only in remote storage; None if all are in its directory.

    Parameters
    ----------
    log : PartitionLog
        Listed from its first segment on.
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
    """Report that a partition directory holds no segment, or some only compressed; None if neither is the case."""
    if log.packed is not None:
        none = "" if log.segments else "holds no segment that can be read: "
        return f"{printable(log.path)}: {none}{packed_text(log.packed)}"
    if log.segments:
        return None
    return f"{printable(log.path)}: holds no segment; nothing of this partition is read"


def _lineage_start(path: str) -> int | None:
    """The start offset of a partition's first leader epoch, None if unknown."""
    epochs = os.path.join(path, LEADER_EPOCH_CHECKPOINT)
    # A link may lead anywhere, and a broker never creates one.
    if os.path.islink(epochs):
        return None
    try:
        found = read_leader_epochs(epochs)
    except LogDirError:
        return None
    return found[0].start_offset if found else None


def _is_tiered_broker(log_dir: str) -> bool:
    """Whether a log dir holds directories that only a broker with tiered storage keeps."""
    names = (f"{REMOTE_LOG_METADATA}-{number}" for number in range(_METADATA_PARTITIONS))
    return any(os.path.isdir(os.path.join(log_dir, name)) for name in (_INDEX_CACHE, *names))
