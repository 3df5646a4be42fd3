"""The checksum of an entry or message: its position, the bytes that it covers, and its function.

`kafkalog_source.batch.checksum` has the same rules for Python. C functions are used where they were found, otherwise
Python functions.
"""

from libc.stdint cimport uint8_t, uint32_t

from kafkalog_source._core.bytes cimport load_u32
from kafkalog_source._core.layout cimport (
    LEGACY_CRC_OFFSET, LEGACY_MAGIC_OFFSET, V2_ATTRIBUTES_OFFSET, V2_CRC_OFFSET, V07_CRC_OFFSET_V0, V07_PAYLOAD_OFFSET_V0,
)
from kafkalog_source._core.memory cimport View
from kafkalog_source._core.native cimport CFunctions


cdef inline uint32_t stored_crc(const uint8_t* p, int magic) noexcept nogil:
    return load_u32(p + (V2_CRC_OFFSET if magic == 2 else LEGACY_CRC_OFFSET))


cdef inline Py_ssize_t covered_from(int magic) noexcept nogil:
    """The first byte that the checksum covers; it covers everything from there to the end of the entry."""
    return V2_ATTRIBUTES_OFFSET if magic == 2 else LEGACY_MAGIC_OFFSET


cdef inline bint has_right_crc(CFunctions functions, const uint8_t* p, Py_ssize_t size, int magic) noexcept nogil:
    """Whether the checksum of the entry of `size` bytes at `p` is correct. `functions` must have checksums."""
    cdef Py_ssize_t start = covered_from(magic)
    if magic == 2:
        return functions.crc32c(p + start, size - start) == stored_crc(p, magic)
    return functions.crc32(p + start, size - start) == stored_crc(p, magic)


cdef inline bint has_right_crc_by(object crc32c, object crc32, View view, const uint8_t* p, Py_ssize_t size,
                                  int magic) except -1:
    """As `has_right_crc`, by Python functions, which read through `view`."""
    cdef Py_ssize_t start = covered_from(magic)
    view.set(p + start, size - start)
    return <uint32_t>(crc32c(view) if magic == 2 else crc32(view)) == stored_crc(p, magic)


cdef inline uint32_t stored_crc_07(const uint8_t* p, int magic) noexcept nogil:
    # In magic 1, one more byte precedes it.
    return load_u32(p + V07_CRC_OFFSET_V0 + magic)


cdef inline Py_ssize_t payload_offset_07(int magic) noexcept nogil:
    """Where the payload of a message of Kafka 0.7 begins; its checksum covers only the payload."""
    return V07_PAYLOAD_OFFSET_V0 + magic


cdef inline bint has_right_crc_07(object crc32, View view, const uint8_t* p, Py_ssize_t size, int magic) except -1:
    """As `has_right_crc_by`, for the message of Kafka 0.7 at `p`; `size` includes its length field."""
    cdef Py_ssize_t start = payload_offset_07(magic)
    view.set(p + start, size - start)
    return <uint32_t>crc32(view) == stored_crc_07(p, magic)
