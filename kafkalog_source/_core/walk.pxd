from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

from kafkalog_source._core.layout cimport CODEC_LZ4, CODEC_MASK, CODEC_ZSTD
from kafkalog_source._core.native cimport CFunctions


cdef struct Entry:
    # A v2 batch or a top-level v0 or v1 entry; `start` is relative to the window, `size` includes the header.
    Py_ssize_t start
    Py_ssize_t size
    int64_t first_offset    # v2: base offset; v0, v1: its own, which for a wrapper is that of the last record
    int64_t last_offset
    int64_t previous        # the last offset before this entry
    int8_t magic
    int8_t attributes
    # Set by the decoder before it appends rows:
    bint checked            # the CRC has been verified, or need not be
    bint sound              # it is correct, or was not verified
    bint skipped            # it gives no rows
    bint at_once            # it can be decoded without Python
    int payload             # the number of its decompressed payload, or -1


cdef inline bint codec_exists(const Entry* e) noexcept nogil:
    # zstd came with v2 and is not legal in v0 and v1 (AbstractLegacyRecordBatch).
    return (e.attributes & CODEC_MASK) <= (CODEC_ZSTD if e.magic == 2 else CODEC_LZ4)


cdef class Entries:
    cdef Entry* items
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t capacity
    cdef readonly Py_ssize_t walked       # position of the next entry in the window
    cdef readonly Py_ssize_t next_size    # bytes of the entry at `walked` that have to be in the window
    cdef Py_ssize_t reach                 # every entry ends by here, counted from the window's first byte
    cdef readonly int64_t last_offset     # of the last entry, in this window or before; least - 1 before the first
    cdef readonly int64_t least           # the file's base offset
    cdef readonly int64_t bound           # the next file's base offset
    cdef readonly int64_t stop            # reading stops at the first entry at or above this offset

    cdef bint push(self, const Entry* entry) noexcept nogil
    cdef Py_ssize_t needed_of(self, const Entry* entry, Py_ssize_t there) noexcept nogil
    cdef int walk_window(self, const uint8_t* data, Py_ssize_t size) noexcept nogil


cdef class EntryFinder:
    cdef CFunctions functions
    cdef Py_ssize_t largest
    cdef public Py_ssize_t left

    cdef bint is_right(self, const uint8_t* p, const Entry* e, Py_ssize_t there) noexcept nogil


cdef int parse_header(const uint8_t* p, Py_ssize_t left, Entry* entry) noexcept nogil
