from cpython.buffer cimport Py_buffer
from libc.stdint cimport uint8_t

from kafkalog_source._core.memory cimport Scratch, View


cdef enum:
    MOST_PAYLOADS = 64


cdef struct Payload:
    const uint8_t* data
    Py_ssize_t size
    Py_ssize_t bad_message  # position in it of the first message with a wrong checksum, or -1
    Py_buffer buffer        # keeps `data` valid


cdef class Payloads:
    cdef Payload items[MOST_PAYLOADS]
    cdef readonly int count
    cdef Py_ssize_t size    # of all payloads of the run, in bytes
    cdef Py_ssize_t largest
    cdef list rooms         # of Scratch, one for each payload of a run
    cdef Scratch first_room  # the only one that may stay large
    cdef object decompress
    cdef object crc32
    cdef View view

    cdef bint holds_much(self) noexcept nogil
    cdef bint takes(self, Py_ssize_t compressed_size)
    cdef int add(self, int codec, int magic, const uint8_t* p, Py_ssize_t size) except -1
    cdef int check_messages(self, int number) except -1
    cdef void clear(self)
    cdef void give_back(self)
