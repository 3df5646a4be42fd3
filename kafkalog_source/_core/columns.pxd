from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t

from kafkalog_source._core.memory cimport Block, BlockPool


cdef enum Fixed:
    # Columns of one fixed width. The order is that of `columns.FIXED`.
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
    # Arrow's variable-size binary layout. `valid` starts as all ones; a null clears its bit.
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
    # A list column: `offsets` and `valid` by record, the two children by header.
    bint wanted
    int32_t* offsets
    Py_ssize_t offsets_capacity
    uint8_t* valid
    Py_ssize_t valid_capacity
    Py_ssize_t nulls
    BytesColumn names
    BytesColumn values


cdef struct Mark:
    # Where the columns stood, to go back to when a batch turns out to be damaged.
    Py_ssize_t rows
    Py_ssize_t key_size
    Py_ssize_t value_size
    Py_ssize_t header_rows
    Py_ssize_t header_name_size
    Py_ssize_t header_value_size
    int64_t times_out_of_range


cdef struct Table:
    Py_ssize_t rows
    FixedColumn fixed[16]
    BytesColumn key
    BytesColumn value
    HeadersColumn headers
    int64_t times_out_of_range


cdef class Columns:
    cdef Table table
    cdef readonly BlockPool pool
    cdef readonly Py_ssize_t byte_target
    cdef readonly Py_ssize_t row_target

    cdef Py_ssize_t bytes_used(self) noexcept nogil
    cdef bint is_full(self) noexcept nogil
    cdef bint cannot_take(self, Py_ssize_t size) noexcept nogil
    cdef Mark mark(self) noexcept nogil
    cdef void back_to(self, const Mark* mark) noexcept nogil
    cdef int start(self) except -1


cdef bint reserve_rows(Table* t, Py_ssize_t more) noexcept nogil
cdef bint append_bytes(BytesColumn* c, Py_ssize_t row, const uint8_t* p, Py_ssize_t n) noexcept nogil
cdef bint append_header_name(BytesColumn* c, const uint8_t* p, Py_ssize_t n) noexcept nogil
cdef bint append_header_value(BytesColumn* c, const uint8_t* p, Py_ssize_t n) noexcept nogil
cdef bint reserve_header(HeadersColumn* c) noexcept nogil
cdef void end_headers(HeadersColumn* c, Py_ssize_t row, Py_ssize_t count) noexcept nogil
cdef void put_timestamp(Table* t, Py_ssize_t row, int64_t timestamp_ms) noexcept nogil


cdef inline void clear_bit(uint8_t* bits, Py_ssize_t row) noexcept nogil:
    bits[row >> 3] &= <uint8_t>(~(1 << (row & 7)))


cdef inline void put_i64(FixedColumn* c, Py_ssize_t row, int64_t v) noexcept nogil:
    (<int64_t*>c.data)[row] = v


cdef inline void put_i32(FixedColumn* c, Py_ssize_t row, int32_t v) noexcept nogil:
    (<int32_t*>c.data)[row] = v


cdef inline void put_i8(FixedColumn* c, Py_ssize_t row, int8_t v) noexcept nogil:
    (<int8_t*>c.data)[row] = v


cdef inline void put_null(FixedColumn* c, Py_ssize_t row) noexcept nogil:
    # The slot is cleared too, so that no old memory reaches a file.
    cdef int i
    for i in range(c.width):
        c.data[row * c.width + i] = 0
    clear_bit(c.valid, row)
    c.nulls += 1
