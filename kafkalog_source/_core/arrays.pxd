from libc.stdint cimport int32_t, uint8_t


cdef struct Piece:
    const uint8_t* data
    Py_ssize_t size


cdef struct Array:
    # `first` is added to the number of each row. `valid` and `offsets` may be NULL.
    Py_ssize_t first
    Py_ssize_t length
    const uint8_t* valid
    const int32_t* offsets
    const uint8_t* data
    Py_ssize_t size


cdef Array validity_of(described) except *
cdef Array array_of(described, Py_ssize_t width) except *


cdef inline bint is_set(const uint8_t* bits, Py_ssize_t place) noexcept nogil:
    return (bits[place >> 3] >> (place & 7)) & 1


cdef inline bint is_null(const Array* a, Py_ssize_t row) noexcept nogil:
    return a.valid != NULL and not is_set(a.valid, a.first + row)


cdef inline bint find(const Array* a, Py_ssize_t row, Piece* found) noexcept nogil:
    """The bytes of a value; False if its offsets are not those of bytes in the buffer."""
    cdef int32_t start = a.offsets[a.first + row]
    cdef int32_t end = a.offsets[a.first + row + 1]
    if not 0 <= start <= end <= a.size:
        return False
    found.data = a.data + start
    found.size = end - start
    return True
