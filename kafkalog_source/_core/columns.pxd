from libc.stdint cimport INT32_MAX, INT64_MAX, int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from kafkalog_source._core.layout cimport NO_TIMESTAMP
from kafkalog_source._core.memory cimport Block, BlockPool
from kafkalog_source._core.utf8 cimport copy_as_java, is_ascii


cdef enum Fixed:
    # The columns of fixed width, in the order of `columns.FIXED`.
    OFFSET
    TIMESTAMP
    TIMESTAMP_TYPE
    KEY_SIZE
    VALUE_SIZE
    SEQUENCE
    LEADER_EPOCH
    PRODUCER_ID
    PRODUCER_EPOCH
    IS_TRANSACTIONAL
    IS_CONTROL
    CONTROL_TYPE
    TRANSACTION_STATE
    MAGIC
    COMPRESSION
    BATCH_POSITION
    BATCH_BASE_OFFSET
    FIXED_COUNT


cdef struct FixedColumn:
    bint wanted
    int width
    uint8_t* data
    Py_ssize_t capacity        # bytes
    uint8_t* valid
    Py_ssize_t valid_capacity  # bytes
    Py_ssize_t nulls


cdef struct BytesColumn:
    # Arrow's variable-size binary layout. `valid` starts with all bits set; a null clears its bit.
    bint wanted
    int32_t* offsets
    Py_ssize_t offsets_capacity
    uint8_t* data
    Py_ssize_t capacity
    Py_ssize_t size
    uint8_t* valid
    Py_ssize_t valid_capacity
    Py_ssize_t nulls
    Py_ssize_t rows


cdef struct HeadersColumn:
    # A list column: `offsets` and `valid` per record, the two children per header.
    bint wanted
    int32_t* offsets
    Py_ssize_t offsets_capacity
    uint8_t* valid
    Py_ssize_t valid_capacity
    Py_ssize_t nulls
    BytesColumn names
    BytesColumn values


cdef struct Mark:
    # A state of the columns, to return to if a batch proves damaged.
    Py_ssize_t rows
    Py_ssize_t key_size
    Py_ssize_t value_size
    Py_ssize_t header_rows
    Py_ssize_t header_name_size
    Py_ssize_t header_value_size
    int64_t times_out_of_range


cdef struct Table:
    Py_ssize_t rows
    FixedColumn fixed[FIXED_COUNT]
    BytesColumn key
    BytesColumn value
    HeadersColumn headers
    int64_t times_out_of_range
    bint batch_columns_wanted  # any column with one value per batch, except the format and the timestamp type


cdef class Columns:
    cdef Table table
    cdef readonly BlockPool pool
    cdef readonly Py_ssize_t byte_target
    cdef readonly Py_ssize_t row_target

    cdef Py_ssize_t bytes_used(self) noexcept nogil
    cdef bint is_full(self) noexcept nogil
    cdef bint cannot_take(self, Py_ssize_t size) noexcept nogil
    cdef bint takes_all(self, Py_ssize_t rows, Py_ssize_t size) noexcept nogil
    cdef Mark mark(self) noexcept nogil
    cdef void back_to(self, const Mark* mark) noexcept nogil
    cdef int start(self) except -1


cdef bint grow(uint8_t** address, Py_ssize_t* capacity, Py_ssize_t needed) noexcept nogil
cdef bint grow_bytes_rows(BytesColumn* c, Py_ssize_t rows) noexcept nogil
cdef bint reserve_rows(Table* t, Py_ssize_t more) noexcept nogil


cdef inline void clear_bit(uint8_t* bits, Py_ssize_t row) noexcept nogil:
    bits[row >> 3] &= <uint8_t>(~(1 << (row & 7)))


cdef inline void put_i64(FixedColumn* c, Py_ssize_t row, int64_t v) noexcept nogil:
    (<int64_t*>c.data)[row] = v


cdef inline void put_i32(FixedColumn* c, Py_ssize_t row, int32_t v) noexcept nogil:
    (<int32_t*>c.data)[row] = v


cdef inline void put_i8(FixedColumn* c, Py_ssize_t row, int8_t v) noexcept nogil:
    (<int8_t*>c.data)[row] = v


cdef inline void put_null(FixedColumn* c, Py_ssize_t row) noexcept nogil:
    # The value is cleared too, so that no old memory gets into a file.
    cdef int i
    for i in range(c.width):
        c.data[row * c.width + i] = 0
    clear_bit(c.valid, row)
    c.nulls += 1


cdef inline void copy_bytes(uint8_t* out, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """``memcpy``, faster for the few bytes of a key or header: two moves that may overlap."""
    cdef uint64_t first8, last8
    cdef uint32_t first4, last4
    if n > 16:
        memcpy(out, p, n)
    elif n >= 8:
        memcpy(&first8, p, 8)
        memcpy(&last8, p + n - 8, 8)
        memcpy(out, &first8, 8)
        memcpy(out + n - 8, &last8, 8)
    elif n >= 4:
        memcpy(&first4, p, 4)
        memcpy(&last4, p + n - 4, 4)
        memcpy(out, &first4, 4)
        memcpy(out + n - 4, &last4, 4)
    else:
        while n > 0:
            n -= 1
            out[n] = p[n]


cdef inline bint append_bytes(BytesColumn* c, Py_ssize_t row, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """Set row `row` to the `n` bytes at `p`, or to null if `n` is negative. Its offset must be reserved."""
    if n < 0:
        clear_bit(c.valid, row)
        c.nulls += 1
        n = 0
    elif n > 0:
        if c.size + n > INT32_MAX or (c.size + n > c.capacity and not grow(&c.data, &c.capacity, c.size + n)):
            return False
        copy_bytes(c.data + c.size, p, n)
    c.size += n
    c.rows = row + 1
    c.offsets[row + 1] = <int32_t>c.size
    return True


cdef inline bint append_header_name(BytesColumn* c, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """Append the name of a header, after `reserve_header`."""
    if is_ascii(p, n):
        return append_bytes(c, c.rows, p, n)
    if c.size + 3 * n > INT32_MAX or not grow(&c.data, &c.capacity, c.size + 3 * n):
        return False
    c.size += copy_as_java(c.data + c.size, p, n)
    c.rows += 1
    c.offsets[c.rows] = <int32_t>c.size
    return True


cdef inline bint append_header_value(BytesColumn* c, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    """Append the value of a header, null if `n` is negative, after `reserve_header`."""
    return append_bytes(c, c.rows, p, n)


cdef inline bint reserve_header(HeadersColumn* c) noexcept nogil:
    cdef Py_ssize_t rows = c.names.rows + 1
    if (rows + 1) * <Py_ssize_t>sizeof(int32_t) <= c.names.offsets_capacity and rows <= 8 * c.names.valid_capacity:
        return True
    # Both children have the same number of rows, and so the same capacities.
    return grow_bytes_rows(&c.names, rows) and grow_bytes_rows(&c.values, rows)


cdef inline void end_headers(HeadersColumn* c, Py_ssize_t row, Py_ssize_t count) noexcept nogil:
    """End the list of row `row`; it is null for a record without headers."""
    if count == 0:
        clear_bit(c.valid, row)
        c.nulls += 1
    c.offsets[row + 1] = <int32_t>c.names.rows


cdef inline void put_timestamp(Table* t, Py_ssize_t row, int64_t timestamp_ms) noexcept nogil:
    """Convert Kafka's milliseconds to Arrow's microseconds; null for -1, and for what does not fit int64, counted.

    The value under a null of the second kind is the milliseconds, so that a search by time finds them.
    """
    cdef FixedColumn* c = &t.fixed[<int>TIMESTAMP]
    if timestamp_ms == NO_TIMESTAMP:
        put_null(c, row)
    elif timestamp_ms > INT64_MAX // 1000 or timestamp_ms < -(INT64_MAX // 1000):
        put_null(c, row)
        put_i64(c, row, timestamp_ms)
        t.times_out_of_range += 1
    else:
        put_i64(c, row, timestamp_ms * 1000)
