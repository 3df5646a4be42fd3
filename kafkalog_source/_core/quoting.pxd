from libc.stdint cimport int64_t, uint8_t

from kafkalog_source._core.output cimport Output


cdef enum Written:
    # Of a value: it was written, it is not text and nothing was written, or there is no memory.
    WRITTEN
    NOT_TEXT
    OUT_OF_MEMORY


cdef Written write_text(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil
cdef Written write_quoted(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil
cdef Written write_printable(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil
cdef Written write_header_name(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil
cdef bint write_base64(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil
cdef bint write_time(Output* o, int64_t timestamp_us) noexcept nogil
