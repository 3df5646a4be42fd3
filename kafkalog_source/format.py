"""What the bytes mean: the constants, enumerations and file names of Kafka's log.

No input or output happens here. The facts are those of Apache Kafka's
``common.record`` classes (``DefaultRecordBatch``, ``LegacyRecord``, ``Records``)
and of ``storage.internals.log`` (``LogFileUtils``), version 4.0 unless a line
says otherwise.
"""

from __future__ import annotations

import enum

LOG_OVERHEAD = 12
"""Bytes of offset and length before every entry (``Records.LOG_OVERHEAD``)."""
MAGIC_POSITION = 16
"""Where every format keeps its magic byte, counted from the entry's start (``Records.MAGIC_OFFSET``)."""
V2_HEADER_SIZE = 61
"""Bytes of a v2 batch before its records (``DefaultRecordBatch.RECORD_BATCH_OVERHEAD``)."""
V2_MIN_LENGTH = V2_HEADER_SIZE - LOG_OVERHEAD
V0_MIN_LENGTH = 14
"""Smallest v0 message: crc, magic, attributes and two lengths (``LegacyRecord.RECORD_OVERHEAD_V0``)."""
V1_MIN_LENGTH = 22
"""Smallest v1 message: v0's and the timestamp (``LegacyRecord.RECORD_OVERHEAD_V1``)."""
NO_TIMESTAMP = -1
"""``RecordBatch.NO_TIMESTAMP``: the record carries no time."""


class FormatVersion(enum.Enum):
    """The record formats. Kafka 0.7 also writes magic 0 and 1 and means something else."""

    V07 = "0.7"
    V0 = "v0"
    V1 = "v1"
    V2 = "v2"


class Codec(enum.IntEnum):
    """Compression, the low three bits of the attributes (``CompressionType``)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


CODEC_NAMES = ("none", "gzip", "snappy", "lz4", "zstd")

TRANSACTION_STATES = ("committed", "aborted", "open")
"""What may have become of a transaction. The core numbers them from 1 on; 0 is no transaction."""


class TimestampType(enum.IntEnum):
    """Who set the record's time (``TimestampType``)."""

    NO_TIMESTAMP_TYPE = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class ControlType(enum.IntEnum):
    """Kinds of control record, the second int16 of its key (``ControlRecordType``; UNKNOWN stands for any other)."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6
    UNKNOWN = 7


REMOTE_LOG_METADATA = "__remote_log_metadata"
"""Where the usual manager of tiered storage notes which segments are in remote storage; a user's topic to Kafka."""

INTERNAL_TOPICS = frozenset(
    {
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
        "__cluster_metadata",
        REMOTE_LOG_METADATA,
    }
)
