from libc.stdint cimport int8_t, int64_t


cdef enum TransactionState:
    # The outcome of a record's transaction, in the order of the texts in `arrow.batches`.
    NO_TRANSACTION
    COMMITTED
    ABORTED
    OPEN


cdef struct Outcome:
    # The state of the producer's batches with offsets in [first, last].
    int64_t producer_id
    int64_t first
    int64_t last
    int8_t state


cdef class TransactionStates:
    cdef Outcome* items            # ordered by producer id, then by last offset
    cdef readonly Py_ssize_t count

    cdef int state_of(self, int64_t producer_id, int64_t offset) noexcept nogil
