from libc.stdint cimport int8_t, int64_t, uint8_t

from kafkalog_source._core.bytes cimport Cursor
from kafkalog_source._core.columns cimport Columns
from kafkalog_source._core.memory cimport Scratch
from kafkalog_source._core.messages cimport Messages
from kafkalog_source._core.native cimport CFunctions
from kafkalog_source._core.payloads cimport Payload
from kafkalog_source._core.records cimport Batch, Progress, Wanted
from kafkalog_source._core.walk cimport Entry


cdef class Body:
    cdef Columns columns
    cdef CFunctions functions
    cdef Scratch lz4_room        # for the payload of the current entry
    cdef Py_ssize_t limit        # on the size of a decompressed payload
    cdef Wanted wanted
    cdef bint verify
    cdef Batch batch
    cdef Cursor cursor
    cdef Progress progress
    cdef Messages messages
    cdef Py_ssize_t position     # of an error in the body

    cdef void start(self, const uint8_t* p, const Entry* e, int64_t window_position, int8_t transaction_state) noexcept nogil
    cdef int take_message(self, const uint8_t* p, const Entry* e) noexcept nogil
    cdef int open(self, const uint8_t* p, const Entry* e, const Payload* payload) noexcept nogil
    cdef int read_on(self) noexcept nogil
    cdef int check_records(self) noexcept nogil
    cdef int open_single(self, const uint8_t* p, const Entry* e) noexcept nogil
    cdef int open_messages(self, const Entry* e, const Payload* payload) noexcept nogil
    cdef int check_messages(self, const Payload* payload) noexcept nogil


cdef int find_payload(const uint8_t* p, const Entry* e, const uint8_t** start, Py_ssize_t* size) noexcept nogil
