from libc.stdint cimport int64_t, uint8_t

from kafkalog_source._core.bytes cimport Cursor
from kafkalog_source._core.columns cimport Columns
from kafkalog_source._core.memory cimport Scratch, View
from kafkalog_source._core.messages cimport Messages
from kafkalog_source._core.records cimport Batch, Progress, Wanted
from kafkalog_source._core.transactions cimport TransactionStates
from kafkalog_source._core.walk cimport Entries, Entry


cdef class Decoder:
    cdef Columns columns
    cdef object crc32c
    cdef object crc32
    cdef object decompress
    cdef Wanted wanted
    cdef bint verify
    cdef bint include_control
    cdef TransactionStates transactions      # None when nobody asks, or not found yet
    cdef object find_transactions            # None when all is known
    cdef int64_t known_below                 # where `transactions` ends
    cdef readonly bint looks_ahead           # whether `find_transactions` will be asked again
    cdef bint committed_only
    cdef View view                 # pointed at what a checksum or codec is to read
    cdef readonly Py_ssize_t index # the entry at work
    cdef Py_ssize_t checked        # entries before this one have been checked
    cdef readonly Py_ssize_t body_position  # where in the (decompressed) body of it the trouble lies
    cdef readonly Py_ssize_t batches        # entries that were decoded
    cdef Batch batch
    cdef bint open                 # the entry's payload is open
    cdef object payload            # what owns the decompressed bytes, or None
    cdef Py_buffer buffer
    cdef bint has_buffer
    cdef Cursor cursor
    cdef Progress progress
    cdef Messages messages
    cdef Py_ssize_t next_message

    cdef int check_some(self, Scratch window, int64_t window_position, Entries entries) except -1
    cdef int need_transactions(self, const Entry* e, Scratch window, int64_t window_position, Entries entries) except -1
    cdef int state_of(self, const uint8_t* p, const Entry* e) noexcept nogil
    cdef int small_plain_entries(self, const uint8_t* window, int64_t window_position, Entries entries) noexcept nogil
    cdef bint is_skipped(self, const uint8_t* p, const Entry* e) noexcept nogil
    cdef void start_batch(self, const uint8_t* p, const Entry* e, int64_t window_position) noexcept nogil
    cdef int read_small(self, const uint8_t* p, const Entry* e) noexcept nogil
    cdef int plain_message(self, const uint8_t* p, const Entry* e) noexcept nogil
    cdef int open_payload(self, const uint8_t* p, const Entry* e) except -1
    cdef int open_messages(self, const Entry* e) except -1
    cdef int open_single(self, const uint8_t* p, const Entry* e) except -1
    cdef int check_records(self) except -1
    cdef int read_on(self) noexcept nogil
    cdef int check_inner(self) except -1
    cdef void close_payload(self)
    cdef int find_payload(self, const uint8_t* p, const Entry* e, Py_ssize_t* start, Py_ssize_t* size) noexcept nogil
