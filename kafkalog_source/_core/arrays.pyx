# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Arrow arrays from Python, of which only what their buffers hold is read.

Every buffer is compared with the length of its array when it is taken, and every offset in it with the data when it
is used.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, uint8_t

cdef Py_ssize_t MOST_ROWS = 1 << 48  # the sum of two such numbers, in bits, is no overflow


cdef Array validity_of(described) except *:
    cdef Array a
    cdef Py_ssize_t size = 0
    a.length, a.first = described[0], described[1]
    a.offsets = NULL
    a.data = NULL
    a.size = 0
    if a.length < 0 or a.first < 0 or a.first > MOST_ROWS or a.length > MOST_ROWS:
        raise ValueError(f"an array of {a.length} rows at {a.first}")
    a.valid = address_of(described[2][0], &size)
    if a.valid != NULL and size < (a.first + a.length + 7) // 8:
        raise ValueError(f"a validity bitmap of {size} bytes for {a.first + a.length} rows")
    return a


cdef Array array_of(described, Py_ssize_t width) except *:
    """An array of values of `width` bits, or of variable size if that is 0."""
    cdef Array a = validity_of(described)
    cdef Py_ssize_t size = 0
    cdef Py_ssize_t rows = a.first + a.length
    buffers = described[2]
    if width == 0:
        a.offsets = <const int32_t*>address_of(buffers[1], &size)
        if a.length and size < (rows + 1) * <Py_ssize_t>sizeof(int32_t):
            raise ValueError(f"{size} bytes of offsets for {rows} rows")
        a.data = address_of(buffers[2], &a.size) if len(buffers) > 2 else NULL
        return a
    a.data = address_of(buffers[1], &a.size)
    if a.length and a.size < (rows * width + 7) // 8:
        raise ValueError(f"{a.size} bytes for {rows} values of {width} bits")
    return a


cdef const uint8_t* address_of(owner, Py_ssize_t* size) except? NULL:
    """Where a buffer is and how large; its owner keeps it in its place until the lines are written."""
    cdef Py_buffer buffer
    size[0] = 0
    if owner is None:
        return NULL
    PyObject_GetBuffer(owner, &buffer, PyBUF_SIMPLE)
    cdef const uint8_t* address = <const uint8_t*>buffer.buf
    size[0] = buffer.len
    PyBuffer_Release(&buffer)
    return address
