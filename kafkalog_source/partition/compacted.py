"""`compacted_up_to`: the offset up to which a broker has compacted each partition."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from kafkalog_source.errors import KafkaLogError
from kafkalog_source.logdir import PartitionLog, list_logs
from kafkalog_source.logdir.checkpoints import read_offset_checkpoint
from kafkalog_source.logdir.names import CLEANER_CHECKPOINT
from kafkalog_source.options.read_options import parse_options

__all__ = ["compacted_up_to"]


def compacted_up_to(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], /, **options: Any
) -> dict[tuple[str, int], int | None]:
    """Look up the offset up to which the log cleaner has compacted each partition; no segment is read.

    Below that offset only the latest record of each key is left.

    Parameters
    ----------
    path : str, path or sequence of these
        As for `scan`.
    **options
        Options of a read. Only those that choose topics and partitions have an effect.

    Returns
    -------
    dict
        By topic and partition: the first offset that is not compacted, 0 if the log dir's
        ``cleaner-offset-checkpoint`` does not list the partition, and None if that file is absent or damaged.
        Segments outside any ``topic-partition`` directory are left out.

    Raises
    ------
    OptionError
        If an option is unknown or malformed.
    LogDirError
        If a path is missing, unreadable or holds no Kafka log.

    Examples
    --------
    >>> compacted_up_to("/backup/kafka-logs", subscribe="users")  # doctest: +SKIP
    {('users', 0): 12044}
    """
    read = parse_options(options, path)
    checkpoints: dict[str, Mapping[tuple[str, int], int] | None] = {}
    found: dict[tuple[str, int], int | None] = {}
    for log in list_logs(read.paths, wanted=read.wants, follow_symlinks=read.follow_symlinks).partitions:
        if log.topic is None or log.partition is None:
            continue
        log_dir = _log_dir(log)
        if log_dir not in checkpoints:
            checkpoints[log_dir] = _checkpoint(log_dir)
        known = checkpoints[log_dir]
        found[log.topic, log.partition] = None if known is None else known.get((log.topic, log.partition), 0)
    return found


def _log_dir(log: PartitionLog) -> str:
    return os.path.dirname(os.path.dirname(log.path) if log.is_single_file else log.path)


def _checkpoint(log_dir: str) -> Mapping[tuple[str, int], int] | None:
    try:
        return read_offset_checkpoint(os.path.join(log_dir, CLEANER_CHECKPOINT))
    except KafkaLogError:
        # A read of the same paths warns of a damaged checkpoint.
        return None
