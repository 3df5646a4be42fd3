# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The body of one v2 batch (``DefaultRecordBatch``, ``DefaultRecord``)."""

from libc.stdint cimport INT32_MAX, int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from kafkalog_source._core.bytes cimport Cursor, left, load_i16, load_i32, load_i64, read_varint, read_varlong
from kafkalog_source._core.codes cimport Code
from kafkalog_source._core.columns cimport (
    BATCH_BASE_OFFSET, BATCH_POSITION, COMPRESSION, CONTROL_TYPE, IS_CONTROL, IS_TRANSACTIONAL, KEY_SIZE, LEADER_EPOCH,
    MAGIC, OFFSET, PRODUCER_EPOCH, PRODUCER_ID, SEQUENCE, TIMESTAMP, TIMESTAMP_TYPE, TRANSACTION_STATE, VALUE_SIZE, Columns,
    FixedColumn, Table, append_bytes, append_header_name, append_header_value, end_headers, put_i8, put_i32, put_i64, put_null,
    put_timestamp, reserve_header,
)
from kafkalog_source._core.layout cimport (
    CODEC_MASK, CONTROL_COMMIT, CONTROL_FLAG, CONTROL_KEY_SIZE, CONTROL_TYPE_OFFSET, CONTROL_UNKNOWN, MAGIC_OFFSET,
    OFFSET_OFFSET, TIMESTAMP_TYPE_MASK, TRANSACTIONAL_FLAG, V2_BASE_SEQUENCE_OFFSET, V2_BASE_TIMESTAMP_OFFSET,
    V2_FLAGS_OFFSET, V2_LAST_OFFSET_DELTA_OFFSET, V2_MAX_TIMESTAMP_OFFSET, V2_PARTITION_LEADER_EPOCH_OFFSET,
    V2_PRODUCER_EPOCH_OFFSET, V2_PRODUCER_ID_OFFSET, V2_RECORDS_COUNT_OFFSET,
)
from kafkalog_source._core.outcomes cimport ABORTED, COMMITTED, NO_TRANSACTION

cdef int SMALLEST_HEADER = 2  # an empty name and a null value


cdef struct Slice:
    const uint8_t* data
    int32_t size               # negative: null


cdef void parse_batch(const uint8_t* p, Batch* b) noexcept nogil:
    """Parse a complete header of a v2 batch (the schema of ``DefaultRecordBatch``)."""
    cdef int8_t attributes = <int8_t>p[V2_FLAGS_OFFSET]
    b.base_offset = load_i64(p + OFFSET_OFFSET)
    b.leader_epoch = load_i32(p + V2_PARTITION_LEADER_EPOCH_OFFSET)
    b.magic = <int8_t>p[MAGIC_OFFSET]
    b.codec = attributes & CODEC_MASK
    b.log_append_time = (attributes & TIMESTAMP_TYPE_MASK) != 0
    b.transactional = (attributes & TRANSACTIONAL_FLAG) != 0
    b.control = (attributes & CONTROL_FLAG) != 0
    b.transaction_state = NO_TRANSACTION
    b.last_offset = b.base_offset + load_i32(p + V2_LAST_OFFSET_DELTA_OFFSET)
    b.base_timestamp = load_i64(p + V2_BASE_TIMESTAMP_OFFSET)
    b.max_timestamp = load_i64(p + V2_MAX_TIMESTAMP_OFFSET)
    b.producer_id = load_i64(p + V2_PRODUCER_ID_OFFSET)
    b.producer_epoch = load_i16(p + V2_PRODUCER_EPOCH_OFFSET)
    b.base_sequence = load_i32(p + V2_BASE_SEQUENCE_OFFSET)
    b.count = load_i32(p + V2_RECORDS_COUNT_OFFSET)


cdef inline bint read_slice(Cursor* c, Slice* out) noexcept nogil:
    """Read a length and that many bytes; any negative length is null (``Utils.readBytes``)."""
    if not read_varint(c, &out.size):
        return False
    out.data = c.data + c.pos
    if out.size > 0:
        if out.size > left(c):
            return False
        c.pos += out.size
    return True


cdef inline int read_headers(Cursor* c, Table* t, bint emit) noexcept nogil:
    """Read the headers of one record, and append them to the columns if `emit`."""
    cdef int32_t count, i
    cdef Slice name, value
    if not read_varint(c, &count) or count < 0 or count > left(c) // SMALLEST_HEADER:
        return Code.HEADER_COUNT
    for i in range(count):
        if not read_slice(c, &name) or name.size < 0:
            return Code.HEADER_NAME
        if not read_slice(c, &value):
            return Code.HEADER_VALUE
        if emit and not (reserve_header(&t.headers)
                         and append_header_name(&t.headers.names, name.data, name.size)
                         and append_header_value(&t.headers.values, value.data, value.size)):
            return Code.NO_MEMORY
    if emit:
        end_headers(&t.headers, t.rows, count)
    return Code.OK


cdef inline bint is_control_key(const Slice* key) noexcept nogil:
    """Whether a key has a version, which may be newer, and a type (``ControlRecordType.parse``)."""
    return key.size >= CONTROL_KEY_SIZE and load_i16(key.data) >= 0


cdef inline void put_control_type(Table* t, const Slice* key) noexcept nogil:
    """Write the control type; an unknown one becomes UNKNOWN."""
    cdef int16_t kind = load_i16(key.data + CONTROL_TYPE_OFFSET)
    put_i8(&t.fixed[<int>CONTROL_TYPE], t.rows, <int8_t>kind if 0 <= kind < CONTROL_UNKNOWN else CONTROL_UNKNOWN)


cdef inline void put_marker_state(Table* t, const Batch* b, const Slice* key) noexcept nogil:
    """Write the state of a transaction marker: the outcome that it sets."""
    cdef int16_t kind = load_i16(key.data + CONTROL_TYPE_OFFSET)
    cdef int8_t state = NO_TRANSACTION
    if b.transactional and 0 <= kind <= CONTROL_COMMIT:
        state = COMMITTED if kind == CONTROL_COMMIT else ABORTED
    put_i8(&t.fixed[<int>TRANSACTION_STATE], t.rows, state)


cdef inline void put_sequence(Table* t, const Batch* b, int64_t delta) noexcept nogil:
    """Write base sequence plus delta; 2^31-1 is followed by 0 (``DefaultRecordBatch.incrementSequence``)."""
    cdef int64_t sequence = <int64_t>b.base_sequence + delta
    if b.base_sequence < 0:
        put_null(&t.fixed[<int>SEQUENCE], t.rows)
    else:
        if sequence > INT32_MAX:
            sequence -= <int64_t>INT32_MAX + 1
        put_i32(&t.fixed[<int>SEQUENCE], t.rows, <int32_t>sequence)


cdef inline void put_size(FixedColumn* c, Py_ssize_t row, int32_t size) noexcept nogil:
    if size < 0:
        put_null(c, row)
    else:
        put_i32(c, row, size)


cdef inline int put_record(Table* t, const Batch* b, int64_t delta, int64_t timestamp_ms, const Slice* key,
                           const Slice* value) noexcept nogil:
    """Write the row `t.rows` except for its headers; `t.rows` is not changed."""
    cdef Py_ssize_t row = t.rows
    if t.fixed[<int>OFFSET].wanted:
        put_i64(&t.fixed[<int>OFFSET], row, b.base_offset + delta)
    if t.fixed[<int>TIMESTAMP].wanted:
        put_timestamp(t, row, timestamp_ms)
    if t.fixed[<int>KEY_SIZE].wanted:
        put_size(&t.fixed[<int>KEY_SIZE], row, key.size)
    if t.fixed[<int>VALUE_SIZE].wanted:
        put_size(&t.fixed[<int>VALUE_SIZE], row, value.size)
    if t.fixed[<int>SEQUENCE].wanted:
        put_sequence(t, b, delta)
    if t.key.wanted and not append_bytes(&t.key, row, key.data, key.size):
        return Code.NO_MEMORY
    if t.value.wanted and not append_bytes(&t.value, row, value.data, value.size):
        return Code.NO_MEMORY
    if b.control and t.fixed[<int>CONTROL_TYPE].wanted:
        put_control_type(t, key)
    if b.control and t.fixed[<int>TRANSACTION_STATE].wanted:
        put_marker_state(t, b, key)
    return Code.OK


cdef inline int read_record(Cursor* c, const Batch* b, const Wanted* wanted, Progress* progress, Table* t,
                            bint emit) noexcept nogil:
    """Read one record at the cursor, and append a row if `emit` and its offset is wanted."""
    cdef int32_t length, offset_delta
    cdef int64_t timestamp_delta, timestamp_ms
    cdef Cursor body
    cdef Slice key, value
    cdef int code
    if not read_varint(c, &length):
        return Code.RECORD_CUT
    if length < 0 or length > left(c):
        return Code.RECORD_LENGTH
    body.data = c.data
    body.pos = c.pos + 1  # the record's attributes byte is unused
    body.end = c.pos + length
    if length < 1 or not read_varlong(&body, &timestamp_delta) or not read_varint(&body, &offset_delta):
        return Code.RECORD_LENGTH
    if offset_delta <= progress.last_delta or offset_delta > b.last_offset - b.base_offset:
        return Code.RECORD_OFFSET
    if not read_slice(&body, &key):
        return Code.KEY_LENGTH
    if b.control and not is_control_key(&key):
        return Code.CONTROL_KEY
    if not read_slice(&body, &value):
        return Code.VALUE_LENGTH
    emit = emit and wanted.low <= b.base_offset + offset_delta < wanted.high
    if emit:
        timestamp_ms = b.max_timestamp if b.log_append_time else <int64_t>(<uint64_t>b.base_timestamp + <uint64_t>timestamp_delta)
        code = put_record(t, b, offset_delta, timestamp_ms, &key, &value)
        if code != Code.OK:
            return code
    code = read_headers(&body, t, emit and t.headers.wanted)
    if code != Code.OK:
        return code
    if body.pos != body.end:
        return Code.RECORD_LENGTH
    c.pos = body.end
    progress.last_delta = offset_delta
    t.rows += emit
    return Code.OK


cdef int read_records(Cursor* c, const Batch* b, const Wanted* wanted, Progress* progress, Columns columns,
                      bint emit, bint cut) noexcept nogil:
    """Read the records from `progress` on into reserved rows.

    FULL, with `progress` updated, if `cut` and the columns are full. No bytes may be left after the last record.
    """
    cdef int code
    while progress.read < b.count:
        if cut and (columns.is_full() or columns.cannot_take(left(c))):
            return Code.FULL
        code = read_record(c, b, wanted, progress, &columns.table, emit)
        if code != Code.OK:
            return code
        progress.read += 1
    return Code.OK if c.pos == c.end else Code.BYTES_LEFT_OVER


cdef inline void fill_i32(FixedColumn* c, Py_ssize_t start, Py_ssize_t stop, int32_t value, bint null) noexcept nogil:
    cdef Py_ssize_t row
    if not c.wanted:
        return
    for row in range(start, stop):
        if null:
            put_null(c, row)
        else:
            put_i32(c, row, value)


cdef inline void fill_i64(FixedColumn* c, Py_ssize_t start, Py_ssize_t stop, int64_t value, bint null) noexcept nogil:
    cdef Py_ssize_t row
    if not c.wanted:
        return
    for row in range(start, stop):
        if null:
            put_null(c, row)
        else:
            put_i64(c, row, value)


cdef inline void fill_i8(FixedColumn* c, Py_ssize_t start, Py_ssize_t stop, int8_t value) noexcept nogil:
    cdef Py_ssize_t row
    if not c.wanted:
        return
    for row in range(start, stop):
        put_i8(c, row, value)


cdef void fill_batch_columns(Table* t, const Batch* b, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Write the fields of the batch to the rows [start, stop); Kafka's "none", -1, becomes null."""
    cdef Py_ssize_t row
    if not t.batch_columns_wanted:
        return
    fill_i32(&t.fixed[<int>LEADER_EPOCH], start, stop, b.leader_epoch, b.leader_epoch == -1)
    fill_i64(&t.fixed[<int>PRODUCER_ID], start, stop, b.producer_id, b.producer_id == -1)
    fill_i32(&t.fixed[<int>PRODUCER_EPOCH], start, stop, b.producer_epoch, b.producer_epoch == -1)
    fill_i8(&t.fixed[<int>IS_TRANSACTIONAL], start, stop, b.transactional)
    fill_i8(&t.fixed[<int>IS_CONTROL], start, stop, b.control)
    fill_i8(&t.fixed[<int>COMPRESSION], start, stop, b.codec)
    fill_i64(&t.fixed[<int>BATCH_POSITION], start, stop, b.position, False)
    fill_i64(&t.fixed[<int>BATCH_BASE_OFFSET], start, stop, b.base_offset, False)
    if t.fixed[<int>CONTROL_TYPE].wanted and not b.control:
        for row in range(start, stop):
            put_null(&t.fixed[<int>CONTROL_TYPE], row)
    if not b.control:
        fill_i8(&t.fixed[<int>TRANSACTION_STATE], start, stop, b.transaction_state)


cdef void fill_format_columns(Table* t, const Batch* b, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Write the format and timestamp type of a v2 batch to the rows [start, stop)."""
    fill_i32(&t.fixed[<int>TIMESTAMP_TYPE], start, stop, b.log_append_time, False)
    fill_i32(&t.fixed[<int>MAGIC], start, stop, b.magic, False)
