from libc.stdint cimport uint8_t


cdef class BlockPool:
    cdef dict _free            # capacity → list of addresses
    cdef readonly Py_ssize_t free_bytes

    cdef uint8_t* take(self, Py_ssize_t capacity) except NULL
    cdef void give(self, uint8_t* address, Py_ssize_t capacity) noexcept


cdef class Block:
    cdef BlockPool _pool
    cdef uint8_t* _address
    cdef Py_ssize_t _capacity
    cdef Py_ssize_t _size


cdef class Scratch:
    cdef uint8_t* address
    cdef readonly Py_ssize_t capacity
    cdef Py_ssize_t _exports

    cdef int ensure(self, Py_ssize_t capacity, Py_ssize_t keep) except -1
    cdef bint try_grow(self, Py_ssize_t keep, Py_ssize_t needed, Py_ssize_t limit) noexcept nogil
    cpdef void shrink(self, Py_ssize_t most, Py_ssize_t keep=*)


cdef class View:
    cdef const uint8_t* address
    cdef Py_ssize_t size
    cdef bint writable
    cdef object owner

    cdef void set(self, const uint8_t* address, Py_ssize_t size) noexcept


cdef Py_ssize_t rounded(Py_ssize_t capacity) noexcept nogil
cdef Block block_of(BlockPool pool, uint8_t* address, Py_ssize_t capacity, Py_ssize_t size)
