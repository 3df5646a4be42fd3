"""What the bytes mean: the constants, enumerations and file names of Kafka's log.

No input or output happens here. The facts are those of Apache Kafka's
``common.record`` classes (``DefaultRecordBatch``, ``LegacyRecord``, ``Records``)
and of ``storage.internals.log`` (``LogFileUtils``), version 4.0 unless a line
says otherwise.
"""

from __future__ import annotations

import enum
import struct

# Every position counts from the first byte of its entry: a batch, a message, or a compressed message that holds others.
# Names are Kafka's own, after V2_ those of ``DefaultRecordBatch`` and after LEGACY_ those of ``LegacyRecord``, whose
# numbers count from the checksum on. `_core/layout.pxd` says the same to compiled code.

MAX_OFFSET = 2**63 - 1
"""The largest offset, and as a bound: none."""
NO_TIMESTAMP = -1
"""``RecordBatch.NO_TIMESTAMP``: the record carries no time."""

# Every entry of v0 to v2 (``Records``).
OFFSET_OFFSET = 0
SIZE_OFFSET = 8
"""Where the length of what follows it stands."""
LOG_OVERHEAD = 12
"""Bytes of offset and length before every entry."""
MAGIC_OFFSET = 16
"""Where every format keeps its magic byte."""
HEADER_SIZE_UP_TO_MAGIC = 17

# A batch of v2 (``DefaultRecordBatch``).
V2_PARTITION_LEADER_EPOCH_OFFSET = 12
V2_CRC_OFFSET = 17
V2_ATTRIBUTES_OFFSET = 21
"""Of two bytes, and the first that the checksum covers."""
V2_FLAGS_OFFSET = 22
"""The lower byte of the attributes, in which all flags are."""
V2_LAST_OFFSET_DELTA_OFFSET = 23
V2_BASE_TIMESTAMP_OFFSET = 27
V2_MAX_TIMESTAMP_OFFSET = 35
V2_PRODUCER_ID_OFFSET = 43
V2_PRODUCER_EPOCH_OFFSET = 51
V2_BASE_SEQUENCE_OFFSET = 53
V2_RECORDS_COUNT_OFFSET = 57
V2_HEADER_SIZE = 61
"""Bytes of a batch before its records (``RECORD_BATCH_OVERHEAD``)."""
V2_MIN_LENGTH = V2_HEADER_SIZE - LOG_OVERHEAD
V2_MIN_RECORD_SIZE = 7
"""Length, attributes, two deltas, two null fields and a header count, a byte each."""

# A message of v0 or v1 (``LegacyRecord``).
LEGACY_CRC_OFFSET = 12
LEGACY_MAGIC_OFFSET = MAGIC_OFFSET
"""The first byte that the checksum covers."""
LEGACY_ATTRIBUTES_OFFSET = 17
LEGACY_TIMESTAMP_OFFSET = 18
"""In v1 alone."""
LEGACY_KEY_SIZE_OFFSET_V0 = 18
LEGACY_KEY_SIZE_OFFSET_V1 = 26
V0_MIN_LENGTH = 14
"""Smallest v0 message: crc, magic, attributes and two lengths (``RECORD_OVERHEAD_V0``)."""
V1_MIN_LENGTH = 22
"""Smallest v1 message: v0's and the timestamp (``RECORD_OVERHEAD_V1``)."""

# Bits of the attributes.
CODEC_MASK = 0x07
"""``COMPRESSION_CODEC_MASK``."""
TIMESTAMP_TYPE_MASK = 0x08
"""From v1 on."""
TRANSACTIONAL_FLAG = 0x10
"""This and what follows: in v2 alone."""
CONTROL_FLAG = 0x20
DELETE_HORIZON_FLAG = 0x40
"""A delete horizon stands in the place of the base timestamp."""

# The key of a control record (``ControlRecordType``), and the value of one that ends a transaction
# (``EndTransactionMarker``). Both begin with a version of two bytes.
CONTROL_TYPE_OFFSET = 2
CONTROL_KEY_SIZE = 4
COORDINATOR_EPOCH_OFFSET = 2
END_MARKER_VALUE_SIZE = 6

# A message of Kafka 0.7 (``Message.scala``): length, magic, with magic 1 the attributes, checksum, payload.
V07_LENGTH_OFFSET = 0
V07_MAGIC_OFFSET = 4
"""Also the bytes before what the length counts."""
V07_ATTRIBUTES_OFFSET = 5
V07_CRC_OFFSET_V0 = 5
V07_CRC_OFFSET_V1 = 6
V07_PAYLOAD_OFFSET_V0 = 9
"""The first byte that the checksum covers; here the smallest message ends."""
V07_PAYLOAD_OFFSET_V1 = 10
V07_MIN_LENGTH = V07_PAYLOAD_OFFSET_V0 - V07_MAGIC_OFFSET
V07_CODEC_MASK = 0x03
V07_NEWEST_CODEC = 2
"""gzip and snappy are all that 0.7 knows."""

# The files beside a segment, whose entries are all of one size.
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
"""Producer id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, start of the open
transaction."""
SNAPSHOT_VERSION = 1


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
