from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from kafkalog_source._core.columns cimport Columns, Table
from kafkalog_source._core.records cimport Batch, Wanted


cdef struct Message:
    # A v0 or v1 message; `data` points to its entry.
    const uint8_t* data
    int32_t size               # of the whole entry
    int64_t offset
    int64_t timestamp_ms
    int8_t magic
    int8_t attributes
    const uint8_t* key
    int32_t key_size           # negative: null
    const uint8_t* value
    int32_t value_size         # negative: null


cdef class Messages:
    cdef const uint8_t* data
    cdef Py_ssize_t size
    cdef Py_ssize_t left         # number of messages from `next` on
    cdef Py_ssize_t next         # position of the next message
    cdef int64_t base            # added to stored offsets to make them absolute
    cdef int64_t first_offset
    cdef int64_t last_offset     # as stored in the set
    cdef bint rising

    cdef void set_single(self, const Message* message) noexcept nogil
    cdef int read_set(self, const uint8_t* data, Py_ssize_t size, Py_ssize_t* position) noexcept nogil
    cdef bint read_next(self, Message* message) noexcept nogil


cdef int parse_message(const uint8_t* p, Py_ssize_t size, Message* message) noexcept nogil
cdef void batch_of_message(const Message* message, Batch* b) noexcept nogil
cdef int settle_offsets(Messages messages, const Batch* b, int64_t previous) noexcept nogil
cdef int put_message(const Message* message, const Batch* wrapper, const Wanted* wanted, Table* t) noexcept nogil
cdef int put_messages(Messages messages, const Batch* wrapper, const Wanted* wanted, Columns columns) noexcept nogil
