from libc.stdint cimport int32_t, int64_t, uint8_t

from kafkalog_source._core.columns cimport Columns
from kafkalog_source._core.memory cimport Scratch, View
from kafkalog_source._core.records cimport Batch, Wanted
from kafkalog_source._core.walk cimport Entry


cdef struct Message07:
    # The whole message with its length field, so `size` may exceed an int32.
    const uint8_t* data
    Py_ssize_t size


cdef struct Set07:
    # A decompressed message set and the position reached in it.
    const uint8_t* data
    Py_ssize_t pos
    Py_ssize_t end


cdef class Messages07:
    cdef Message07* items
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t capacity

    cdef void clear(self) noexcept nogil
    cdef bint push(self, const uint8_t* data, Py_ssize_t size) noexcept nogil
    cdef Message07 pop(self) noexcept nogil
    cdef int read_set(self, Set07* s) noexcept nogil


cdef class Decoder07:
    cdef Columns columns
    cdef object crc32
    cdef object decompress
    cdef Wanted wanted
    cdef bint verify
    cdef View view
    cdef readonly Py_ssize_t index          # the current top-level message
    cdef readonly Py_ssize_t body_position  # of an error in its decompressed set
    cdef readonly Py_ssize_t batches        # number of decoded top-level messages
    cdef Batch batch
    cdef bint open
    cdef object payload                     # the owner of the decompressed outermost set, or None
    cdef Py_buffer buffer
    cdef bint has_buffer
    cdef list nested                        # the decompressed nested sets
    cdef Messages07 messages
    cdef Py_ssize_t next_message

    cdef int open_entry(self, const uint8_t* p, const Entry* e, int64_t window_position) except -1
    cdef int open_sets(self, const Message07* outer) except -1
    cdef int open_nested(self, const Message07* message, Set07* s) except -1
    cdef bint is_sound(self, const Message07* message) except -1
    cdef int read_messages(self) noexcept nogil
    cdef void close_entry(self)
