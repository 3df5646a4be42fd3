from libc.stdint cimport int64_t, uint8_t

from kafkalog_source._core.body cimport Body
from kafkalog_source._core.columns cimport Columns
from kafkalog_source._core.memory cimport Scratch, View
from kafkalog_source._core.native cimport CFunctions
from kafkalog_source._core.payloads cimport Payloads
from kafkalog_source._core.outcomes cimport TransactionStates
from kafkalog_source._core.walk cimport Entries, Entry


cdef class Decoder:
    cdef Columns columns
    cdef object crc32c
    cdef object crc32
    cdef CFunctions functions
    cdef int64_t low
    cdef int64_t high
    cdef bint verify
    cdef bint include_control
    cdef TransactionStates transactions      # None if not needed, or not resolved yet
    cdef object find_transactions            # None if all outcomes are known
    cdef int64_t known_below                 # `transactions` holds for offsets below this
    cdef readonly bint looks_ahead           # whether `find_transactions` may be called again
    cdef bint committed_only
    cdef View view                 # the bytes that a checksum function reads
    cdef readonly Py_ssize_t index # the current entry
    cdef Py_ssize_t ready          # entries before this one have been prepared
    cdef Py_ssize_t refused        # the entry whose payload needs Python, or -1
    cdef Payloads payloads         # of the prepared entries
    cdef Body body
    cdef bint open                 # whether the body of the current entry is being read
    cdef readonly Py_ssize_t batches  # number of decoded entries

    # With the interpreter lock: prepare a run of entries.
    cdef int prepare_some(self, Scratch window, int64_t window_position, Entries entries) except -1
    cdef int need_transactions(self, const Entry* e, Scratch window, int64_t window_position, Entries entries) except -1
    cdef bint prepare_entry(self, const uint8_t* p, Entry* e, bint is_first) except -1
    cdef bint has_right_checksum(self, const uint8_t* p, const Entry* e)
    cdef bint prepare_payload(self, const uint8_t* p, Entry* e, bint is_first) except -1

    # Without it: decode them to rows.
    cdef bint can_be_read_at_once(self, const Entry* e) noexcept nogil
    cdef int state_of(self, const uint8_t* p, const Entry* e) noexcept nogil
    cdef bint is_skipped(self, const uint8_t* p, const Entry* e) noexcept nogil
    cdef int read_ready(self, const uint8_t* window, int64_t window_position, Entries entries) noexcept nogil
    cdef int begin_entry(self, const uint8_t* window, int64_t window_position, Entry* e) noexcept nogil
