# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The growing columns of one record batch, in Arrow's memory layout.

Only selected columns have memory. `Columns.take` passes the buffers on and starts
again with blocks from the pool.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from kafkalog_source._core.memory cimport Block, BlockPool, block_of, rounded

FIXED = (
    ("offset", 8),
    ("timestamp", 8),
    ("timestampType", 4),
    ("keySize", 4),
    ("valueSize", 4),
    ("sequence", 4),
    ("leaderEpoch", 4),
    ("producerId", 8),
    ("producerEpoch", 4),
    ("isTransactional", 1),
    ("isControl", 1),
    ("controlType", 1),
    ("transactionState", 1),
    ("magic", 4),
    ("compression", 1),
    ("batchPosition", 8),
    ("batchBaseOffset", 8),
)
NAMES = tuple(name for name, _ in FIXED) + ("key", "value", "headers")

if len(FIXED) != <int>FIXED_COUNT:
    # The table has room for the members of the enumeration only.
    raise ImportError(f"{len(FIXED)} columns in FIXED, and {<int>FIXED_COUNT} in columns.pxd: name each in both")

cdef Py_ssize_t ROW_OVERHEAD = 40  # bytes that a row costs in addition to its data, for the byte target
cdef Py_ssize_t HEADER_OVERHEAD = 8  # the same for a header; a record may have millions
cdef Py_ssize_t FIRST_ROWS = 4096


cdef bint grow(uint8_t** address, Py_ssize_t* capacity, Py_ssize_t needed) noexcept nogil:
    # Move a buffer to a larger block if it is too small.
    cdef Py_ssize_t size
    cdef uint8_t* moved
    if needed <= capacity[0]:
        return True
    size = rounded(needed)
    moved = <uint8_t*>realloc(address[0], size)
    if moved == NULL:
        return False
    address[0] = moved
    capacity[0] = size
    return True


cdef bint grow_valid(uint8_t** address, Py_ssize_t* capacity, Py_ssize_t rows) noexcept nogil:
    # New validity bits are set: a row is valid until `clear_bit`.
    cdef Py_ssize_t before = capacity[0]
    if not grow(address, capacity, (rows + 7) // 8):
        return False
    memset(address[0] + before, 0xFF, capacity[0] - before)
    return True


cdef bint grow_bytes_rows(BytesColumn* c, Py_ssize_t rows) noexcept nogil:
    return (grow(<uint8_t**>&c.offsets, &c.offsets_capacity, (rows + 1) * <Py_ssize_t>sizeof(int32_t))
            and grow_valid(&c.valid, &c.valid_capacity, rows))


cdef bint reserve_rows(Table* t, Py_ssize_t more) noexcept nogil:
    """Reserve `more` rows in every selected column; False if out of memory."""
    cdef Py_ssize_t rows = t.rows + more
    cdef FixedColumn* c
    cdef int i
    for i in range(<int>FIXED_COUNT):
        c = &t.fixed[i]
        if c.wanted and not (grow(&c.data, &c.capacity, rows * c.width) and grow_valid(&c.valid, &c.valid_capacity, rows)):
            return False
    if t.key.wanted and not grow_bytes_rows(&t.key, rows):
        return False
    if t.value.wanted and not grow_bytes_rows(&t.value, rows):
        return False
    if t.headers.wanted:
        return (grow(<uint8_t**>&t.headers.offsets, &t.headers.offsets_capacity, (rows + 1) * <Py_ssize_t>sizeof(int32_t))
                and grow_valid(&t.headers.valid, &t.headers.valid_capacity, rows))
    return True


cdef void reset_bytes(BytesColumn* c, Py_ssize_t rows, Py_ssize_t size) noexcept nogil:
    """Drop the rows from `rows` on."""
    cdef Py_ssize_t row
    if not c.wanted:
        return
    for row in range(rows, c.rows):
        if not (c.valid[row >> 3] >> (row & 7)) & 1:
            c.valid[row >> 3] |= <uint8_t>(1 << (row & 7))
            c.nulls -= 1
    c.rows = rows
    c.size = size


cdef void set_again(uint8_t* valid, Py_ssize_t* nulls, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t row
    for row in range(start, stop):
        if not (valid[row >> 3] >> (row & 7)) & 1:
            valid[row >> 3] |= <uint8_t>(1 << (row & 7))
            nulls[0] -= 1


cdef class Columns:
    """Columns under construction.

    Parameters
    ----------
    names : collection of str
        The selected columns, out of `NAMES`.
    pool : BlockPool
        The source of blocks.
    byte_target, row_target : int
        A record batch is full when either is reached.
    """

    def __cinit__(self, names, BlockPool pool, Py_ssize_t byte_target=1 << 20, Py_ssize_t row_target=1 << 15):
        cdef int i
        unknown = set(names) - set(NAMES)
        if unknown:
            raise ValueError(f"unknown columns: {sorted(unknown)}")
        memset(&self.table, 0, sizeof(Table))
        self.pool = pool
        self.byte_target = byte_target
        self.row_target = row_target
        for i, (name, width) in enumerate(FIXED):
            self.table.fixed[i].wanted = name in names
            self.table.fixed[i].width = width
        for i in range(<int>LEADER_EPOCH, <int>FIXED_COUNT):
            if i != <int>MAGIC and self.table.fixed[i].wanted:
                self.table.batch_columns_wanted = True
        self.table.key.wanted = "key" in names
        self.table.value.wanted = "value" in names
        self.table.headers.wanted = "headers" in names
        self.table.headers.names.wanted = self.table.headers.wanted
        self.table.headers.values.wanted = self.table.headers.wanted
        self.start()

    def __dealloc__(self):
        cdef int i
        for i in range(<int>FIXED_COUNT):
            free(self.table.fixed[i].data)
            free(self.table.fixed[i].valid)
        free_bytes(&self.table.key)
        free_bytes(&self.table.value)
        free_bytes(&self.table.headers.names)
        free_bytes(&self.table.headers.values)
        free(self.table.headers.offsets)
        free(self.table.headers.valid)

    @property
    def rows(self):
        """Rows appended since the last `take`."""
        return self.table.rows

    @property
    def times_out_of_range(self):
        """The number of timestamps since the start that do not fit int64 microseconds."""
        return self.table.times_out_of_range

    cdef Py_ssize_t bytes_used(self) noexcept nogil:
        return (self.table.key.size + self.table.value.size + self.table.headers.names.size
                + self.table.headers.values.size + ROW_OVERHEAD * self.table.rows
                + HEADER_OVERHEAD * self.table.headers.names.rows)

    cdef bint is_full(self) noexcept nogil:
        return self.table.rows >= self.row_target or self.bytes_used() >= self.byte_target

    cdef bint cannot_take(self, Py_ssize_t size) noexcept nogil:
        """Whether `size` more bytes could exceed Arrow's int32 offsets; never for an empty table."""
        return self.table.rows > 0 and self.bytes_used() + size > INT32_MAX

    cdef bint takes_all(self, Py_ssize_t rows, Py_ssize_t size) noexcept nogil:
        """Whether `rows` more rows from `size` bytes fit without a check for full columns in between."""
        return size <= self.byte_target and self.table.rows + rows <= self.row_target

    cdef Mark mark(self) noexcept nogil:
        cdef Mark m
        m.rows = self.table.rows
        m.key_size = self.table.key.size
        m.value_size = self.table.value.size
        m.header_rows = self.table.headers.names.rows
        m.header_name_size = self.table.headers.names.size
        m.header_value_size = self.table.headers.values.size
        m.times_out_of_range = self.table.times_out_of_range
        return m

    cdef void back_to(self, const Mark* m) noexcept nogil:
        """Drop everything since `m`, including an unfinished row, whose validity bits `reserve_rows` has provided."""
        cdef Table* t = &self.table
        cdef Py_ssize_t seen = t.rows + 1
        cdef int i
        for i in range(<int>FIXED_COUNT):
            if t.fixed[i].wanted:
                set_again(t.fixed[i].valid, &t.fixed[i].nulls, m.rows, min(seen, t.fixed[i].valid_capacity * 8))
        reset_bytes(&t.key, m.rows, m.key_size)
        reset_bytes(&t.value, m.rows, m.value_size)
        reset_bytes(&t.headers.names, m.header_rows, m.header_name_size)
        reset_bytes(&t.headers.values, m.header_rows, m.header_value_size)
        if t.headers.wanted:
            set_again(t.headers.valid, &t.headers.nulls, m.rows, min(seen, t.headers.valid_capacity * 8))
        t.rows = m.rows
        t.times_out_of_range = m.times_out_of_range

    cdef int start(self) except -1:
        """Take blocks of about the expected size for the next record batch."""
        cdef int i
        cdef FixedColumn* c
        for i in range(<int>FIXED_COUNT):
            c = &self.table.fixed[i]
            if c.wanted:
                c.capacity = rounded(FIRST_ROWS * c.width)
                c.data = self.pool.take(c.capacity)
                start_valid(self.pool, &c.valid, &c.valid_capacity)
        if self.table.key.wanted:
            start_bytes(self.pool, &self.table.key, 1 << 16)
        if self.table.value.wanted:
            start_bytes(self.pool, &self.table.value, self.byte_target + (self.byte_target >> 2))
        if self.table.headers.wanted:
            start_bytes(self.pool, &self.table.headers.names, 1 << 17)
            start_bytes(self.pool, &self.table.headers.values, 1 << 17)
            self.table.headers.offsets_capacity = rounded((FIRST_ROWS + 1) * sizeof(int32_t))
            self.table.headers.offsets = <int32_t*>self.pool.take(self.table.headers.offsets_capacity)
            self.table.headers.offsets[0] = 0
            start_valid(self.pool, &self.table.headers.valid, &self.table.headers.valid_capacity)
        return 0

    def take(self):
        """Return the rows and start again.

        Returns
        -------
        tuple of (int, dict)
            The number of rows and, by column name, the null count and the buffers in Arrow's order:
            ``(nulls, validity, data)``, ``(nulls, validity, offsets, data)``, and for headers
            ``(nulls, validity, offsets, header rows, names, values)`` with the children alike.
        """
        cdef Table* t = &self.table
        cdef Py_ssize_t rows = t.rows
        cdef int i
        taken = {}
        for i, (name, _) in enumerate(FIXED):
            if t.fixed[i].wanted:
                taken[name] = take_fixed(self.pool, &t.fixed[i], rows)
        if t.key.wanted:
            taken["key"] = take_bytes(self.pool, &t.key, rows)
        if t.value.wanted:
            taken["value"] = take_bytes(self.pool, &t.value, rows)
        if t.headers.wanted:
            taken["headers"] = take_headers(self.pool, &t.headers, rows)
        t.rows = 0
        self.start()
        return rows, taken


cdef object take_validity(BlockPool pool, uint8_t** valid, Py_ssize_t* capacity, Py_ssize_t* nulls, Py_ssize_t rows):
    cdef object block = None
    if nulls[0]:
        block = block_of(pool, valid[0], capacity[0], (rows + 7) // 8)
    else:
        pool.give(valid[0], capacity[0])
    valid[0] = NULL
    capacity[0] = 0
    nulls[0] = 0
    return block


cdef tuple take_fixed(BlockPool pool, FixedColumn* c, Py_ssize_t rows):
    cdef Py_ssize_t nulls = c.nulls
    validity = take_validity(pool, &c.valid, &c.valid_capacity, &c.nulls, rows)
    data = block_of(pool, c.data, c.capacity, rows * c.width)
    c.data = NULL
    c.capacity = 0
    return nulls, validity, data


cdef tuple take_bytes(BlockPool pool, BytesColumn* c, Py_ssize_t rows):
    cdef Py_ssize_t nulls = c.nulls
    validity = take_validity(pool, &c.valid, &c.valid_capacity, &c.nulls, rows)
    offsets = block_of(pool, <uint8_t*>c.offsets, c.offsets_capacity, (rows + 1) * sizeof(int32_t))
    data = block_of(pool, c.data, c.capacity, c.size)
    c.offsets = NULL
    c.offsets_capacity = 0
    c.data = NULL
    c.capacity = 0
    c.size = 0
    c.rows = 0
    return nulls, validity, offsets, data


cdef tuple take_headers(BlockPool pool, HeadersColumn* c, Py_ssize_t rows):
    cdef Py_ssize_t nulls = c.nulls
    cdef Py_ssize_t header_rows = c.names.rows
    validity = take_validity(pool, &c.valid, &c.valid_capacity, &c.nulls, rows)
    offsets = block_of(pool, <uint8_t*>c.offsets, c.offsets_capacity, (rows + 1) * sizeof(int32_t))
    c.offsets = NULL
    c.offsets_capacity = 0
    names = take_bytes(pool, &c.names, header_rows)
    values = take_bytes(pool, &c.values, header_rows)
    return nulls, validity, offsets, header_rows, names, values


cdef int start_bytes(BlockPool pool, BytesColumn* c, Py_ssize_t capacity) except -1:
    c.capacity = rounded(capacity)
    c.data = pool.take(c.capacity)
    c.offsets_capacity = rounded((FIRST_ROWS + 1) * sizeof(int32_t))
    c.offsets = <int32_t*>pool.take(c.offsets_capacity)
    c.offsets[0] = 0
    start_valid(pool, &c.valid, &c.valid_capacity)
    return 0


cdef int start_valid(BlockPool pool, uint8_t** valid, Py_ssize_t* capacity) except -1:
    capacity[0] = rounded(FIRST_ROWS // 8)
    valid[0] = pool.take(capacity[0])
    memset(valid[0], 0xFF, capacity[0])
    return 0


cdef void free_bytes(BytesColumn* c) noexcept:
    free(c.offsets)
    free(c.data)
    free(c.valid)
