# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Look up the outcome of a batch's transaction."""

from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport free, malloc


cdef class TransactionStates:
    """The outcomes of the transactions of one partition, looked up by batch.

    Parameters
    ----------
    aborted : iterable of (int, int, int)
        The producer id, first offset and marker offset of each aborted transaction.
    open : iterable of (int, int)
        The producer id and first offset of each transaction without a marker.
    undecided : iterable of (int, int, int)
        The producer id, first and last offset of batches whose marker may be lost; they count as open.

    Notes
    -----
    All other transactions are committed.
    """

    def __cinit__(self, aborted=(), open=(), undecided=()):
        cdef Py_ssize_t i
        known = [(producer_id, last, first, <int>ABORTED) for producer_id, first, last in aborted]
        known += [(producer_id, last, first, <int>OPEN) for producer_id, first, last in undecided]
        known += [(producer_id, INT64_MAX, first, <int>OPEN) for producer_id, first in open]
        known.sort()
        self.count = len(known)
        self.items = <Outcome*>malloc(max(self.count, 1) * sizeof(Outcome))
        if self.items == NULL:
            raise MemoryError(f"out of memory for {self.count} transactions")
        for i, (producer_id, last, first, state) in enumerate(known):
            self.items[i].producer_id = producer_id
            self.items[i].first = first
            self.items[i].last = last
            self.items[i].state = state

    def __dealloc__(self):
        free(self.items)

    cdef int state_of(self, int64_t producer_id, int64_t offset) noexcept nogil:
        """Return the state of a transactional batch whose last offset is `offset`."""
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high = self.count
        cdef Py_ssize_t middle
        cdef const Outcome* o
        while low < high:
            middle = (low + high) // 2
            o = &self.items[middle]
            if o.producer_id < producer_id or (o.producer_id == producer_id and o.last < offset):
                low = middle + 1
            else:
                high = middle
        o = &self.items[low]
        if low < self.count and o.producer_id == producer_id and o.first <= offset:
            return o.state
        return COMMITTED

    def look_up(self, int64_t producer_id, int64_t offset):
        """`state_of` for Python: 1 committed, 2 aborted, 3 open."""
        return self.state_of(producer_id, offset)
