"""Header names: UTF-8 decoded as by Java's ``new String(bytes, UTF_8)``, written as valid UTF-8.

Java replaces each malformed part by one U+FFFD, and splits parts differently from
other decoders: an encoded surrogate is one part of three bytes, and a sequence
truncated by the end of the input is one part of any length (OpenJDK 17,
``java.lang.String.decodeUTF8_UTF16``).
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy


cdef inline bint is_ascii(const uint8_t* p, Py_ssize_t n) noexcept nogil:
    cdef uint64_t word
    cdef uint8_t rest = 0
    while n >= 8:
        memcpy(&word, p, 8)
        if word & <uint64_t>0x8080808080808080:
            return False
        p += 8
        n -= 8
    while n > 0:
        rest |= p[0]
        p += 1
        n -= 1
    return rest < 0x80


cdef inline bint is_continuation(uint8_t byte) noexcept nogil:
    return (byte & 0xC0) == 0x80


cdef inline Py_ssize_t sequence3(const uint8_t* p, Py_ssize_t n, bint* good) noexcept nogil:
    """The bytes (1 to 3) that a three-byte lead at `p` consumes with `n` left; `good` if they are one character."""
    if n < 3:
        if n == 2 and ((p[0] == 0xE0 and (p[1] & 0xE0) == 0x80) or not is_continuation(p[1])):
            return 1
        return n
    if (p[0] == 0xE0 and (p[1] & 0xE0) == 0x80) or not is_continuation(p[1]):
        return 1
    if not is_continuation(p[2]):
        return 2
    good[0] = not (p[0] == 0xED and p[1] >= 0xA0)
    return 3


cdef inline Py_ssize_t sequence4(const uint8_t* p, Py_ssize_t n, bint* good) noexcept nogil:
    """As `sequence3`, for a four-byte lead (1 to 4 bytes)."""
    cdef bint second_bad = p[0] > 0xF4
    if n >= 2:
        second_bad = (second_bad or not is_continuation(p[1]) or (p[0] == 0xF0 and p[1] < 0x90)
                      or (p[0] == 0xF4 and p[1] > 0x8F))
    if second_bad:
        return 1
    if n >= 3 and not is_continuation(p[2]):
        return 2
    if n < 4:
        return n
    if not is_continuation(p[3]):
        return 3
    good[0] = True
    return 4


cdef inline Py_ssize_t next_sequence(const uint8_t* p, Py_ssize_t n, bint* good) noexcept nogil:
    """The bytes of the character or malformed part at `p`; `n` must be above zero."""
    good[0] = False
    if p[0] < 0x80:
        good[0] = True
        return 1
    if p[0] >= 0xC2 and p[0] <= 0xDF:
        if n >= 2 and is_continuation(p[1]):
            good[0] = True
            return 2
        return 1
    if p[0] >= 0xE0 and p[0] <= 0xEF:
        return sequence3(p, n, good)
    if p[0] >= 0xF0 and p[0] <= 0xF7:
        return sequence4(p, n, good)
    return 1


cdef inline Py_ssize_t copy_as_java(uint8_t* out, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """Write `n` bytes as valid UTF-8, and return how many were written. `out` must have room for 3 * n."""
    cdef Py_ssize_t written = 0
    cdef Py_ssize_t taken
    cdef bint good = False
    while n > 0:
        taken = next_sequence(p, n, &good)
        if good:
            memcpy(out + written, p, taken)
            written += taken
        else:
            out[written] = 0xEF
            out[written + 1] = 0xBF
            out[written + 2] = 0xBD
            written += 3
        p += taken
        n -= taken
    return written
