from libc.stdint cimport int64_t, uint8_t

from kafkalog_source._core.memory cimport Scratch, View
from kafkalog_source._core.walk cimport Entry


cdef struct Begun:
    # A transaction that has no marker yet.
    int64_t producer_id
    int64_t first
    int64_t doubted_to             # offsets from `first` up to this one are in doubt
    int64_t again                  # the first offset after them; INT64_MAX if none, INT64_MIN if nothing is in doubt


cdef class TransactionTracker:
    cdef Begun* items              # by producer id
    cdef Py_ssize_t open_count
    cdef Py_ssize_t capacity
    cdef Py_ssize_t latest         # index in `items` of the last producer found
    cdef list _aborted
    cdef list _undecided
    cdef object crc32c
    cdef object decompress
    cdef View view
    cdef int64_t least
    cdef int64_t bound
    cdef readonly int64_t stop
    cdef readonly int64_t below
    cdef readonly int64_t last_offset
    cdef readonly Py_ssize_t walked
    cdef readonly Py_ssize_t next_size
    cdef readonly Py_ssize_t count       # batches of this walk

    cdef Py_ssize_t place_of(self, int64_t producer_id) noexcept nogil
    cdef bint begin(self, int64_t producer_id, int64_t first) noexcept nogil
    cdef int walk_window(self, const uint8_t* data, Py_ssize_t size, Py_ssize_t left, Entry* e) noexcept nogil
    cdef int settle_doubts(self) except -1
    cdef int end(self, Py_ssize_t at, bint aborted, int64_t marker) except -1
    cdef int take_small(self, const uint8_t* p, const Entry* e) except -1
    cdef int end_transaction(self, const uint8_t* p, const Entry* e) except -1
    cdef int marker_of(self, const uint8_t* p, const Entry* e) except -2


cdef int control_kind(const uint8_t* data, Py_ssize_t size) noexcept nogil
