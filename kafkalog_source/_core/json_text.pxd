"""JSON as Kafka's converters write it, into memory that grows. False: there is none, or more than Arrow can address."""

from libc.stdint cimport INT32_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from kafkalog_source._core.columns cimport grow
from kafkalog_source._core.utf8 cimport copy_as_java, is_ascii, next_sequence


cdef struct Text:
    uint8_t* data
    Py_ssize_t size
    Py_ssize_t capacity


cdef bint put_double(Text* json, double value) noexcept with gil


cdef inline bint room(Text* t, Py_ssize_t more) noexcept nogil:
    if t.size + more > INT32_MAX:
        return False
    return t.size + more <= t.capacity or grow(&t.data, &t.capacity, t.size + more)


cdef inline bint put_raw(Text* t, const void* p, Py_ssize_t n) noexcept nogil:
    if not room(t, n):
        return False
    if n > 0:
        memcpy(t.data + t.size, p, n)
        t.size += n
    return True


cdef inline bint put_byte(Text* t, uint8_t byte) noexcept nogil:
    if not room(t, 1):
        return False
    t.data[t.size] = byte
    t.size += 1
    return True


cdef inline bint put_integer(Text* t, int64_t value) noexcept nogil:
    cdef uint8_t digits[20]
    cdef int n = 20
    cdef uint64_t rest = <uint64_t>value if value >= 0 else 0 - <uint64_t>value
    while True:
        n -= 1
        digits[n] = <uint8_t>(48 + rest % 10)
        rest //= 10
        if rest == 0:
            break
    if value < 0 and not put_byte(t, 45):
        return False
    return put_raw(t, &digits[n], 20 - n)


cdef inline uint8_t hex_digit(uint8_t value) noexcept nogil:
    return value + (48 if value < 10 else 55)


cdef inline void put_escaped(Text* t, uint8_t byte) noexcept nogil:
    """A character below 0x20, a quote or a backslash; there is room for six bytes."""
    cdef uint8_t short = 0
    if byte == 34 or byte == 92:
        short = byte
    elif byte == 8:
        short = 98
    elif byte == 9:
        short = 116
    elif byte == 10:
        short = 110
    elif byte == 12:
        short = 102
    elif byte == 13:
        short = 114
    t.data[t.size] = 92
    if short:
        t.data[t.size + 1] = short
        t.size += 2
        return
    memcpy(t.data + t.size + 1, b"u00", 3)
    t.data[t.size + 4] = hex_digit(byte >> 4)
    t.data[t.size + 5] = hex_digit(byte & 15)
    t.size += 6


cdef inline bint put_text(Text* t, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """`n` bytes of UTF-8 as Java decodes them, in quotes."""
    cdef Py_ssize_t taken
    cdef bint good = False
    if not room(t, 6 * n + 2):
        return False
    t.data[t.size] = 34
    t.size += 1
    while n > 0:
        taken = 1
        if p[0] < 0x20 or p[0] == 34 or p[0] == 92:
            put_escaped(t, p[0])
        elif p[0] < 0x80:
            t.data[t.size] = p[0]
            t.size += 1
        else:
            taken = next_sequence(p, n, &good)
            t.size += copy_as_java(t.data + t.size, p, taken)
        p += taken
        n -= taken
    t.data[t.size] = 34
    t.size += 1
    return True


cdef inline bint put_plain(Text* t, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """`n` bytes of UTF-8 as Java decodes them, and nothing else."""
    if is_ascii(p, n):
        return put_raw(t, p, n)
    if not room(t, 3 * n):
        return False
    t.size += copy_as_java(t.data + t.size, p, n)
    return True


cdef inline uint8_t base64_digit(uint8_t value, bint url) noexcept nogil:
    if value < 26:
        return 65 + value
    if value < 52:
        return 71 + value
    if value < 62:
        return value - 4
    if value == 62:
        return 45 if url else 43
    return 95 if url else 47


cdef inline bint put_base64(Text* t, const uint8_t* p, Py_ssize_t n, bint url) noexcept nogil:
    """Base64 with padding, or the alphabet of URLs without any."""
    cdef uint8_t second, third
    cdef uint8_t* out
    if not room(t, (n + 2) // 3 * 4):
        return False
    while n > 0:
        second = p[1] if n > 1 else 0
        third = p[2] if n > 2 else 0
        out = t.data + t.size
        out[0] = base64_digit(p[0] >> 2, url)
        out[1] = base64_digit(((p[0] & 3) << 4) | (second >> 4), url)
        out[2] = base64_digit(((second & 15) << 2) | (third >> 6), url) if n > 1 else 61
        out[3] = base64_digit(third & 63, url) if n > 2 else 61
        t.size += 4 if n > 2 or not url else n + 1
        p += 3
        n -= 3
    return True
