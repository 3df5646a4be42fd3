"""The id of a partition's topic, by the file that its directory has for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kafkalog_source.logdir.checkpoints import encoded_topic_id, read_topic_id
from kafkalog_source.logdir.names import PARTITION_METADATA

if TYPE_CHECKING:
    from kafkalog_source.logdir.model import PartitionLog

__all__ = ["topic_id_of"]


def topic_id_of(log: PartitionLog) -> str | None:
    """Return the topic's id as Kafka's own tools show it; None if the partition has no ``partition.metadata``.

    Raises
    ------
    LogDirError
        If the file is unreadable or malformed.
    """
    path = os.path.join(log.path, PARTITION_METADATA)
    # Links are not followed: an id is not worth reading a file outside of the given paths.
    if log.is_single_file or os.path.islink(path) or not os.path.exists(path):
        return None
    return encoded_topic_id(read_topic_id(path))
