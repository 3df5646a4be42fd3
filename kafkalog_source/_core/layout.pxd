"""The constants of `kafkalog_source.format` for compiled code, under the same names; a test compares them.

The C compiler treats members of an enumeration as constants, unlike a `cdef int`.
"""

from libc.stdint cimport int64_t


cdef extern from "<stdint.h>" nogil:
    # Not a member of an enumeration, which need not be able to hold this value.
    const int64_t MAX_OFFSET "INT64_MAX"


cdef enum:
    NO_TIMESTAMP = -1


cdef enum:
    # All entries of v0 to v2.
    OFFSET_OFFSET = 0
    SIZE_OFFSET = 8
    LOG_OVERHEAD = 12
    MAGIC_OFFSET = 16
    HEADER_SIZE_UP_TO_MAGIC = 17


cdef enum:
    # A batch of v2.
    V2_PARTITION_LEADER_EPOCH_OFFSET = 12
    V2_CRC_OFFSET = 17
    V2_ATTRIBUTES_OFFSET = 21
    V2_FLAGS_OFFSET = 22
    V2_LAST_OFFSET_DELTA_OFFSET = 23
    V2_BASE_TIMESTAMP_OFFSET = 27
    V2_MAX_TIMESTAMP_OFFSET = 35
    V2_PRODUCER_ID_OFFSET = 43
    V2_PRODUCER_EPOCH_OFFSET = 51
    V2_BASE_SEQUENCE_OFFSET = 53
    V2_RECORDS_COUNT_OFFSET = 57
    V2_HEADER_SIZE = 61
    V2_MIN_LENGTH = 49
    V2_MIN_RECORD_SIZE = 7


cdef enum:
    # A message of v0 or v1.
    LEGACY_CRC_OFFSET = 12
    LEGACY_MAGIC_OFFSET = 16
    LEGACY_ATTRIBUTES_OFFSET = 17
    LEGACY_TIMESTAMP_OFFSET = 18
    LEGACY_KEY_SIZE_OFFSET_V0 = 18
    LEGACY_KEY_SIZE_OFFSET_V1 = 26
    V0_MIN_LENGTH = 14
    V1_MIN_LENGTH = 22


cdef enum:
    # Bits of the attributes.
    CODEC_MASK = 0x07
    TIMESTAMP_TYPE_MASK = 0x08
    TRANSACTIONAL_FLAG = 0x10
    CONTROL_FLAG = 0x20
    DELETE_HORIZON_FLAG = 0x40


cdef enum:
    # `format.Codec`.
    CODEC_NONE = 0
    CODEC_GZIP = 1
    CODEC_SNAPPY = 2
    CODEC_LZ4 = 3
    CODEC_ZSTD = 4


cdef enum:
    # `format.TimestampType`.
    NO_TIMESTAMP_TYPE = -1
    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


cdef enum:
    # `format.ControlType`.
    CONTROL_ABORT = 0
    CONTROL_COMMIT = 1
    CONTROL_LEADER_CHANGE = 2
    CONTROL_SNAPSHOT_HEADER = 3
    CONTROL_SNAPSHOT_FOOTER = 4
    CONTROL_KRAFT_VERSION = 5
    CONTROL_KRAFT_VOTERS = 6
    CONTROL_UNKNOWN = 7


cdef enum:
    # The key of a control record, and the value of one that ends a transaction.
    CONTROL_TYPE_OFFSET = 2
    CONTROL_KEY_SIZE = 4
    COORDINATOR_EPOCH_OFFSET = 2
    END_MARKER_VALUE_SIZE = 6


cdef enum:
    # A message of Kafka 0.7.
    V07_LENGTH_OFFSET = 0
    V07_MAGIC_OFFSET = 4
    V07_ATTRIBUTES_OFFSET = 5
    V07_CRC_OFFSET_V0 = 5
    V07_CRC_OFFSET_V1 = 6
    V07_PAYLOAD_OFFSET_V0 = 9
    V07_PAYLOAD_OFFSET_V1 = 10
    V07_MIN_LENGTH = 5
    V07_CODEC_MASK = 0x03
    V07_NEWEST_CODEC = 2
