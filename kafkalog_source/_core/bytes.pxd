"""Bounded reading of big-endian integers and varints, as by Java's ``ByteBuffer`` and Kafka's ``ByteUtils``."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t


cdef struct Cursor:
    # All batch content is read through this: `pos` never exceeds `end`, and only [data, data + end) is accessed.
    const uint8_t* data
    Py_ssize_t pos
    Py_ssize_t end


cdef inline int16_t load_i16(const uint8_t* p) noexcept nogil:
    return <int16_t>((<uint32_t>p[0] << 8) | p[1])


cdef inline uint32_t load_u32(const uint8_t* p) noexcept nogil:
    return (<uint32_t>p[0] << 24) | (<uint32_t>p[1] << 16) | (<uint32_t>p[2] << 8) | <uint32_t>p[3]


cdef inline int32_t load_i32(const uint8_t* p) noexcept nogil:
    return <int32_t>load_u32(p)


cdef inline int64_t load_i64(const uint8_t* p) noexcept nogil:
    return <int64_t>((<uint64_t>load_u32(p) << 32) | <uint64_t>load_u32(p + 4))


cdef inline uint32_t load_u32_le(const uint8_t* p) noexcept nogil:
    return (<uint32_t>p[3] << 24) | (<uint32_t>p[2] << 16) | (<uint32_t>p[1] << 8) | <uint32_t>p[0]


cdef inline Py_ssize_t left(const Cursor* c) noexcept nogil:
    return c.end - c.pos


cdef inline int32_t unzigzag32(uint32_t v) noexcept nogil:
    return <int32_t>((v >> 1) ^ (~(v & 1) + 1))


cdef inline int64_t unzigzag64(uint64_t v) noexcept nogil:
    return <int64_t>((v >> 1) ^ (~(v & 1) + 1))


cdef inline bint read_long_varint(Cursor* c, uint64_t* out, int last_shift) noexcept nogil:
    """Read an unsigned varint of any length: seven bits per byte, the last byte at `last_shift` at the latest."""
    cdef uint64_t value = 0
    cdef int shift = 0
    cdef uint8_t byte
    while c.pos < c.end:
        byte = c.data[c.pos]
        c.pos += 1
        value |= <uint64_t>(byte & 0x7F) << shift
        if byte < 0x80:
            out[0] = value
            return True
        if shift == last_shift:
            return False
        shift += 7
    return False


cdef inline bint read_unsigned(Cursor* c, uint64_t* out, int last_shift) noexcept nogil:
    """Read an unsigned varint, with a fast path for one and two bytes, which nearly all have."""
    cdef const uint8_t* p = c.data + c.pos
    if c.end - c.pos >= 2:
        if p[0] < 0x80:
            out[0] = p[0]
            c.pos += 1
            return True
        if p[1] < 0x80:
            out[0] = (<uint64_t>p[1] << 7) | (p[0] & 0x7F)
            c.pos += 2
            return True
    return read_long_varint(c, out, last_shift)


cdef inline bint read_varint(Cursor* c, int32_t* out) noexcept nogil:
    """Read a zigzag varint of at most five bytes; more are an error (``ByteUtils.readVarint``).

    As in Kafka, bits above 32 in the fifth byte are ignored.
    """
    cdef uint64_t value
    if not read_unsigned(c, &value, 28):
        return False
    out[0] = unzigzag32(<uint32_t>value)
    return True


cdef inline bint read_varlong(Cursor* c, int64_t* out) noexcept nogil:
    """Read a zigzag varint of at most ten bytes (``ByteUtils.readVarlong``)."""
    cdef uint64_t value
    if not read_unsigned(c, &value, 63):
        return False
    out[0] = unzigzag64(value)
    return True
