# All of it is for the core alone; nothing can be used from Python.
from libc.stdint cimport int32_t, int64_t, uint8_t

from kafkalog_source._core.json_text cimport Text
from kafkalog_source._core.memory cimport BlockPool


cdef enum Holds:
    # In the order of `slots.HOLDS`.
    NUMBERS
    TEXTS
    LISTS


cdef struct Slot:
    # An Arrow column under construction. Its entries are rows, or for a slot inside a list the list's elements.
    Holds holds
    int32_t child              # first of the slots inside a list
    int32_t children
    Py_ssize_t count           # of entries
    Py_ssize_t nulls
    Py_ssize_t elements        # of all lists so far
    uint8_t* valid             # a byte each, packed when they are handed over
    Py_ssize_t valid_capacity
    uint8_t* offsets           # int32, of texts and lists
    Py_ssize_t offsets_capacity
    Text data                  # int64 numbers, or the texts' bytes


cdef class Slots:
    cdef Slot* items
    cdef readonly int32_t count
    cdef readonly int32_t roots    # the first of them, whose entries are rows
    cdef readonly BlockPool pool

    cdef bint pad(self, Py_ssize_t rows) noexcept nogil
    cdef void cut(self, Py_ssize_t rows) noexcept nogil


cdef bint put_number(Slot* s, int64_t value) noexcept nogil
cdef bint put_none(Slot* s) noexcept nogil
cdef bint end_text(Slot* s) noexcept nogil
cdef bint end_element(Slot* items, Slot* s) noexcept nogil
cdef bint end_list(Slot* s) noexcept nogil
cdef void cut_slot(Slot* items, Slot* s, Py_ssize_t count) noexcept nogil
