"""Bytes that are written one after another, into memory that grows. False: there is no memory."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from kafkalog_source._core.columns cimport copy_bytes, grow


cdef struct Output:
    uint8_t* data
    Py_ssize_t size
    Py_ssize_t capacity


cdef inline bint make_room(Output* o, Py_ssize_t more) noexcept nogil:
    return o.size + more <= o.capacity or grow(&o.data, &o.capacity, o.size + more)


cdef inline bint write_bytes(Output* o, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    if n <= 0:
        return True
    if not make_room(o, n):
        return False
    copy_bytes(o.data + o.size, p, n)
    o.size += n
    return True


cdef inline bint write_byte(Output* o, uint8_t byte) noexcept nogil:
    if not make_room(o, 1):
        return False
    o.data[o.size] = byte
    o.size += 1
    return True


cdef inline bint write_padded(Output* o, uint64_t value, int width) noexcept nogil:
    """A number with zeros before it, up to `width` digits."""
    cdef uint8_t digits[20]
    cdef int n = 20
    while value or n > 20 - width:
        n -= 1
        digits[n] = <uint8_t>(48 + value % 10)
        value //= 10
    return write_bytes(o, &digits[n], 20 - n)


cdef inline bint write_integer(Output* o, int64_t value) noexcept nogil:
    if value < 0 and not write_byte(o, 45):
        return False
    return write_padded(o, <uint64_t>value if value >= 0 else 0 - <uint64_t>value, 1)
