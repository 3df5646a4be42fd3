"""The format of Kafka's log: constants, enumerations and topic names.

There is no input or output here. The source is Apache Kafka's ``common.record``
classes (``DefaultRecordBatch``, ``LegacyRecord``, ``Records``) and
``storage.internals.log`` (``LogFileUtils``), version 4.0 unless noted otherwise.
"""

from __future__ import annotations

import enum
import re
import struct

# All positions are relative to the first byte of the entry: a batch, a message, or a compressed message (wrapper).
# Names are Kafka's, with the prefix V2_ for ``DefaultRecordBatch`` and LEGACY_ for ``LegacyRecord``, which counts from
# the checksum instead. `_core/layout.pxd` has the same constants for compiled code.

MAX_OFFSET = 2**63 - 1
"""The largest offset; as a bound, no bound."""
NO_TIMESTAMP = -1
"""``RecordBatch.NO_TIMESTAMP``: the record has no timestamp."""

# All entries of v0 to v2 (``Records``).
OFFSET_OFFSET = 0
SIZE_OFFSET = 8
"""The position of the length, which counts the bytes after it."""
LOG_OVERHEAD = 12
"""The size of the offset and the length of every entry."""
MAGIC_OFFSET = 16
"""The position of the magic byte in all formats."""
HEADER_SIZE_UP_TO_MAGIC = 17

# A batch of v2 (``DefaultRecordBatch``).
V2_PARTITION_LEADER_EPOCH_OFFSET = 12
V2_CRC_OFFSET = 17
V2_ATTRIBUTES_OFFSET = 21
"""Two bytes; the first byte that the checksum covers."""
V2_FLAGS_OFFSET = 22
"""The lower byte of the attributes, which contains all flags."""
V2_LAST_OFFSET_DELTA_OFFSET = 23
V2_BASE_TIMESTAMP_OFFSET = 27
V2_MAX_TIMESTAMP_OFFSET = 35
V2_PRODUCER_ID_OFFSET = 43
V2_PRODUCER_EPOCH_OFFSET = 51
V2_BASE_SEQUENCE_OFFSET = 53
V2_RECORDS_COUNT_OFFSET = 57
V2_HEADER_SIZE = 61
"""The size of a batch before its records (``RECORD_BATCH_OVERHEAD``)."""
V2_MIN_LENGTH = V2_HEADER_SIZE - LOG_OVERHEAD
V2_MIN_RECORD_SIZE = 7
"""Length, attributes, two deltas, two null fields and a header count, one byte each."""

# A message of v0 or v1 (``LegacyRecord``).
LEGACY_CRC_OFFSET = 12
LEGACY_MAGIC_OFFSET = MAGIC_OFFSET
"""The first byte that the checksum covers."""
LEGACY_ATTRIBUTES_OFFSET = 17
LEGACY_TIMESTAMP_OFFSET = 18
"""Only in v1."""
LEGACY_KEY_SIZE_OFFSET_V0 = 18
LEGACY_KEY_SIZE_OFFSET_V1 = 26
V0_MIN_LENGTH = 14
"""The smallest v0 message: crc, magic, attributes and two lengths (``RECORD_OVERHEAD_V0``)."""
V1_MIN_LENGTH = 22
"""The smallest v1 message: as v0, and the timestamp (``RECORD_OVERHEAD_V1``)."""

# Bits of the attributes.
CODEC_MASK = 0x07
"""``COMPRESSION_CODEC_MASK``."""
TIMESTAMP_TYPE_MASK = 0x08
"""From v1 on."""
TRANSACTIONAL_FLAG = 0x10
"""This and the following flags: only in v2."""
CONTROL_FLAG = 0x20
DELETE_HORIZON_FLAG = 0x40
"""The base timestamp field contains a delete horizon."""

# The key of a control record (``ControlRecordType``), and the value of one that ends a transaction
# (``EndTransactionMarker``). Both begin with a version of two bytes.
CONTROL_TYPE_OFFSET = 2
CONTROL_KEY_SIZE = 4
COORDINATOR_EPOCH_OFFSET = 2
END_MARKER_VALUE_SIZE = 6

# A message of Kafka 0.7 (``Message.scala``): length, magic, with magic 1 the attributes, checksum, payload.
V07_LENGTH_OFFSET = 0
V07_MAGIC_OFFSET = 4
"""Also the number of bytes that the length does not count."""
V07_ATTRIBUTES_OFFSET = 5
V07_CRC_OFFSET_V0 = 5
V07_CRC_OFFSET_V1 = 6
V07_PAYLOAD_OFFSET_V0 = 9
"""The first byte that the checksum covers; also the size of the smallest message."""
V07_PAYLOAD_OFFSET_V1 = 10
V07_MIN_LENGTH = V07_PAYLOAD_OFFSET_V0 - V07_MAGIC_OFFSET
V07_CODEC_MASK = 0x03
V07_NEWEST_CODEC = 2
"""0.7 supports only gzip and snappy."""

# The files beside a segment, which have entries of fixed size.
OFFSET_INDEX_ENTRY = struct.Struct(">ii")
"""Relative offset, position (``OffsetIndex``)."""
TIME_INDEX_ENTRY = struct.Struct(">qi")
"""Timestamp, relative offset (``TimeIndex``)."""
TXN_INDEX_ENTRY = struct.Struct(">hqqqq")
"""Version, producer id, first offset, last offset, last stable offset (``AbortedTxn``)."""
TXN_INDEX_VERSION = 0
SNAPSHOT_HEADER = struct.Struct(">hIi")
"""Version, checksum, number of producers (``ProducerStateManager``)."""
SNAPSHOT_CHECKED_FROM = 6
"""The first byte that the checksum covers, a CRC-32C."""
SNAPSHOT_ENTRY = struct.Struct(">qhiqiqiq")
"""Producer id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, first offset of the open
transaction."""
SNAPSHOT_VERSION = 1


class FormatVersion(enum.Enum):
    """The record formats. Kafka 0.7 uses magic 0 and 1 with a different meaning."""

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
"""The outcomes of a transaction. The core numbers them from 1; 0 is no transaction."""


class TimestampType(enum.IntEnum):
    """The kind of a record's timestamp (``TimestampType``)."""

    NO_TIMESTAMP_TYPE = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class ControlType(enum.IntEnum):
    """Types of control records, the second int16 of the key (``ControlRecordType``); UNKNOWN stands for any other."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6
    UNKNOWN = 7


METADATA_BOOTSTRAP = "bootstrap.checkpoint"
"""In a log dir: the metadata records that it was formatted with (``BootstrapDirectory``)."""
METADATA_SNAPSHOT = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
"""In the metadata log: a snapshot, by the offset that it ends at and the leader epoch (``Snapshots``)."""
REMOTE_LOG_METADATA = "__remote_log_metadata"
"""The topic where Kafka's tiered storage records the segments in remote storage; Kafka treats it as a user topic."""

INTERNAL_TOPICS = frozenset(
    {
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
        "__cluster_metadata",
        REMOTE_LOG_METADATA,
    }
)
