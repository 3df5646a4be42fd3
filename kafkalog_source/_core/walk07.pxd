from libc.stdint cimport int64_t, uint8_t

from kafkalog_source._core.walk cimport Entries, Entry


cdef class Entries07(Entries):
    cdef public int64_t origin  # the offset of the window's first byte

    cdef int walk_window(self, const uint8_t* data, Py_ssize_t size) noexcept nogil


cdef int parse_header_07(const uint8_t* p, Py_ssize_t left, Entry* entry) noexcept nogil
