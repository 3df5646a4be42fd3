"""The names that a broker gives to directories and files, and their meaning.

Names are parsed strictly, because a wrong guess would put records under the
wrong topic. The file system is not accessed.
Sources: Kafka's ``Topic``, ``LocalLog.parseTopicPartitionName``, ``LogFileUtils``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafkalog_source.format import MAX_OFFSET

__all__ = [
    "CHECKPOINT_NAMES",
    "CLEANER_CHECKPOINT",
    "CLEAN_SHUTDOWN",
    "HIGH_WATERMARK_CHECKPOINT",
    "LEADER_EPOCH_CHECKPOINT",
    "LOG_START_CHECKPOINT",
    "META_PROPERTIES",
    "PARTITION_METADATA",
    "QUORUM_STATE",
    "VARIANTS",
    "LogFileName",
    "PartitionName",
    "TopicPartition",
    "is_redpanda_directory",
    "is_redpanda_segment",
    "is_topic_name",
    "parse_log_file",
    "parse_partition",
]

TopicPartition = tuple[str, int]
VARIANTS = ("delete", "future", "stray")
"""Suffixes of partition directories that are not part of the log dir's live data."""

HIGH_WATERMARK_CHECKPOINT = "replication-offset-checkpoint"
LOG_START_CHECKPOINT = "log-start-offset-checkpoint"
CLEANER_CHECKPOINT = "cleaner-offset-checkpoint"
META_PROPERTIES, CLEAN_SHUTDOWN = "meta.properties", ".kafka_cleanshutdown"
PARTITION_METADATA, QUORUM_STATE = "partition.metadata", "quorum-state"
LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
CHECKPOINT_NAMES = frozenset(
    {
        LOG_START_CHECKPOINT,
        CLEANER_CHECKPOINT,
        "recovery-point-offset-checkpoint",
        "replication-offset-checkpoint",
    }
)
"""Checkpoints that a broker keeps in the log dir itself, next to the partition directories."""

_MAX_PARTITION = 2**31 - 1
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
# A broker writes "%s-%d": no sign, no leading zero, only ASCII digits.
_PARTITION = re.compile(r"0|[1-9][0-9]{0,9}")
_VARIANT = re.compile(r"(.+)\.[0-9a-f]{32}-(delete|future|stray)")
# Kafka 0.7 had no side files, and deleted segments without renaming them first.
_LOG_FILE = re.compile(r"([0-9]{20})\.(?:(log|index|timeindex|txnindex|snapshot)(?:\.(deleted|cleaned|swap))?|(kafka))")
_REDPANDA_SEGMENT = re.compile(r"[0-9]+-[0-9]+-v[0-9]+\.log")
_REDPANDA_DIRECTORY = re.compile(r"[0-9]+_[0-9]+")


class PartitionName(NamedTuple):
    """The parts of a partition directory's name.

    Attributes
    ----------
    topic : str
        The topic. In ``-delete`` and ``-stray`` directories a broker truncates a long one.
    partition : int
        The partition.
    variant : str or None
        One of `VARIANTS`, or None for a live partition.
    """

    topic: str
    partition: int
    variant: str | None


class LogFileName(NamedTuple):
    """The parts of the name of a file in a partition directory.

    Attributes
    ----------
    base_offset : int
        The number in the name.
    kind : str
        ``log``, ``index``, ``timeindex``, ``txnindex`` or ``snapshot``; ``kafka`` is a segment of Kafka 0.7.
    state : str or None
        ``deleted``, ``cleaned`` or ``swap``, or None for a plain name.
    """

    base_offset: int
    kind: str
    state: str | None

    @property
    def is_segment(self) -> bool:
        """Whether it is a segment and not a side file."""
        return self.kind in ("log", "kafka")


def is_topic_name(name: str) -> bool:
    """Whether a broker accepts this as a topic's name."""
    return name not in (".", "..") and _TOPIC.fullmatch(name) is not None


def parse_partition(name: str) -> PartitionName | None:
    """Parse a directory's name as ``topic-N`` or ``topic-N.<32 hex digits>-<variant>``.

    The partition follows the last dash, since a topic may contain dashes and digits.

    Returns
    -------
    PartitionName or None
        None if a broker would not have given this name to a partition.
    """
    variant = _VARIANT.fullmatch(name)
    stem = name if variant is None else variant[1]
    topic, dash, number = stem.rpartition("-")
    if not dash or not is_topic_name(topic) or _PARTITION.fullmatch(number) is None:
        return None
    partition = int(number)
    if partition > _MAX_PARTITION:
        return None
    return PartitionName(topic, partition, None if variant is None else variant[2])


def parse_log_file(name: str) -> LogFileName | None:
    """Parse the name of a segment or one of its side files, live or not.

    Returns
    -------
    LogFileName or None
        None for any other name, and for a number that exceeds an int64.
    """
    match = _LOG_FILE.fullmatch(name)
    if match is None:
        return None
    base_offset = int(match[1])
    return LogFileName(base_offset, match[2] or match[4], match[3]) if base_offset <= MAX_OFFSET else None


def is_redpanda_segment(name: str) -> bool:
    """Whether this is the name of a Redpanda segment: base offset, term, version."""
    return _REDPANDA_SEGMENT.fullmatch(name) is not None


def is_redpanda_directory(name: str) -> bool:
    """Whether this may be a Redpanda partition directory: partition and revision."""
    return _REDPANDA_DIRECTORY.fullmatch(name) is not None
